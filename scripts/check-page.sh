#!/usr/bin/env bash
# Checks, tests and builds the page. Needs Node and scripts/install-browser.sh; the browser tests with a real server need
# scripts/install-engines.sh.
set -euo pipefail
cd "$(dirname "$0")/.."

# Includes the misbehaving engines of the tests.
cargo build -p readyok -p readyok-client -p readyok-server --bins --examples
export READYOK_BIN="${CARGO_TARGET_DIR:-$PWD/target}/debug/readyok"
cd web

npm ci
npm run check
npm test
npm run build
# The committed build must match the sources, including new files.
git add --intent-to-add ../crates/server/dist
git diff --exit-code --stat -- ../crates/server/dist || { echo "crates/server/dist is stale: npm run build, and commit it" >&2; exit 1; }
npm run e2e
# The files that differ most between browsers, and the journeys.
npm run e2e:firefox
