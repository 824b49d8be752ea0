#!/usr/bin/env bash
# Plays games between two players on a CSA server for a long time: `csa-soak.sh [MINUTES [READYOK]]`. The server is killed
# once in the middle; the players connect again. Fails if a process ends early, the memory of a process exceeds
# 64 MB, or a record cannot be read.
set -euo pipefail

minutes=${1:-120}
readyok=$(realpath "${2:-target/release/readyok}")
address=127.0.0.1:4099
directory=$(mktemp -d)
declare -A pids
trap 'kill -KILL "${pids[@]}" 2> /dev/null || true; wait; rm -r "$directory"' EXIT

serve() {
    "$readyok" csa --serve "$address" --time 5 -o "$directory/server" >> "$directory/server.log" 2>&1 &
    pids[server]=$!
}

play() {
    "$readyok" csa "$address" --engine narikin --user "$1" "${@:2}" -o "$directory/$1" > "$directory/$1.log" 2>&1 &
    pids[$1]=$!
}

serve
sleep 2
play one --floodgate
play two --no-ponder
end=$((SECONDS + minutes * 60))
middle=$((SECONDS + minutes * 30))
while ((SECONDS < end)); do
    sleep 5
    if ((middle && SECONDS >= middle)); then
        middle=0
        kill -KILL "${pids[server]}"
        wait "${pids[server]}" || true
        serve
    fi
    for name in "${!pids[@]}"; do
        memory=$(awk '/RssAnon/ { print $2 }' "/proc/${pids[$name]}/status" 2> /dev/null || true)
        [[ -n $memory ]] || { echo "$name has ended:" >&2; tail -n 5 "$directory/$name.log" >&2; exit 1; }
        ((memory < 65536)) || { echo "$name uses $memory KB" >&2; exit 1; }
    done
done
for name in server one two; do
    games=("$directory/$name"/*)
    "$readyok" convert "${games[@]}" --to json > /dev/null
    echo "$name: ${#games[@]} records"
done
