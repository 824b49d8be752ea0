#!/usr/bin/env bash
# Tests each installation method with a program, by default that of the last debug build: install in an empty root directory,
# run, uninstall. Needs root.
# Usage: check-installers.sh [PROGRAM]
set -euo pipefail
cd "$(dirname "$0")/.."

target=$(realpath -m "${CARGO_TARGET_DIR:-target}")
export CARGO_TARGET_DIR="$target"
program=${1:-$target/debug/readyok}
[[ -x $program ]] || cargo build --locked --package readyok --bin readyok

scripts/install-debian.sh binutils dpkg zip
stripped=$(mktemp)
trap 'rm "$stripped"' EXIT
strip -o "$stripped" "$program"
# Fast compression; debug builds are larger than releases, and miss short time limits.
export DPKG_DEB_COMPRESSOR_LEVEL=0 MAX_SIZE=150000000 SMOKE_SKIP=limits.
rm -rf "$target/dist"
cargo xtask dist --target x86_64-unknown-linux-musl --binary "$stripped"
(cd "$target/dist" && sha256sum --quiet --check SHA256SUMS)

# Root directories need mounts and device files, which some containers forbid.
probe() {
    local directory=$1
    # shellcheck disable=SC2016 # expanded by the inner shell
    mkdir "$directory/proc" "$directory/dev" && mknod "$directory/null" c 1 3 && echo > "$directory/null" &&
        unshare --mount sh -c 'mount -t proc proc "$1/proc" && mount --bind /dev "$1/dev" && exec chroot / true' sh "$directory"
}
directory=$(mktemp -d)
if ! probe "$directory"; then
    echo "no mounts or device files here: only the unpacked archive is tested" >&2
    tar --extract --gzip --directory "$directory" --strip-components=1 --file "$target"/dist/readyok-*-linux-*.tar.gz
    mkdir "$directory/work"
    SMOKE_DIR="$directory/work" scripts/install-tests/smoke.sh "$directory/readyok"
    exit
fi
rm -r "$directory"

methods=(archive deb wheel npm)
if ! ldd "$program" > /dev/null 2>&1; then
    # The image has no libraries.
    scripts/install-debian.sh buildah
    methods+=(container)
fi
scripts/install-tests/all.sh "$target/dist" "${methods[@]}"
