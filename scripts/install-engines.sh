#!/usr/bin/env bash
# Installs the engines, the NATS server, and git and make for the tests with third-party programs from Debian. Idempotent.
set -euo pipefail
cd "$(dirname "$0")/.."

engines=(stockfish fairy-stockfish ethereal-chess gnuchess toga2 glaurung sjaakii gpsusi nats-server git make)
packages=(stockfish fairy-stockfish ethereal-chess gnuchess toga2 glaurung sjaakii gpsshogi gpsshogi-data nats-server git make jq)

scripts/install-debian.sh "${packages[@]}"

# Debian installs games and servers outside the default PATH.
PATH="$PATH:/usr/games:/usr/sbin"
for engine in "${engines[@]}"; do
    command -v "$engine" > /dev/null || { echo "$engine was not installed" >&2; exit 1; }
done
echo "installed: ${engines[*]}"
