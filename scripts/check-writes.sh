#!/usr/bin/env bash
# Tests all writes with each fault at each call (READYOK_WRITE_FAULTS=N for a sample), and kills at random moments.
set -euo pipefail
cd "$(dirname "$0")/.."

export READYOK_WRITE_FAULTS="${READYOK_WRITE_FAULTS:-all}"
cargo test -p readyok-library --test it -- faults:: import::
cargo test -p readyok-arena --test it -- faults::
cargo test -p readyok-arena --examples
cargo test -p readyok-arena --test it -- resume::
cargo test -p readyok-server --lib -- store::
cargo test -p readyok --test it -- faults:: killed
