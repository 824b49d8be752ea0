#!/usr/bin/env bash
# Unpacks the archive of Windows into an empty prefix, and runs it under Wine or on Windows.
# Usage: windows.sh DIST
set -euo pipefail
here=$(dirname "$(realpath "$0")")
prefix=$(mktemp -d)
trap 'rm -rf "$prefix"' EXIT

unzip -q -d "$prefix" "$1"/readyok-*-windows-x86_64.zip
program=$(echo "$prefix"/readyok-*/readyok.exe)
if [[ ${OS:-} == Windows_NT ]]; then
    "$here/smoke.sh" "$program"
else
    # shellcheck source=scripts/wine/env.sh
    . "$here/../wine/env.sh"
    # Timing under Wine on a busy host proves nothing.
    SMOKE_SKIP=${SMOKE_SKIP:-limits.} "$here/smoke.sh" wine "$program"
fi
