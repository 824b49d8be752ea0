#!/usr/bin/env bash
# Installs the wheel with pip in an empty root directory with Python, runs it there, and removes it; runs it by uvx, if uv
# can be installed. Needs root.
# Usage: wheel.sh DIST
set -euo pipefail
here=$(dirname "$(realpath "$0")")
work=$(mktemp -d)
root=$work/root
trap 'rm -rf --one-file-system "$work"' EXIT
mkdir "$root"
"$here/root.sh" "$root" python3-venv
run=("$here/in-root.sh" "$root")
wheel=$(find "$(realpath "$1")" -maxdepth 1 -name "readyok-*linux_*.whl" ! -name "*musllinux*")
cp "$wheel" "$root"

"${run[@]}" python3 -m venv /venv
"${run[@]}" /venv/bin/pip install --quiet --no-index "/$(basename "$wheel")"
SMOKE_DIR="$root/work" "$here/smoke.sh" "${run[@]}" /venv/bin/readyok
"${run[@]}" /venv/bin/pip uninstall --quiet --yes readyok
[[ ! -e $root/venv/bin/readyok ]]

# uv comes from the registry, by the network settings of this system.
if python3 -m venv "$work/uv" && "$work/uv/bin/pip" install --quiet uv; then
    UV_CACHE_DIR="$work/cache" "$here/smoke.sh" "$work/uv/bin/uvx" --offline --no-config --from "$wheel" readyok
fi
