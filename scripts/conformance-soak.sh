#!/usr/bin/env bash
# Whether what `readyok check` says of Narikin is always the same: `conformance-soak.sh [RUNS [READYOK]]` runs all
# checks again and again, by turns in both protocols, directly and through the tap, while each processor is busy
# with something else. It ends with the first report of a must or a should that is broken or could not be judged.
set -euo pipefail

runs=${1:-50}
readyok=$(realpath "${2:-target/release/readyok}")
folder=$(mktemp -d)
busy=()
trap 'kill "${busy[@]}"; rm -r "$folder"' EXIT
for _ in $(seq "$(nproc)"); do
    while :; do :; done &
    busy+=($!)
done

for ((run = 1; run <= runs; run++)); do
    options=(--seed "$run")
    ((run % 2 == 0)) && options+=(--usi)
    engine="$readyok engine"
    way=directly
    if ((run % 4 > 1)); then
        engine="$readyok tap --log $folder/tap.log -- $engine"
        way='through the tap'
    fi
    begin=$SECONDS
    status=0
    "$readyok" check "${options[@]}" "$engine" > "$folder/report" || status=$?
    if ((status != 0)) || grep -qE '^(FAIL .*\((must|should)\):|inconclusive )' "$folder/report"; then
        echo "run $run (${options[*]}, $way) ended with $status:"
        cat "$folder/report"
        exit 1
    fi
    rm -f "$folder/tap.log"
    echo "run $run of $runs (${options[*]}, $way): no must and no should failed, in $((SECONDS - begin)) s"
done
