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

scripts/install-debian.sh binutils dpkg unzip zip
scripts/install-python.sh --build
stripped=$(mktemp)
trap 'rm -f "$stripped" "$stripped.exe"' EXIT
strip -o "$stripped" "$program"
# Fast compression; debug builds are larger than releases, and miss short time limits.
export DPKG_DEB_COMPRESSOR_LEVEL=0 MAX_SIZE=150000000 SMOKE_SKIP=limits.
rm -rf "$target/dist"
cargo xtask dist --target x86_64-unknown-linux-musl --binary "$stripped"
(cd "$target/dist" && sha256sum --quiet --check SHA256SUMS)

# Root directories need mounts, device files and a mirror of Debian, which some containers do not have.
probe() {
    local directory=$1 packages
    # shellcheck disable=SC2016 # expanded by the inner shell
    mkdir "$directory/proc" "$directory/dev" && mknod "$directory/null" c 1 3 && echo > "$directory/null" &&
        unshare --mount sh -c 'mount -t proc proc "$1/proc" && mount --bind /dev "$1/dev" && exec chroot / true' sh "$directory" ||
        return
    for packages in "" python3-venv nodejs; do
        mkdir "$directory/root$packages"
        # shellcheck disable=SC2086 # no argument if it is empty
        scripts/install-tests/root.sh "$directory/root$packages" $packages || return
    done
}
directory=$(mktemp -d)
if probe "$directory"; then
    rm -rf --one-file-system "$directory"
    methods=(archive deb wheel npm)
    if ! ldd "$program" > /dev/null 2>&1; then
        # The image has no libraries.
        scripts/install-debian.sh buildah
        methods+=(container)
    fi
    scripts/install-tests/all.sh "$target/dist" "${methods[@]}"
else
    echo "no mounts, device files or mirror here: of Linux only the unpacked archive is tested" >&2
    mkdir "$directory/archive" "$directory/work"
    tar --extract --gzip --directory "$directory/archive" --strip-components=1 --file "$target"/dist/readyok-*-linux-*.tar.gz
    SMOKE_DIR="$directory/work" scripts/install-tests/smoke.sh "$directory/archive/readyok"
fi

# The archive of Windows, with Wine of scripts/setup-cross.sh.
windows=x86_64-pc-windows-gnu
cargo build --locked --target "$windows" --package readyok --bin readyok
x86_64-w64-mingw32-strip -o "$stripped.exe" "$target/$windows/debug/readyok.exe"
cargo xtask dist --target "$windows" --binary "$stripped.exe"
(cd "$target/dist" && sha256sum --quiet --check SHA256SUMS)
scripts/install-tests/windows.sh "$target/dist"
