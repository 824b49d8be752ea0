#!/usr/bin/env bash
# Installs packages of Debian that are missing. Needs root or sudo.
# Usage: install-debian.sh PACKAGE…
set -euo pipefail

installed=$(dpkg-query --show --showformat '${db:Status-Status} ${Package}\n' "$@" 2> /dev/null || true)
missing=()
for package in "$@"; do
    grep -qxF "installed $package" <<< "$installed" || missing+=("$package")
done
[[ ${#missing[@]} -gt 0 ]] || exit 0

export DEBIAN_FRONTEND=noninteractive
root=()
[[ $EUID -eq 0 ]] || root=(sudo --preserve-env=DEBIAN_FRONTEND)
# Waits for a concurrent installation.
apt=("${root[@]}" apt-get -o DPkg::Lock::Timeout=300 -qq)
"${apt[@]}" update
"${apt[@]}" install -y --no-install-recommends "${missing[@]}"
