#!/usr/bin/env bash
# Installs the libraries that the tests of game records compare with: python-chess and cshogi from PyPI, tsshogi from npm,
# which needs Node; and the public studies of Lichess in Debian's package of PyChess, which is not installed. With `--bench`, also the programs of `benches/records/peers.py`: pgn-extract and SCID from Debian, which
# needs root or sudo. Idempotent.
set -euo pipefail
cd "$(dirname "$0")/.."

venv=target/record-peers
if [[ ! -x $venv/bin/python ]]; then
    python3 -m venv "$venv"
fi
"$venv/bin/pip" install --quiet chess==1.11.2 cshogi==1.1.0
"$venv/bin/python" -c 'import chess.pgn, cshogi.CSA, cshogi.KI2, cshogi.KIF'
npm install --prefix "$venv" --no-save --no-package-lock --ignore-scripts --no-audit --no-fund --silent \
    tsshogi@2.2.0
NODE_PATH=$venv/node_modules node -e 'require("tsshogi").importKIF'
if [[ ! -d $venv/studies ]]; then
    package=$(mktemp -d)
    trap 'rm -rf "$package"' EXIT
    # The user of downloads.
    chmod 755 "$package"
    (cd "$package" && apt-get -qq download pychess) || {
        # Without lists of packages, as in a fresh container.
        root=()
        [[ $EUID -eq 0 ]] || root=(sudo)
        "${root[@]}" apt-get -qq update
        (cd "$package" && apt-get -qq download pychess)
    }
    dpkg-deb --extract "$package"/pychess_*.deb "$package/files"
    mkdir "$package/studies"
    find "$package/files" -name '*.pgn' -exec mv -t "$package/studies" {} +
    mv "$package/studies" "$venv/studies"
fi
echo "installed: python-chess, cshogi, tsshogi, studies"
if [[ ${1:-} == --bench ]]; then
    scripts/install-debian.sh pgn-extract scid
    echo "installed: pgn-extract, scid"
fi
