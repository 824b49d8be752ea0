#!/usr/bin/env bash
# Everything that the page must pass. Needs Node, what scripts/install-browser.sh installs, and for the journeys through a
# real server the engines of scripts/install-engines.sh.
set -euo pipefail
cd "$(dirname "$0")/.."

# With the engines of the tests, some of which misbehave.
cargo build -p readyok -p readyok-client -p readyok-server --bins
export READYOK_BIN="${CARGO_TARGET_DIR:-$PWD/target}/debug/readyok"
cd web

npm ci
npm run check
npm test
npm run build
# What is committed is what the sources make. A new file counts too.
git add --intent-to-add dist
git diff --exit-code --stat -- dist || { echo "web/dist is stale: npm run build, and commit it" >&2; exit 1; }
npm run e2e
