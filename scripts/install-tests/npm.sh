#!/usr/bin/env bash
# Installs the npm packages into an empty prefix, runs them by npx, and removes them.
# Usage: npm.sh DIST
set -euo pipefail
here=$(dirname "$(realpath "$0")")
prefix=$(mktemp -d)
trap 'rm -rf "$prefix"' EXIT
dist=$(realpath "$1")
export npm_config_update_notifier=false

# The executable is named because the registry does not have it yet.
npm install --prefix "$prefix" --offline --no-audit --no-fund --silent \
    "$dist"/readyok-[0-9]*.tgz "$dist"/readyok-linux-x64-[0-9]*.tgz
SMOKE_DIR="$prefix" "$here/smoke.sh" npx --no-install readyok
# The launcher passes the exit status on.
status=0
(cd "$prefix" && npx --no-install readyok help nothing >/dev/null 2>&1) || status=$?
[[ $status == 2 ]]
npm uninstall --prefix "$prefix" --silent readyok @readyok/linux-x64
[[ ! -e $prefix/node_modules/.bin/readyok ]]
