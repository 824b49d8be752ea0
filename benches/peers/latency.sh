#!/usr/bin/env bash
# The latency of Readyok's client, of python-chess, and of bare pipes, in one run.
set -euo pipefail
cd "$(dirname "$0")"

venv=target/python
if [[ ! -x $venv/bin/python ]]; then
    python3 -m venv "$venv"
    "$venv/bin/pip" install --quiet chess==1.11.2
fi
PYTHON=$PWD/$venv/bin/python cargo bench --quiet --bench latency
