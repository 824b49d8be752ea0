#!/usr/bin/env bash
# Installs the third-party engines of the real-engine tests, and the server of matches over several machines, from
# Debian. Can be run again at any time.
set -euo pipefail

engines=(stockfish fairy-stockfish ethereal-chess gnuchess toga2 glaurung sjaakii gpsusi nats-server)
packages=(stockfish fairy-stockfish ethereal-chess gnuchess toga2 glaurung sjaakii gpsshogi gpsshogi-data nats-server)

export DEBIAN_FRONTEND=noninteractive
root=()
[[ $EUID -eq 0 ]] || root=(sudo --preserve-env=DEBIAN_FRONTEND)
# Another installation may be running: wait for it rather than fail.
apt=("${root[@]}" apt-get -o DPkg::Lock::Timeout=300 -qq)
"${apt[@]}" update
"${apt[@]}" install -y --no-install-recommends "${packages[@]}"

# Debian keeps games and servers out of many a PATH.
PATH="$PATH:/usr/games:/usr/sbin"
for engine in "${engines[@]}"; do
    command -v "$engine" > /dev/null || { echo "$engine is not there after its installation" >&2; exit 1; }
done
echo "installed: ${engines[*]}"
