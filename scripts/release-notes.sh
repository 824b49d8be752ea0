#!/usr/bin/env bash
# Prints the section of a version in CHANGELOG.md.
# Usage: scripts/release-notes.sh VERSION
set -euo pipefail
cd "$(dirname "$0")/.."

awk -v version="$1" '
    /^## / { found = index($2, version) == 1 || $2 == "[" version "]" }
    found && !/^## / { print; printed = 1 }
    END { exit !printed }
' CHANGELOG.md
