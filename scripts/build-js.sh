#!/usr/bin/env bash
# Builds the npm package @readyok/rules in a directory: build-js.sh DIRECTORY
# Needs rustup, whose component rust-src has the sources of the standard library; wasm-opt and esbuild come from npm.
set -euo pipefail
cd "$(dirname "$0")/.."

out=$(realpath -m "$1")
mkdir -p "$out"
rustup --quiet component add rust-src
rustup --quiet target add wasm32-unknown-unknown
cd packages/js
npm ci --no-audit --no-fund --ignore-scripts --silent
node build.mjs
cd dist
npm pack --silent --pack-destination "$out"
