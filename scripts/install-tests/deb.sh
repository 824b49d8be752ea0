#!/usr/bin/env bash
# Installs the .deb with dpkg in an empty root directory, runs it there, and removes it without a trace. Needs root.
# Usage: deb.sh DIST
set -euo pipefail
here=$(dirname "$(realpath "$0")")
work=$(mktemp -d)
root=$work/root
trap 'rm -rf --one-file-system "$work"' EXIT
mkdir "$root"
"$here/root.sh" "$root"
run=("$here/in-root.sh" "$root")
cp "$1"/readyok_*_"$(dpkg --print-architecture)".deb "$root/readyok.deb"

# All files, without the database and the logs of dpkg.
files() {
    (cd "$root" && find . -path ./var/lib/dpkg -prune -o -path ./var/log -prune -o -path ./work -prune -o -print | sort)
}

files > "$work/before"
"${run[@]}" dpkg --install /readyok.deb
for file in bin/readyok share/man/man1/readyok-match.1.gz share/bash-completion/completions/readyok \
    share/applications/readyok.desktop share/icons/hicolor/scalable/apps/readyok.svg share/doc/readyok/copyright; do
    [[ -s $root/usr/$file ]] || { echo "the package has no /usr/$file" >&2; exit 1; }
done
SMOKE_DIR="$root/work" "$here/smoke.sh" "${run[@]}" readyok
"${run[@]}" dpkg --purge readyok
files > "$work/after"
diff "$work/before" "$work/after" || { echo "files that were not removed" >&2; exit 1; }
