#!/usr/bin/env bash
# Installs the engines and the NATS server for the tests with third-party programs from Debian. Idempotent.
set -euo pipefail

engines=(stockfish fairy-stockfish ethereal-chess gnuchess toga2 glaurung sjaakii gpsusi nats-server)
packages=(stockfish fairy-stockfish ethereal-chess gnuchess toga2 glaurung sjaakii gpsshogi gpsshogi-data nats-server)

export DEBIAN_FRONTEND=noninteractive
root=()
[[ $EUID -eq 0 ]] || root=(sudo --preserve-env=DEBIAN_FRONTEND)
# Waits for a concurrent installation.
apt=("${root[@]}" apt-get -o DPkg::Lock::Timeout=300 -qq)
"${apt[@]}" update
"${apt[@]}" install -y --no-install-recommends "${packages[@]}"

# Debian installs games and servers outside the default PATH.
PATH="$PATH:/usr/games:/usr/sbin"
for engine in "${engines[@]}"; do
    command -v "$engine" > /dev/null || { echo "$engine was not installed" >&2; exit 1; }
done
echo "installed: ${engines[*]}"
