#!/usr/bin/env bash
# Installs the browsers and Japanese fonts for the browser tests from Debian. Idempotent.
set -euo pipefail
cd "$(dirname "$0")/.."

# The tests use the shell: without a window it needs half the time of the browser, which `benches/app` measures.
packages=(chromium chromium-headless-shell firefox-esr fonts-noto-cjk)

scripts/install-debian.sh "${packages[@]}"
for browser in chromium chromium-headless-shell firefox-esr; do
    command -v "$browser" > /dev/null || { echo "$browser was not installed" >&2; exit 1; }
done
