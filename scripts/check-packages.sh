#!/usr/bin/env bash
# Packs all public crates for crates.io, checks their files, and compiles each of them from its package alone.
# The unpacked packages are a workspace in target/packages, for scripts/install-tests/cargo.sh.
set -euo pipefail
cd "$(dirname "$0")/.."

target=$(realpath -m "${CARGO_TARGET_DIR:-target}")
export CARGO_TARGET_DIR="$target"
unpacked=$target/packages
rm -rf "$target"/package/*.crate "$unpacked"
cargo package --quiet --workspace --exclude narikin-train --exclude readyok-faults --exclude readyok-python --exclude readyok-wasm --exclude xtask --locked --allow-dirty --no-verify

mkdir "$unpacked"
names=()
for package in "$target"/package/*.crate; do
    # Archives have a fixed time of files, by which cargo would reuse older builds.
    tar --extract --gzip --touch --directory "$unpacked" --file "$package"
    directory=$unpacked/$(basename "$package" .crate)
    for file in "$directory"/README.md "$directory"/LICENSE-*; do
        [[ -s $file ]] || { echo "$package has no $(basename "$file")" >&2; exit 1; }
        # A checkout without symbolic links would have only the name of the file.
        [[ $file != */LICENSE-* ]] || cmp "$file" "$(basename "$file")"
    done
    if [[ -e $directory/tests ]]; then
        echo "$package has tests, which need the repository" >&2
        exit 1
    fi
    names+=("$(sed -E 's/-[0-9.]+$//' <<< "$(basename "$directory")")")
done
[[ -s $(echo "$unpacked"/readyok-server-*)/dist/app.js ]]

# The packages replace those of crates.io. Profiles and versions are those of the repository.
{
    printf '[workspace]\nresolver = "3"\nmembers = ["*"]\n\n[patch.crates-io]\n'
    for name in "${names[@]}"; do
        printf '%s = { path = "%s" }\n' "$name" "$(basename "$(echo "$unpacked/$name"-[0-9]*)")"
    done
    awk '/^\[/ { found = /^\[profile/ } found' Cargo.toml
} > "$unpacked/Cargo.toml"
cp Cargo.lock "$unpacked"
cd "$unpacked"
# Removes the crates that are not published from the lock file.
cargo metadata --format-version=1 > /dev/null
for name in "${names[@]}"; do
    cargo check --quiet --locked --package "$name"
    echo "ok: $name"
done
