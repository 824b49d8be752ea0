#!/usr/bin/env bash
# Checks spelling with typos, which it installs (exceptions: `typos.toml`), and deprecated terms (`xtask/terms.toml`).
set -euo pipefail
cd "$(dirname "$0")/.."

venv=target/typos
if [[ ! -x $venv/bin/typos ]]; then
    python3 -m venv "$venv"
fi
"$venv/bin/pip" install --quiet typos==1.52.0
"$venv/bin/typos"
cargo xtask terms --check
