#!/usr/bin/env bash
# Builds the book of `docs` with mdBook, which it installs, and checks its links to the glossary. A test of `xtask` checks the other links.
set -euo pipefail
cd "$(dirname "$0")/.."

version=0.5.4
mdbook=target/mdbook/bin/mdbook
if [[ $("$mdbook" --version 2>/dev/null) != "mdbook v$version" ]]; then
    cargo install mdbook --debug --version "$version" --locked --no-default-features --root target/mdbook
fi
scripts/glossary.py
"$mdbook" build docs 2>&1 | tee target/book.log
if grep -qE 'WARN|ERROR' target/book.log; then
    echo "the book has warnings" >&2
    exit 1
fi
