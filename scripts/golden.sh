#!/usr/bin/env bash
# Records reproducible outputs of a build, to compare two builds with `diff -r`.
# Usage: scripts/golden.sh READYOK NARIKIN DIRECTORY [check]
# With `check`, the verdicts of the conformance checks on real engines are recorded, too (takes minutes; needs an idle machine).
set -euo pipefail
records=$(realpath "$(dirname "$0")/../testdata")
readyok=$(realpath "$1")
narikin=$(realpath "$2")
mkdir -p "$3"
out=$(realpath "$3")
export PATH="$PATH:/usr/games"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"

# Node counts and perft.
"$narikin" bench </dev/null 2>&1 | grep -v -E 'Total time|Nodes/second' >"$out/bench.txt"
{
    "$narikin" perft chess 5
    "$narikin" perft chess 4 "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1"
    "$narikin" perft chess960 4 "bqnb1rkr/pp3ppp/3ppn2/2p5/5P2/P2P4/NPP1P1PP/BQ1BNRKR w HFhf - 2 9"
    "$narikin" perft shogi 4
} 2>&1 | sed -E 's/ [0-9]+ nps//' >"$out/perft.txt"

# Matches at fixed nodes: the same games in every format. Times and dates are masked.
mask() {
    sed -E -e 's/[0-9]{4}-[0-9]{2}-[0-9]{2}[T0-9:.Z+-]*/DATE/g' -e 's/[0-9]{4}\.[0-9]{2}\.[0-9]{2}/DATE/g' \
        -e 's/[0-9]{4}\/[0-9]{2}\/[0-9]{2}( [0-9:]+)?/DATE/g' -e 's/[0-9]+\.[0-9]+ ?s\b/TIME/g' \
        -e 's/[0-9]{2}:[0-9]{2}:[0-9]{2}/CLOCK/g' -e "s#$scratch#SCRATCH#g" \
        -e 's/"([a-z_]*_ms|[a-z_]*_us|at|nps|time|seconds)":[0-9]+/"\1":0/g' -e 's/"[0-9a-f]{64}"/"HASH"/g' -e 's/"crc":"[0-9a-f]{8}"/"crc":0/' -e 's/^T[0-9.]+$/T0/' "$1"
}
"$readyok" match stockfish "$narikin" --nodes 3000 --rounds 2 --seed 7 --concurrency 1 --plain \
    --results chess.jsonl --pgn chess.pgn --events chess.events >chess.out 2>&1
"$readyok" match "$narikin" "$narikin" --game chess960 --nodes 2000 --rounds 2 --seed 7 --concurrency 1 --plain \
    --name 1=one --name 2=two --results chess960.jsonl --pgn chess960.pgn >chess960.out 2>&1
mkdir kif
"$readyok" match "$narikin" "$narikin" --game shogi --nodes 2000 --rounds 1 --seed 7 --concurrency 1 --plain \
    --name 1=one --name 2=two --results shogi.jsonl --kif kif --csa shogi.csa >shogi.out 2>&1
cat kif/* >shogi.kif
for file in chess.pgn chess.events chess.jsonl chess960.pgn shogi.kif shogi.csa shogi.jsonl chess.out shogi.out; do
    mask "$file" >"$out/$file"
done
# Lines are wrapped by the width of the times.
for file in chess.pgn chess960.pgn; do
    sed -E -e 's/\[.*\]$/&\n/' "$out/$file" | tr '\n' ' ' | sed -e 's/  /\n/g' >"$scratch/joined"
    tr -s ' ' <"$scratch/joined" >"$out/$file"
done

# fastchess mode, with its output and results.
"$readyok" match --fastchess -engine cmd=stockfish name=one -engine cmd="$narikin" name=two -each tc=inf nodes=3000 -rounds 2 \
    -srand 7 -concurrency 1 -pgnout file=fastchess.pgn >fastchess.out 2>&1
mask fastchess.out | sed -E 's/(Total time|Finished in|took).*/\1 TIME/' >"$out/fastchess.out"
mask fastchess.pgn | tr -s ' \n' '\n' >"$out/fastchess.pgn"

# Each record file in each format: the output, or the messages and the exit status.
mkdir -p "$out/records"
find "$records/records" "$records/cases" -type f ! -name '*.txt' ! -name '*.md' | LC_ALL=C sort | while read -r file; do
    name=$(basename "$(dirname "$file")")-$(basename "$file")
    for format in pgn kif ki2 csa jkf usi epd; do
        {
            status=0
            "$readyok" convert --to "$format" "$file" || status=$?
            echo "status $status"
        } 2>&1 | sed -e "s#$records#TESTDATA#g" >"$out/records/$name.$format"
    done
    "$readyok" convert --check "$file" 2>&1 | sed -e "s#$records#TESTDATA#g" >"$out/records/$name.check" || true
done

if [[ ${4:-} == check ]]; then
    for engine in stockfish fairy-stockfish ethereal-chess gnuchess "$narikin"; do
        arguments=("$engine")
        [[ $engine == gnuchess ]] && arguments=("gnuchess --uci")
        "$readyok" check "${arguments[@]}" >"$out/check-$(basename "$engine").txt" 2>&1 || true
    done
fi
