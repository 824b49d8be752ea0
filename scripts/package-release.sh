#!/usr/bin/env bash
# Packs an executable for a release: `package-release.sh READYOK VERSION TARGET DIRECTORY`. It writes
# readyok-VERSION-TARGET.tar.gz, and adds its checksum to SHA256SUMS. install-release.sh reads both.
set -euo pipefail

readyok=$1 version=$2 target=$3 directory=$4
archive=readyok-$version-$target.tar.gz
mkdir -p "$directory"
tar -czf "$directory/$archive" -C "$(dirname "$readyok")" "$(basename "$readyok")"
cd "$directory"
touch SHA256SUMS
grep -v "  $archive\$" SHA256SUMS > SHA256SUMS.new || true
sha256sum "$archive" >> SHA256SUMS.new
mv SHA256SUMS.new SHA256SUMS
