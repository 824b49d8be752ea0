#!/usr/bin/env bash
# Unpacks the archive into an empty root directory, runs it there, and removes it. The directory has nothing else, unless
# the executable is dynamic: then it has Debian's essential packages. Needs root.
# Usage: archive.sh DIST
set -euo pipefail
here=$(dirname "$(realpath "$0")")
root=$(mktemp -d)
trap 'rm -rf --one-file-system "$root"' EXIT

mkdir "$root/readyok"
tar --extract --gzip --directory "$root/readyok" --strip-components=1 --file "$1"/readyok-*-linux-*.tar.gz
program=$root/readyok/readyok
size=$(stat -c %s "$program")
((size < ${MAX_SIZE:-25000000})) || { echo "the executable has $size bytes" >&2; exit 1; }
! readelf --sections --wide "$program" | grep -E '\.symtab|\.debug_info' || { echo "the executable is not stripped" >&2; exit 1; }
[[ -s $root/readyok/man/readyok-match.1 && -s $root/readyok/completions/readyok.bash ]]
bash -n "$root/readyok/completions/readyok.bash"

if ldd "$program" > /dev/null 2>&1; then
    "$here/root.sh" "$root"
else
    # Without /proc, /dev and /tmp, as the only file.
    mkdir "$root/alone"
    cp "$program" "$root/alone"
    chroot "$root/alone" /readyok --version
    printf 'usi\nposition startpos\ngo depth 3\nquit\n' | chroot "$root/alone" /readyok engine | grep '^bestmove '
    rm -r "$root/alone"
fi
mkdir -p "$root/work"
SMOKE_DIR="$root/work" "$here/smoke.sh" "$here/in-root.sh" "$root" /readyok/readyok
rm -r "$root/readyok"
