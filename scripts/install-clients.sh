#!/usr/bin/env bash
# Installs clients for tests of `readyok check --gui`: python-chess from PyPI, PolyGlot and XBoard from Debian. Idempotent.
set -euo pipefail
cd "$(dirname "$0")/.."

venv=target/clients
if [[ ! -x $venv/bin/python ]]; then
    python3 -m venv "$venv"
fi
"$venv/bin/pip" install --quiet chess==1.11.2
"$venv/bin/python" -c 'import chess.engine'

packages=(polyglot xboard xvfb xauth)
scripts/install-debian.sh "${packages[@]}"
echo "installed: python-chess ${packages[*]}"
