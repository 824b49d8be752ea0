#!/usr/bin/env bash
# Looks for misspelt words with typos, which it installs. `typos.toml` says which words are none.
set -euo pipefail
cd "$(dirname "$0")/.."

venv=target/typos
if [[ ! -x $venv/bin/typos ]]; then
    python3 -m venv "$venv"
fi
"$venv/bin/pip" install --quiet typos==1.52.0
"$venv/bin/typos"
