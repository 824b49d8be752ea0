#!/usr/bin/env bash
# Installs the .deb with dpkg into an empty root directory, runs it there if it is static, and removes it. Needs root.
# Usage: deb.sh DIST
set -euo pipefail
here=$(dirname "$(realpath "$0")")
root=$(mktemp -d)
trap 'rm -rf --one-file-system "$root"' EXIT
mkdir -p "$root"/{dev,proc,tmp,work} "$root/var/lib/dpkg"
touch "$root/var/lib/dpkg/status"
architecture=$(dpkg --print-architecture)
echo "$architecture" > "$root/var/lib/dpkg/arch"

dpkg --root="$root" --install "$1"/readyok_*_"$architecture".deb
for file in bin/readyok share/man/man1/readyok-match.1.gz share/bash-completion/completions/readyok \
    share/applications/readyok.desktop share/icons/hicolor/scalable/apps/readyok.svg share/doc/readyok/copyright; do
    [[ -s $root/usr/$file ]] || { echo "the package has no /usr/$file" >&2; exit 1; }
done
if ldd "$root/usr/bin/readyok" > /dev/null 2>&1; then
    "$here/smoke.sh" "$root/usr/bin/readyok"
else
    # The mounts end with the namespace.
    # shellcheck disable=SC2016 # expanded by the inner shell
    inside='root=$1; shift
        mount -t proc proc "$root/proc" && mount --bind /dev "$root/dev" && exec unshare --root "$root" --wd /work "$@"'
    SMOKE_DIR="$root/work" "$here/smoke.sh" unshare --mount sh -c "$inside" sh "$root" /usr/bin/readyok
fi
dpkg --root="$root" --purge readyok
if [[ -e $root/usr ]]; then
    echo "files that were not removed: $(find "$root/usr" -type f)" >&2
    exit 1
fi
