#!/usr/bin/env bash
# Runs tests of Windows with Wine: `scripts/wine/test.sh [CRATE[:FILTER]…]`, by default those of CI, and `all` for every
# crate. A filter selects tests by a part of their names. `scripts/setup-cross.sh` installs Wine; skipped.txt lists the tests
# that are skipped.
set -euo pipefail
cd "$(dirname "$0")/../.."

target=x86_64-pc-windows-gnu
crates=("$@")
[[ $# -gt 0 ]] || crates=(engine client check:crash_of)
[[ ${crates[*]} != all ]] || crates=(protocol rules engine client arena library check server readyok)

. scripts/wine/env.sh
# One server for all programs, instead of a new one for each. Fails if there is one already.
wineserver --persistent=20 || true

failed=()
for selected in "${crates[@]}"; do
    IFS=: read -r crate filter <<< "$selected"
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
    if [[ -n $filter ]]; then
        grep -q "$filter.*: test" <<< "$listed" || { echo "$crate has no test $filter" >&2; exit 1; }
        arguments=("$filter")
    else
        arguments=(--exact)
    fi
    cargo test --locked --no-fail-fast --target "$target" -p "$package" --lib --tests -- \
        "${arguments[@]}" "${skipped[@]/#/--skip=}" ||
        failed+=("$crate")
done
[[ ${#failed[@]} -eq 0 ]] || { echo "failed: ${failed[*]}" >&2; exit 1; }
