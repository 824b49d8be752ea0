#!/usr/bin/env bash
# Tests each installation method whose tools are on this machine: install in an empty root directory, run, uninstall. They run
# concurrently. Needs root.
# Usage: all.sh DIST [METHOD]…
set -euo pipefail
here=$(dirname "$(realpath "$0")")
dist=$(realpath "${1:-target/dist}")
shift || true
logs=$(mktemp -d)
trap 'rm -rf "$logs"' EXIT

has() {
    command -v "$1" > /dev/null
}

methods=("$@")
if [[ $# -eq 0 ]]; then
    methods=(archive deb wheel npm)
    if has podman || has buildah || has docker; then methods+=(container); fi
    if compgen -G "$dist/*-windows-*.zip" > /dev/null && has wine; then methods+=(windows); fi
fi

pids=()
for method in "${methods[@]}"; do
    "$here/$method.sh" "$dist" > "$logs/$method" 2>&1 &
    pids+=($!)
done
failed=()
for number in "${!methods[@]}"; do
    method=${methods[number]}
    wait "${pids[number]}" || failed+=("$method")
    echo "== $method"
    cat "$logs/$method"
done
[[ ${#failed[@]} -eq 0 ]] || { echo "failed: ${failed[*]}" >&2; exit 1; }
echo "ok: ${methods[*]}"
