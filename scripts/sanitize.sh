#!/usr/bin/env bash
# Runs unsafe code with Miri, and multithreaded code and processes with ThreadSanitizer and AddressSanitizer:
#
#     scripts/sanitize.sh [miri|thread|address]…
#
# Needs components of the nightly compiler, which are installed if they are missing. Each takes some minutes.
set -euo pipefail

cd "$(dirname "$0")/.."
(($# > 0)) || set -- miri thread address
# An existing toolchain is not updated, because other builds may use it.
parts=$(rustup component list --toolchain nightly --installed 2>/dev/null || true)
for part in rust-src miri; do
    [[ $parts == *$part* || ($part == miri && $* != *miri*) ]] ||
        rustup component add --toolchain nightly "$part" ||
        rustup toolchain install nightly --profile minimal --component "$part"
done
target=$(rustc +nightly -vV | sed -n 's/^host: //p')
export CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-target}/sanitize"

# Memory hints, the transposition table, and the vector instructions of networks. All other crates forbid unsafe code, except
# calls of Windows, which Miri cannot execute.
miri() {
    cargo +nightly miri test -p narikin --lib -- platform:: tt::tests:: network::simd::
    case $target in
    x86_64*) RUSTFLAGS=-Ctarget-feature=+avx2 cargo +nightly miri test -p narikin --lib -- network::simd:: ;;
    esac
}

# The engine runtime, the client with its processes, matches, and multithreaded searches. The standard library is rebuilt with
# instrumentation. Examples are the programs that the tests start.
instrumented() {
    export RUSTFLAGS="-Zsanitizer=$1 -Cforce-frame-pointers=yes"
    # A program that ends by `_exit` or a signal reports no leak.
    export ASAN_OPTIONS=detect_leaks=0 TSAN_OPTIONS=halt_on_error=1
    for crate in engine client arena; do
        cargo +nightly test -Zbuild-std --target "$target" -p "readyok-$crate" --lib --examples --test it
    done
    cargo +nightly test -Zbuild-std --target "$target" -p narikin --test it -- threads
}

for kind in "$@"; do
    case $kind in
    miri) miri ;;
    thread | address) (instrumented "$kind") ;;
    *)
        echo "unknown: $kind" >&2
        exit 2
        ;;
    esac
done
