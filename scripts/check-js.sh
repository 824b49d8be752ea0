#!/usr/bin/env bash
# The npm package @readyok/rules: builds it, checks its size and types, runs its tests, the comparison with other libraries and
# the pages about it, and installs it in an empty directory with each JavaScript runtime that npm provides.
# Needs Chromium (scripts/install-browser.sh) and rustup.
set -euo pipefail
cd "$(dirname "$0")/.."

target=$(realpath -m "${CARGO_TARGET_DIR:-target}")
out=$target/js-package
rm -rf "$out"
mkdir -p "$out"

scripts/build-js.sh "$out"
package=$(echo "$out"/readyok-rules-*.tgz)

cd packages/js
node_modules/.bin/tsc -p .
node --test test/
cd ../..

RULES_PACKAGE=$package scripts/check-tutorials.py packages/js/README.md docs/javascript.md

# As users install it, with this Node and with the newest runtimes.
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cat > "$work/package.json" <<< '{ "private": true, "type": "module" }'
npm install --prefix "$work" --no-audit --no-fund --silent "$package"
cat > "$work/smoke.mjs" <<'END'
import { Game, Position, load, read } from '@readyok/rules';
import { loadExtras, opening } from '@readyok/rules/extras';

await Promise.all([load(), loadExtras()]);
const [game] = read(Game.from(['e4', 'c5']).write('pgn'));
if (opening(game.position).eco !== 'B20') throw new Error('no opening');
if (new Position(undefined, { game: 'shogi' }).after('7g7f').key !== 0x393ef29409ffb9d0n) throw new Error('another key');
END
(cd "$work" && node smoke.mjs)
for runtime in node deno bun; do
    # Their packages download programs for this platform.
    if ! npm install --prefix "$work/$runtime" --no-audit --no-fund --silent "$runtime" > /dev/null 2>&1; then
        echo "not tested with $runtime: npm cannot install it here" >&2
        [[ -z ${READYOK_REAL_ENGINES:-} ]] || exit 1
        continue
    fi
    command=("$work/$runtime/node_modules/.bin/$runtime")
    [[ $runtime == deno ]] && command+=(run --allow-read)
    (cd "$work" && "${command[@]}" smoke.mjs)
    echo "ok: $runtime $("$work/$runtime/node_modules/.bin/$runtime" --version | head -1)"
done
