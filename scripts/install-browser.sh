#!/usr/bin/env bash
# Installs the browser and Japanese fonts for the browser tests from Debian. Idempotent.
set -euo pipefail

packages=(chromium fonts-noto-cjk)

export DEBIAN_FRONTEND=noninteractive
root=()
[[ $EUID -eq 0 ]] || root=(sudo --preserve-env=DEBIAN_FRONTEND)
# Waits for a concurrent installation.
apt=("${root[@]}" apt-get -o DPkg::Lock::Timeout=300 -qq)
"${apt[@]}" update
"${apt[@]}" install -y --no-install-recommends "${packages[@]}"
command -v chromium > /dev/null || { echo "chromium was not installed" >&2; exit 1; }
