#!/usr/bin/env bash
# Installs the browser and Japanese fonts for the browser tests from Debian. Idempotent.
set -euo pipefail
cd "$(dirname "$0")/.."

packages=(chromium fonts-noto-cjk)

scripts/install-debian.sh "${packages[@]}"
command -v chromium > /dev/null || { echo "chromium was not installed" >&2; exit 1; }
