#!/usr/bin/env bash
# Installs from PyPI what builds and tests the Python package: maturin with Zig, pytest, mypy, python-chess, cshogi and stockfish, with
# which the tests compare; and the test files of python-chess. With `--build`, only maturin. Idempotent.
set -euo pipefail
cd "$(dirname "$0")/.."

venv=target/python
[[ -x $venv/bin/python ]] || python3 -m venv "$venv"
"$venv/bin/pip" install --quiet "maturin[zig]==1.16.0"
[[ ${1:-} != --build ]] || exit 0
"$venv/bin/pip" install --quiet pytest==9.2.0 mypy==2.4.1 numpy chess==1.11.2 cshogi==1.1.0 stockfish==5.2.0
if [[ ! -d $venv/chess-data ]]; then
    download=$(mktemp -d)
    trap 'rm -rf "$download"' EXIT
    "$venv/bin/pip" download --quiet --no-deps --no-binary chess --dest "$download" chess==1.11.2
    tar --extract --gzip --directory "$download" --strip-components=1 --file "$download"/chess-1.11.2.tar.gz
    mv "$download/data" "$venv/chess-data"
fi
echo "installed: maturin, pytest, mypy, python-chess, cshogi, the wrapper of Stockfish"
