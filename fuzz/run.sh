#!/usr/bin/env bash
# Runs all or the given fuzz targets for a number of seconds each:
#
#     fuzz/run.sh SECONDS [TARGET…]
#
# Uses cargo-fuzz with AddressSanitizer if it is installed; otherwise the same fuzzer, built by the stable compiler with
# coverage but without sanitizers. Prints a line for each target; stops at the first finding.
set -euo pipefail
cd "$(dirname "$0")/.."

seconds=$1
shift
if (($# == 0)); then
    mapfile -t targets < <(sed -n 's/^path = "targets\/\(.*\)\.rs"$/\1/p' fuzz/Cargo.toml)
    set -- "${targets[@]}"
fi
if command -v cargo-fuzz > /dev/null; then
    # cargo-fuzz uses unstable flags with the stable compiler.
    fuzz() { RUSTC_BOOTSTRAP=1 cargo fuzz run "$1" "${@:2}"; }
else
    host=$(rustc -vV | sed -n 's/^host: //p')
    built=${CARGO_TARGET_DIR:-target}/fuzz
    flags=(--cfg fuzzing -Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4
        -Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table
        -Cllvm-args=-sanitizer-coverage-trace-compares -Cdebug-assertions -Ccodegen-units=1)
    # With a target, build scripts and macros have no coverage.
    bins=()
    for target in "$@"; do bins+=(--bin "$target"); done
    RUSTFLAGS="${flags[*]}" cargo build --quiet --release --locked --manifest-path fuzz/Cargo.toml \
        --target "$host" --target-dir "$built" "${bins[@]}"
    # Without `--`, which ends the arguments of cargo-fuzz.
    fuzz() { "$built/$host/release/$1" -artifact_prefix="fuzz/artifacts/$1/" "$2" "$3" "${@:5}"; }
fi
for target in "$@"; do
    mkdir -p "fuzz/corpus/$target" "fuzz/artifacts/$target"
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
    if ! fuzz "$target" "fuzz/corpus/$target" "fuzz/seeds/$target" -- -max_total_time="$seconds" >"$log" 2>&1; then
        cat "$log"
        exit 1
    fi
    grep '^Done ' "$log" | sed "s/^Done/$target:/"
    rm "$log"
done
