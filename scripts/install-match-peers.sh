#!/usr/bin/env bash
# Installs the match runners that benches/arena compares with: fastchess (needs make and a C++ compiler), ShogiArena from
# PyPI, and cutechess if CMake and Qt 6 are installed (Debian: cmake qt6-base-dev qt6-svg-dev libqt6core5compat6-dev).
# Idempotent. FASTCHESS_GIT and CUTECHESS_GIT replace the sources.
set -euo pipefail
cd "$(dirname "$0")/.."

peers=target/match-peers
mkdir -p "$peers"

# Checks out a commit of a repository.
checkout() {
    local directory=$peers/$1 source=$2 commit=$3
    if [[ ! -d $directory ]]; then
        git clone --quiet "$source" "$directory"
    fi
    git -C "$directory" checkout --quiet "$commit"
}

if [[ ! -x $peers/fastchess/fastchess ]]; then
    checkout fastchess "${FASTCHESS_GIT:-https://github.com/Disservin/fastchess}" \
        74deac23aadc6718fa0f8e24ac95d16392d79444
    make -C "$peers/fastchess" -j "$(nproc)" >"$peers/fastchess.log"
fi

if [[ ! -x $peers/venv/bin/shogiarena ]]; then
    python3 -m venv "$peers/venv"
    "$peers/venv/bin/pip" install --quiet shogiarena==1.3.2
fi

if [[ ! -x $peers/cutechess/build/cutechess-cli ]]; then
    if command -v cmake >/dev/null && command -v qmake6 >/dev/null; then
        checkout cutechess "${CUTECHESS_GIT:-https://github.com/cutechess/cutechess}" v1.5.1
        cmake -S "$peers/cutechess" -B "$peers/cutechess/build" -DCMAKE_BUILD_TYPE=Release -DWITH_TESTS=OFF >"$peers/cutechess.log"
        cmake --build "$peers/cutechess/build" --parallel "$(nproc)" --target cli >>"$peers/cutechess.log"
    else
        echo "cutechess needs CMake and Qt 6: not installed"
    fi
fi
echo "installed: $(ls "$peers")"
