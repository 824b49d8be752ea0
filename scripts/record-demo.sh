#!/usr/bin/env bash
# Records the terminal session of the README, docs/screenshots/check.svg: a check of an engine that does not
# answer `isready` during a search. Usage: scripts/record-demo.sh [READYOK]
set -euo pipefail
cd "$(dirname "$0")/.."

readyok=$(realpath "${1:-target/release/readyok}")
venv=target/termtosvg
if [[ ! -x $venv/bin/termtosvg ]]; then
    python3 -m venv "$venv"
    "$venv/bin/pip" install --quiet termtosvg==1.1.0 setuptools==75.8.0
fi
termtosvg=$(realpath "$venv/bin/termtosvg")
picture=$(realpath docs/screenshots/check.svg)

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"
cat >my-engine <<'PYTHON'
#!/usr/bin/env python3
"""Forwards to Narikin, but withholds `isready` during a search."""
import os, subprocess, sys, threading

engine = subprocess.Popen([os.environ["READYOK"], "engine"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
searching = False

def forward():
    global searching
    for line in engine.stdout:
        searching &= not line.startswith("bestmove")
        print(line, end="", flush=True)

threading.Thread(target=forward).start()
for line in sys.stdin:
    searching |= line.startswith("go")
    if not (searching and line.startswith("isready")):
        engine.stdin.write(line)
        engine.stdin.flush()
engine.stdin.close()
PYTHON
chmod +x my-engine
cat >session <<'BASH'
#!/usr/bin/env bash
printf '$ readyok check ./my-engine --only search.\n'
sleep 1
"$READYOK" check ./my-engine --only search. --skip search.ponder --jobs 4
sleep 4
touch done
BASH
chmod +x session
export READYOK=$readyok TERM=xterm-256color
# The recorder needs a terminal, and an open input until the end of the session.
script -qec "stty cols 110 rows 30; '$termtosvg' '$picture' -g 110x30 -m 100 -M 3000 -t window_frame -c ./session" /dev/null \
    < <(until [[ -e "done" ]]; do sleep 1; done) >/dev/null
