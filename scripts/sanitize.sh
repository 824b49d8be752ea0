#!/usr/bin/env bash
# Runs the unsafe code of Narikin with Miri, and multithreaded code with ThreadSanitizer. Both need components of the
# nightly compiler, which are installed if they are missing. Takes some minutes.
set -euo pipefail

cd "$(dirname "$0")/.."
# An existing toolchain is not updated, because other builds may use it.
parts=$(rustup component list --toolchain nightly --installed 2>/dev/null || true)
if [[ $parts != *miri* || $parts != *rust-src* ]]; then
    rustup toolchain install nightly --profile minimal --component miri --component rust-src
fi
target=$(rustc +nightly -vV | sed -n 's/^host: //p')
export CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-target}/sanitize"

# Memory hints, the transposition table, and the vector instructions of networks.
cargo +nightly miri test -p narikin --lib -- platform:: tt::tests:: network::simd::
case $target in
x86_64*) RUSTFLAGS=-Ctarget-feature=+avx2 cargo +nightly miri test -p narikin --lib -- network::simd:: ;;
esac

# Multithreaded searches and the engine runtime. The standard library is rebuilt with instrumentation.
export RUSTFLAGS=-Zsanitizer=thread
cargo +nightly test -Zbuild-std --target "$target" -p narikin --test it -- threads
cargo +nightly test -Zbuild-std --target "$target" -p readyok-engine --test it
