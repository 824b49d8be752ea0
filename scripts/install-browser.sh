#!/usr/bin/env bash
# Installs the browser of the page's journeys, and fonts for its Japanese, from Debian. Can be run again at any time.
set -euo pipefail

packages=(chromium fonts-noto-cjk)

export DEBIAN_FRONTEND=noninteractive
root=()
[[ $EUID -eq 0 ]] || root=(sudo --preserve-env=DEBIAN_FRONTEND)
# Another installation may be running: wait for it rather than fail.
apt=("${root[@]}" apt-get -o DPkg::Lock::Timeout=300 -qq)
"${apt[@]}" update
"${apt[@]}" install -y --no-install-recommends "${packages[@]}"
command -v chromium > /dev/null || { echo "chromium is not there after its installation" >&2; exit 1; }
