#!/usr/bin/env bash
# Runs fuzz targets, all of them or those that are named, each for so many seconds:
#
#     fuzz/run.sh SECONDS [TARGET…]
#
# Needs cargo-fuzz. Prints a line for each; ends at the first that finds something.
set -euo pipefail
cd "$(dirname "$0")/.."

seconds=$1
shift
if (($# == 0)); then
    mapfile -t targets < <(cargo fuzz list)
    set -- "${targets[@]}"
fi
for target in "$@"; do
    mkdir -p "fuzz/corpus/$target"
    log=$(mktemp)
    # The compiler is a stable one; cargo-fuzz asks for flags that only others have by themselves.
    if ! RUSTC_BOOTSTRAP=1 cargo fuzz run "$target" "fuzz/corpus/$target" "fuzz/seeds/$target" -- \
        -max_total_time="$seconds" >"$log" 2>&1; then
        cat "$log"
        exit 1
    fi
    grep '^Done ' "$log" | sed "s/^Done/$target:/"
    rm "$log"
done
