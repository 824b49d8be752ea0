#!/usr/bin/env bash
# The unsafe code of Narikin under Miri, and threads that share memory under ThreadSanitizer. Both need parts of the
# nightly compiler, which are installed if they are missing. It takes some minutes.
set -euo pipefail

cd "$(dirname "$0")/.."
# What is there stays as it is: others may be building with it.
parts=$(rustup component list --toolchain nightly --installed 2>/dev/null || true)
if [[ $parts != *miri* || $parts != *rust-src* ]]; then
    rustup toolchain install nightly --profile minimal --component miri --component rust-src
fi
target=$(rustc +nightly -vV | sed -n 's/^host: //p')
export CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-target}/sanitize"

# Hints about memory, and the table for which they are given.
cargo +nightly miri test -p narikin --lib -- hints:: table::tests::

# Searches of several threads; the runtime, whose threads read, search and write. The standard library is built anew, as
# what it does would go unseen.
export RUSTFLAGS=-Zsanitizer=thread
cargo +nightly test -Zbuild-std --target "$target" -p narikin --test it -- threads
cargo +nightly test -Zbuild-std --target "$target" -p readyok-engine --test it
