#!/usr/bin/env bash
# Installs the workers of OpenBench and fishtest, whose parsers tests of `readyok match --fastchess` run:
#   READYOK_MATCH_WORKERS="$PWD/target/match-workers" cargo test -p readyok --test it match_workers
# They need python3. Idempotent. OPENBENCH_GIT and FISHTEST_GIT replace the sources.
set -euo pipefail
cd "$(dirname "$0")/.."

# Checks out a commit of a repository.
checkout() {
    local directory=target/match-workers/$1 source=$2 commit=$3
    if [[ ! -d $directory ]]; then
        git clone --quiet "$source" "$directory"
    fi
    git -C "$directory" checkout --quiet "$commit"
}

mkdir -p target/match-workers
checkout openbench "${OPENBENCH_GIT:-https://github.com/AndyGrant/OpenBench}" 9906bad
checkout fishtest "${FISHTEST_GIT:-https://github.com/official-stockfish/fishtest}" b8eecff2
