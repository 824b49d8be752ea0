#!/usr/bin/env bash
# Tests the Python package as its users install it: a wheel with debug builds in clean environments without a compiler, with the
# oldest and the newest interpreter; type stubs; and the pages of the book.
# Usage: check-python.sh [PROGRAM]
set -euo pipefail
cd "$(dirname "$0")/.."

scripts/install-python.sh
tools=$PWD/target/python
program=${1:-target/debug/readyok}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

strip -o "$work/readyok" "$program"
rm -f target/dist/readyok-*.whl
cargo xtask dist --binary "$work/readyok" --only wheel
wheel=$(realpath target/dist/readyok-*-linux_*.whl)

# An interpreter in PATH, or of pyenv.
interpreter() {
    local candidate
    for candidate in "$(command -v "python$1")" ~/.pyenv/versions/"$1".*/bin/python; do
        # The name in PATH can be that of a missing version.
        if [[ -x $candidate ]] && "$candidate" -c '' 2> /dev/null; then
            echo "$candidate"
            return
        fi
    done
    echo "Python $1 is missing" >&2
    return 1
}

export PATH="$PATH:/usr/games"
for version in ${READYOK_PYTHONS:-3.9 3.13}; do
    "$(interpreter "$version")" -m venv "$work/$version"
    python=$work/$version/bin/python
    "$python" -m pip install --quiet --no-index "$wheel"
    (cd "$work" && env -i HOME="$HOME" PATH="/usr/bin:/usr/games" "$python" -I -c '
import readyok
with readyok.Engine(readyok.narikin()) as engine:
    print(readyok.__version__, engine.name, engine.play(readyok.Position(game="shogi"), nodes=100).move)')
    "$python" -m pip install --quiet pytest
    "$python" -m pytest --quiet -p no:cacheprovider crates/python/tests --ignore crates/python/tests/test_judges.py \
        ${READYOK_PYTEST:+$READYOK_PYTEST}
    # The programs of `test_exits` take most of the time.
    export READYOK_EXITS=${READYOK_EXITS_NEWEST:-30}
done

"$tools/bin/pip" install --quiet --force-reinstall --no-index --no-deps "$wheel"
(cd "$work" && "$tools/bin/python" -m mypy.stubtest readyok._readyok)
"$tools/bin/python" -m mypy --strict --no-error-summary crates/python/readyok
"$tools/bin/python" -m pytest --quiet -p no:cacheprovider crates/python/tests/test_judges.py
scripts/check-tutorials.py --python "$tools/bin/python"
