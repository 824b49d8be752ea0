#!/usr/bin/env bash
# Installs the browsers and Japanese fonts for the browser tests from Debian. Idempotent.
set -euo pipefail
cd "$(dirname "$0")/.."

packages=(chromium firefox-esr fonts-noto-cjk)

scripts/install-debian.sh "${packages[@]}"
for browser in chromium firefox-esr; do
    command -v "$browser" > /dev/null || { echo "$browser was not installed" >&2; exit 1; }
done
