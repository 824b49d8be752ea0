#!/usr/bin/env bash
# Checks that the crates compile for other systems. `scripts/setup-cross.sh` installs the compilers.
set -euo pipefail
cd "$(dirname "$0")/.."

# Crates whose dependencies need no C compiler.
portable=(narikin readyok-{arena,check,client,engine,protocol,rules})

check() {
    local target=$1
    shift
    echo "-- $target"
    cargo check --locked --target "$target" "$@"
}

check x86_64-pc-windows-gnu --workspace --all-targets
for target in x86_64-unknown-linux-musl aarch64-unknown-linux-gnu aarch64-apple-darwin; do
    check "$target" "${portable[@]/#/-p}"
done
check wasm32-unknown-unknown -p readyok-protocol -p readyok-rules
