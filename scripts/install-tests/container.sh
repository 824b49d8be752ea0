#!/usr/bin/env bash
# Builds the container image, runs it, and removes it. Needs podman, buildah or docker.
# Usage: container.sh DIST
set -euo pipefail
here=$(dirname "$(realpath "$0")")
context=$(realpath "$1"/stage/*-linux-musl/container)
work=$(mktemp -d)
image=localhost/readyok-test
mkdir "$work/data"

if command -v podman > /dev/null; then
    tool=podman
elif command -v buildah > /dev/null; then
    tool=buildah
    # Both work inside of another container, too.
    export BUILDAH_ISOLATION=chroot STORAGE_DRIVER=vfs
else
    tool=docker
fi
# The storage of the images is empty and temporary.
command=("$tool")
[[ $tool == docker ]] || command+=(--root "$work/storage" --runroot "$work/run")
trap '"${command[@]}" rmi --force "$image" > /dev/null 2>&1 || true; rm -rf "$work"' EXIT

"${command[@]}" build --tag "$image" --file "$context/Containerfile" "$context"
if [[ $tool == buildah ]]; then
    container=$("${command[@]}" from "$image")
    # `buildah run` ignores the entry point.
    run=("${command[@]}" run --volume "$work/data:/work" --workingdir /work "$container" -- /readyok)
else
    run=("${command[@]}" run --rm --volume "$work/data:/work" --workdir /work "$image")
fi
SMOKE_DIR="$work/data" "$here/smoke.sh" "${run[@]}"
[[ $tool != buildah ]] || "${command[@]}" rm "$container" > /dev/null
"${command[@]}" rmi "$image" > /dev/null
