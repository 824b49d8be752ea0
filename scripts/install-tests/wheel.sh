#!/usr/bin/env bash
# Installs the wheel with pip into an empty environment, runs it, and removes it; runs it by uvx, if uv can be installed.
# Usage: wheel.sh DIST
set -euo pipefail
here=$(dirname "$(realpath "$0")")
prefix=$(mktemp -d)
trap 'rm -rf "$prefix"' EXIT
wheel=$(realpath "$1"/readyok-*-manylinux_*.whl)

python3 -m venv "$prefix/venv"
"$prefix/venv/bin/pip" install --quiet --no-index "$wheel"
"$here/smoke.sh" "$prefix/venv/bin/readyok"
"$prefix/venv/bin/pip" uninstall --quiet --yes readyok
[[ ! -e $prefix/venv/bin/readyok ]]

if "$prefix/venv/bin/pip" install --quiet uv; then
    UV_CACHE_DIR="$prefix/cache" "$here/smoke.sh" "$prefix/venv/bin/uvx" --offline --no-config --from "$wheel" readyok
fi
