#!/usr/bin/env bash
# Unpacks the archive into an empty prefix, and runs it. A static executable also runs as the only file of a root directory.
# Usage: archive.sh DIST
set -euo pipefail
here=$(dirname "$(realpath "$0")")
prefix=$(mktemp -d)
trap 'rm -rf "$prefix"' EXIT

tar --extract --gzip --directory "$prefix" --strip-components=1 --file "$1"/readyok-*-linux-*.tar.gz
"$here/smoke.sh" "$prefix/readyok"
size=$(stat -c %s "$prefix/readyok")
((size < ${MAX_SIZE:-25000000})) || { echo "the executable has $size bytes" >&2; exit 1; }
[[ -s $prefix/man/readyok-match.1 && -s $prefix/completions/readyok.bash ]]
bash -n "$prefix/completions/readyok.bash"

if ! ldd "$prefix/readyok" > /dev/null 2>&1 && [[ $EUID -eq 0 ]]; then
    mkdir "$prefix/root"
    cp "$prefix/readyok" "$prefix/root"
    chroot "$prefix/root" /readyok --version
    printf 'usi\nposition startpos\ngo depth 3\nquit\n' | chroot "$prefix/root" /readyok engine | grep -q '^bestmove '
fi
