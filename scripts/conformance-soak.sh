#!/usr/bin/env bash
# Checks that the results of `readyok check` on Narikin are reproducible: `conformance-soak.sh [RUNS [READYOK]]` runs all
# checks repeatedly while every core is busy, alternately in both protocols, directly and through the tap. It stops at the
# first violated must or should, and at one that is inconclusive for another reason than the load.
set -euo pipefail

runs=${1:-50}
readyok=$(realpath "${2:-target/release/readyok}")
directory=$(mktemp -d)
busy=()
trap 'kill "${busy[@]}"; rm -r "$directory"' EXIT
for _ in $(seq "$(nproc)"); do
    while :; do :; done &
    busy+=($!)
done

for ((run = 1; run <= runs; run++)); do
    options=(--seed "$run")
    ((run % 2 == 0)) && options+=(--usi)
    engine="$readyok engine"
    mode=directly
    if ((run % 4 > 1)); then
        engine="$readyok tap --log $directory/tap.log -- $engine"
        mode='through the tap'
    fi
    start=$SECONDS
    status=0
    "$readyok" check --level full "${options[@]}" "$engine" > "$directory/report" || status=$?
    inconclusive=$(grep '^inconclusive ' "$directory/report" || true)
    loaded=$(grep -c 'the host was too busy' <<< "$inconclusive" || true)
    others=$(grep -v 'the host was too busy' <<< "$inconclusive" || true)
    if ((status == 1)) || [[ -n $others ]] || grep -qE '^FAIL .*\((must|should)\):' "$directory/report"; then
        echo "run $run (${options[*]}, $mode) ended with $status:"
        cat "$directory/report"
        exit 1
    fi
    rm -f "$directory/tap.log"
    echo "run $run of $runs (${options[*]}, $mode): no must and no should failed, $loaded not judged because of the load, in $((SECONDS - start)) s"
done
