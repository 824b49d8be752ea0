#!/usr/bin/env bash
# Runs an installed readyok without configuration: version, conformance of Narikin, one match, help.
# Usage: smoke.sh COMMAND [ARGUMENT]…
# The files of the match are written to the current directory of the command, which is $SMOKE_DIR here.
set -euo pipefail

if [[ -e $1 ]]; then
    set -- "$(realpath "$1")" "${@:2}"
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "${SMOKE_DIR:-$work}"
export HOME="$work" READYOK_CONFIG_DIR="$work"

"$@" --version | tee "$work/version"
grep -qE '^readyok [0-9]+\.[0-9]+\.[0-9]+' "$work/version"
grep -q '^Narikin, evaluation of shogi: ' "$work/version"

# Debug builds on a busy host miss short time limits.
"$@" check narikin --level quick ${SMOKE_SKIP:+--skip "$SMOKE_SKIP"} | tail -n 3

"$@" match narikin narikin --name 1=one --name 2=two --nodes 300 --rounds 1 --plain --results match.jsonl --pgn match.pgn |
    tail -n 5
[[ $(grep -c '^\[Result' match.pgn) == 2 ]]
rm match.jsonl match.pgn
