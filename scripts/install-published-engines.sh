#!/usr/bin/env bash
# Installs third-party engines from npm, PyPI and crates.io for scripts/conformance-results.py. Idempotent.
#
# Usage: install-published-engines.sh [DIRECTORY]
#
# DIRECTORY/bin, by default target/engines/bin, has one executable per engine. Node, Python and Cargo are required. No
# installation script of an npm package is run.
set -euo pipefail
cd "$(dirname "$0")/.."

directory=$(realpath -m "${1:-target/engines}")
mkdir -p "$directory/bin" "$directory/npm"

# start NAME COMMAND…: an executable that runs the command.
start() {
    printf '#!/bin/sh\nexec %s "$@"\n' "${*:2}" > "$directory/bin/$1"
    chmod +x "$directory/bin/$1"
}

# npm_package PACKAGE@VERSION: unpacks the archive of a package.
npm_package() {
    local target="$directory/npm/$1" archive
    [[ -f "$target/package.json" ]] && return
    archive=$(cd "$directory" && npm pack --silent "$1" 2> /dev/null | tail -1)
    mkdir -p "$target"
    tar xzf "$directory/$archive" -C "$target" --strip-components=1
    rm "$directory/$archive"
}

# python_package NAME PACKAGE==VERSION…: an environment with these packages.
python_package() {
    local target="$directory/python/$1"
    [[ -x "$target/bin/python" ]] || python3 -m venv "$target"
    "$target/bin/pip" install --quiet --disable-pip-version-check "${@:2}"
}

# crate NAME VERSION OPTIONS…: the program of a crate. The results page lists one that cannot be built.
crate() {
    if [[ ! -x "$directory/cargo/bin/$1" ]]; then
        cargo install --quiet --root "$directory/cargo" --target-dir "$directory/build" "$1@$2" "${@:3}" || return 0
        rm -rf "$directory/build"
    fi
    ln -sf "../cargo/bin/$1" "$directory/bin/crates-$1-$2"
}

npm="$directory/npm"
for version in 6.0.5 11.0.0 16.0.0 19.0.0; do
    npm_package "stockfish@$version"
done
start npm-stockfish-6 node "$npm/stockfish@6.0.5/src/stockfish.js"
# Emscripten of that time mistakes `fetch` of Node for that of a browser.
start npm-stockfish-11 node --no-experimental-fetch "$npm/stockfish@11.0.0/src/stockfish.js"
start npm-stockfish-16 sh -c "'cd $npm/stockfish@16.0.0/src && exec node --no-experimental-fetch stockfish-nnue-16.js'"
start npm-stockfish-19-lite node "$npm/stockfish@19.0.0/bin/stockfish-19-lite-single.js"
npm_package fairy-stockfish-nnue.wasm@1.1.12
start npm-fairy-stockfish node --no-experimental-fetch "$npm/fairy-stockfish-nnue.wasm@1.1.12/uci.js"
# A package for browsers, with a program that connects it to standard input and output.
npm_package zshogi@0.0.7
start npm-zshogi node "$PWD/scripts/engines/zshogi.cjs" "$npm/zshogi@0.0.7"

python_package sunfish sunfish==2026.1
start pypi-sunfish "$directory/python/sunfish/bin/sunfish-uci"
python_package jomfish jomfish-linux==0.10.0
# The package names an interpreter that only NixOS has.
start pypi-jomfish /lib64/ld-linux-x86-64.so.2 "$directory"/python/jomfish/lib/python*/site-packages/jomfish/bin/jomfish
python_package pychess-engine pychess-engine==1.1.0
start pypi-pychess-engine "$directory/python/pychess-engine/bin/python" -m pychess_engine.uci
python_package chessidle chessidle==1.3.0
start pypi-chessidle "$directory/python/chessidle/bin/python" -m chessidle

crate sekirei 0.5.2
# With its default features, its build downloads a network.
crate timecat 1.53.0 --no-default-features
crate rustengine 1.0.60

printf 'installed in %s/bin:\n' "$directory"
ls "$directory/bin"
