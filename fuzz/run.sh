#!/usr/bin/env bash
# Runs all or the given fuzz targets for a number of seconds each:
#
#     fuzz/run.sh SECONDS [TARGET…]
#
# Needs cargo-fuzz. Prints a line for each target; stops at the first finding.
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
    # The test data are further initial inputs of the readers.
    case $target in
    record_pgn) inputs=(testdata/{records,cases}/*.pgn) ;;
    record_kif) inputs=(testdata/{records,cases}/*.{kif,kifu,ki2,ki2u}) ;;
    record_csa) inputs=(testdata/{records,cases}/*.csa) ;;
    record_jkf) inputs=(testdata/records/*.jkf) ;;
    record_uci) inputs=(testdata/cases/*.{txt,fen}) ;;
    record_usi) inputs=(testdata/cases/*.usi testdata/records/*.sfen) ;;
    *) inputs=() ;;
    esac
    for input in "${inputs[@]}"; do
        if [[ -f $input && $(stat -c %s "$input") -lt 8192 ]]; then cp "$input" "fuzz/corpus/$target"; fi
    done
    log=$(mktemp)
    # cargo-fuzz uses unstable flags with the stable compiler.
    if ! RUSTC_BOOTSTRAP=1 cargo fuzz run "$target" "fuzz/corpus/$target" "fuzz/seeds/$target" -- \
        -max_total_time="$seconds" >"$log" 2>&1; then
        cat "$log"
        exit 1
    fi
    grep '^Done ' "$log" | sed "s/^Done/$target:/"
    rm "$log"
done
