#!/usr/bin/env bash
# Installs the npm packages in an empty root directory with Node, runs them by npx, and removes them. Needs root.
# Usage: npm.sh DIST
set -euo pipefail
here=$(dirname "$(realpath "$0")")
work=$(mktemp -d)
root=$work/root
trap 'rm -rf --one-file-system "$work"' EXIT
mkdir "$root"
"$here/root.sh" "$root" nodejs
run=("$here/in-root.sh" "$root")

# npm itself: Debian's has hundreds of packages.
npm pack --silent --pack-destination "$work" npm@10 > /dev/null
modules=/usr/local/lib/node_modules
mkdir -p "$root$modules/npm"
tar --extract --gzip --directory "$root$modules/npm" --strip-components=1 --file "$work"/npm-10.*.tgz
for command in npm npx; do
    ln -s "$modules/npm/bin/$command-cli.js" "$root/usr/local/bin/$command"
done

cp "$1"/readyok-[0-9]*.tgz "$root/readyok.tgz"
cp "$1"/readyok-linux-x64-[0-9]*.tgz "$root/program.tgz"
# The executable is named because the registry does not have it yet.
"${run[@]}" npm install --offline --no-audit --no-fund --silent /readyok.tgz /program.tgz
SMOKE_DIR="$root/work" "$here/smoke.sh" "${run[@]}" npx --no-install readyok
# The launcher passes the exit status on.
status=0
"${run[@]}" npx --no-install readyok help nothing > /dev/null 2>&1 || status=$?
[[ $status == 2 ]]
"${run[@]}" npm uninstall --silent readyok @readyok/linux-x64
[[ ! -e $root/work/node_modules/.bin/readyok ]]
