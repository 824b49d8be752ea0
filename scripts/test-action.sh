#!/usr/bin/env bash
# Tests the steps of action.yml without GitHub: `test-action.sh READYOK`. A local directory has the release.
set -euo pipefail
readyok=$(realpath "$1")
cd "$(dirname "$0")/.."
root=$PWD
directory=$(mktemp -d)
trap 'rm -r "$directory"' EXIT

fail() {
    echo "$1" >&2
    exit 1
}

# step EXIT_STATUS COMMAND…: a step of the action. Its outputs are in $outputs.
step() {
    local status=0
    export GITHUB_OUTPUT=$directory/output GITHUB_STEP_SUMMARY=$directory/summary
    : > "$GITHUB_OUTPUT"
    "${@:2}" > "$directory/log" 2>&1 || status=$?
    outputs=$(< "$GITHUB_OUTPUT")
    [[ $status == "$1" ]] || fail "${*:2}: status $status instead of $1: $(< "$directory/log")"
}

has() {
    [[ $outputs == *"$1"* ]] || fail "no '$1' in: $outputs"
}

case $(uname -s)-$(uname -m) in
    Linux-x86_64 | Linux-aarch64) name=readyok-1.2.3-linux-$(uname -m) ;;
    *) fail "this test requires Linux" ;;
esac
mkdir -p "$directory/$name" "$directory/releases/v1.2.3"
ln -s "$readyok" "$directory/$name/readyok"
(
    cd "$directory"
    # The executable of a release, and other files.
    echo licence > "$name/LICENSE"
    tar --dereference -czf "releases/v1.2.3/$name.tar.gz" "$name"
    cd releases/v1.2.3
    sha256sum ./*.tar.gz | sed 's, \./, ,' > SHA256SUMS
)
export READYOK_RELEASES=file://$directory/releases REPOSITORY=owner/readyok CHECKSUM='' BUILD=false

VERSION=v1.2.3 step 0 scripts/install-release.sh key "$root"
has 'key=v1.2.3-sums'
VERSION=main step 2 scripts/install-release.sh key "$root"
VERSION=v1.2.3 CHECKSUM='not a checksum' step 2 scripts/install-release.sh key "$root"
BUILD=true VERSION=main step 0 scripts/install-release.sh key "$root"
has 'key=source-'

export VERSION=v1.2.3
CHECKSUM=$(printf '0%.0s' {1..64}) step 2 scripts/install-release.sh download "$directory/bin"
VERSION=v9.9.9 step 2 scripts/install-release.sh download "$directory/bin"
[[ ! -e $directory/bin/readyok ]] || fail 'a file with a wrong checksum was installed'
step 0 scripts/install-release.sh download "$directory/bin"
installed=$directory/bin/readyok
CHECKSUM=$(cut -d' ' -f1 "$directory/releases/v1.2.3/SHA256SUMS")
CHECKSUM=$CHECKSUM step 0 scripts/install-release.sh download "$directory/bin"

cat > "$directory/faulty" <<'ENGINE'
#!/bin/sh
while read -r line; do
    case $line in
        uci) printf '%s\n' 'id name Faulty' 'id author A' uciok ;;
        isready) echo readyok ;;
        go* | stop) echo bestmove e2e4 ;;
        quit) exit ;;
    esac
done
ENGINE
chmod +x "$directory/faulty"
export CLIENT='' PROTOCOL='' PROFILE='' LEVEL=full MAX_TIME=120 BASELINE='' FAIL_ON_INCONCLUSIVE=false REPORTS=$directory/reports
check() {
    step "$1" scripts/check-action.sh "$installed"
}

export ENGINE="$installed engine" ARGUMENTS='--only handshake.name --only handshake.author'
check 0
has 'verdict=conforms'
for report in check.json check.xml check.md badge.json; do
    [[ -s $REPORTS/$report ]] || fail "no $report"
done
[[ -s $GITHUB_STEP_SUMMARY ]] || fail 'no summary'

export ENGINE="$directory/faulty" ARGUMENTS='--only lexical.idle-stop'
check 1
has 'verdict=violates'
grep -q '^::error title=lexical.idle-stop::' "$directory/log" || fail 'no annotation'
# A listed failure is known, and has to be removed when it passes.
printf 'lexical.idle-stop # known\n' > "$directory/known"
BASELINE=$directory/known check 0
printf 'lexical.idle-stop\nhandshake.name\n' > "$directory/known"
BASELINE=$directory/known ARGUMENTS='--only lexical.idle-stop --only handshake.name' check 1

# A script of an interpreter in PATH, relative to the directory of the repository under test.
mkdir "$directory/project"
printf 'exec %q engine\n' "$installed" > "$directory/project/engine.sh"
cd "$directory/project"
ENGINE='sh engine.sh' ARGUMENTS='--only handshake.name' step 0 "$root/scripts/check-action.sh" "$installed"
cd "$root"
has 'verdict=conforms'

# An engine that never answers `go`, until the time is over.
sed '/go\*/d' "$directory/faulty" > "$directory/silent"
chmod +x "$directory/silent"
export ENGINE="$directory/silent" ARGUMENTS='--only positions.startpos' MAX_TIME=8
check 0
has 'verdict=inconclusive'
grep -q '^::warning title=readyok::' "$directory/log" || fail 'no warning'
FAIL_ON_INCONCLUSIVE=true check 2
ENGINE="$directory/missing" check 2
has 'verdict=failed'
echo 'the steps of the action work'
