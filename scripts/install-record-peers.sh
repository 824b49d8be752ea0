#!/usr/bin/env bash
# Installs the programs that the tests of game records compare with: python-chess and cshogi.
# Can be run again at any time.
set -euo pipefail
cd "$(dirname "$0")/.."

venv=target/record-peers
if [[ ! -x $venv/bin/python ]]; then
    python3 -m venv "$venv"
fi
"$venv/bin/pip" install --quiet chess==1.11.2 cshogi==1.1.0
"$venv/bin/python" -c 'import chess.pgn, cshogi.CSA, cshogi.KI2, cshogi.KIF'
echo "installed: python-chess, cshogi"
