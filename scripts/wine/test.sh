#!/usr/bin/env bash
# Runs tests of Windows with Wine: `scripts/wine/test.sh [CRATE…]`, by default those of CI, and `all` for every crate.
# `scripts/setup-cross.sh` installs Wine; skipped.txt lists the tests that are skipped.
set -euo pipefail
cd "$(dirname "$0")/../.."

target=x86_64-pc-windows-gnu
crates=("$@")
[[ $# -gt 0 ]] || crates=(engine client)
[[ ${crates[*]} != all ]] || crates=(protocol rules engine client arena library check server readyok)

. scripts/wine/env.sh
# One server for all programs, instead of a new one for each. Fails if there is one already.
wineserver --persistent=20 || true

failed=()
for crate in "${crates[@]}"; do
    package="readyok-$crate"
    [[ $crate != readyok ]] || package=readyok
    echo "-- $package"
    # Test programs are examples, which `cargo test --tests` does not build.
    cargo build --locked --target "$target" -p "$package" --bins --examples
    mapfile -t skipped < <(awk -v crate="$crate" '$1 == crate { print $2 }' scripts/wine/skipped.txt)
    listed=$(cargo test --locked --target "$target" -p "$package" --lib --tests -- --list 2> /dev/null | tr -d '\r')
    for test in "${skipped[@]}"; do
        grep -qxF "$test: test" <<< "$listed" || { echo "skipped.txt: $crate has no test $test" >&2; exit 1; }
    done
    cargo test --locked --no-fail-fast --target "$target" -p "$package" --lib --tests -- --exact "${skipped[@]/#/--skip=}" ||
        failed+=("$crate")
done
[[ ${#failed[@]} -eq 0 ]] || { echo "failed: ${failed[*]}" >&2; exit 1; }
