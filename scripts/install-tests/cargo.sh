#!/usr/bin/env bash
# Installs readyok with `cargo install` from the packages that check-packages.sh has unpacked, runs it, and removes it.
# Usage: cargo.sh PACKAGES [ARGUMENT OF CARGO]…
set -euo pipefail
here=$(dirname "$(realpath "$0")")
prefix=$(mktemp -d)
trap 'rm -rf "$prefix"' EXIT

packages=$(realpath "$1")
cd "$packages"
cargo install --quiet --locked --root "$prefix" --path "$(echo readyok-[0-9]*)" "${@:2}"
"$here/smoke.sh" "$prefix/bin/readyok"
cargo uninstall --quiet --root "$prefix" readyok
[[ ! -e $prefix/bin/readyok ]]
