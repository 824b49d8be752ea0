#!/usr/bin/env bash
# Runs `readyok.exe` with Wine: version, checks, a match, the app. Argument: the executable; built for tests by default.
set -euo pipefail
cd "$(dirname "$0")/../.."
. scripts/wine/env.sh

program=${1:-}
if [[ -z $program ]]; then
    cargo build --locked --target x86_64-pc-windows-gnu -p readyok
    program="${CARGO_TARGET_DIR:-target}/x86_64-pc-windows-gnu/debug/readyok.exe"
fi
# Spaces and letters outside of ASCII in all paths.
directory=$(mktemp -d "${TMPDIR:-/tmp}/Readyok 将棋 é.XXXXXX")
server=
trap '[[ -z $server ]] || kill "$server" 2> /dev/null || true; rm -rf "$directory"' EXIT
cp "$program" "$directory/readyok.exe"
cd "$directory"

readyok() {
    wine ./readyok.exe "$@"
}

fail() {
    echo "failed: $1" >&2
    exit 1
}

readyok --version
# An engine list of Windows has CRLF; backslashes are in quoted command lines.
mkdir config
windows_directory=$(winepath -w "$directory")
export READYOK_CONFIG_DIR="$windows_directory\\config"
printf '[[engine]]\r\nname = "listed"\r\ncommand = '"'"'%s\\readyok.exe'"'"'\r\nargs = ["engine"]\r\n' \
    "$windows_directory" > config/engines.toml
readyok options listed | grep Hash > /dev/null || fail "an engine of engines.toml"
readyok options "\"$windows_directory\\readyok.exe\" engine" | grep Hash > /dev/null || fail "a quoted command line"

# Timing under Wine on a busy host proves nothing.
readyok check narikin --level quick --skip limits.
readyok match listed "\"$windows_directory\\readyok.exe\" engine" narikin --tc 1+0.05 --rounds 1 --concurrency 1 \
    --results results.jsonl --pgn games.pgn
grep -q '^\[Result "' games.pgn || fail "no game was written"

readyok serve --no-open --data "$windows_directory\\data" > serve.log 2>&1 &
server=$!
link=
for _ in $(seq 300); do
    link=$(tr -d '\r' < serve.log | grep -o 'http://[^ ]*token=[^ ]*' | head -n 1) && break
    sleep 0.1
done
[[ -n $link ]] || fail "serve printed no link: $(cat serve.log)"
status=$(curl -s -o page.html -w '%{http_code}' -L -c cookies -b cookies "$link")
[[ $status == 200 ]] || fail "serve answered $status"
grep -qi '<!doctype html>' page.html || fail "serve sent no page"
echo "ok: version, engine list, quoted command line, check, match, app"
