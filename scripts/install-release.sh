#!/usr/bin/env bash
# Selects and installs a release of readyok for action.yml. Inputs come from the environment and are data.
#
#   install-release.sh key ACTION           writes the version and the cache key to $GITHUB_OUTPUT
#   install-release.sh download DIRECTORY   downloads $VERSION from $REPOSITORY, verifies its SHA-256, and unpacks it
#
# $READYOK_RELEASES replaces the address of the releases.
set -euo pipefail

fail() {
    echo "::error title=readyok::$1" >&2
    exit 2
}

checksum() {
    if command -v sha256sum > /dev/null; then sha256sum "$@"; else shasum -a 256 "$@"; fi
}

# The archive of this machine, without the version.
platform() {
    case $(uname -s)-$(uname -m) in
        Linux-x86_64) echo linux-x86_64.tar.gz ;;
        Linux-aarch64) echo linux-aarch64.tar.gz ;;
        Darwin-x86_64) echo macos-x86_64.tar.gz ;;
        Darwin-arm64) echo macos-aarch64.tar.gz ;;
        MINGW*-x86_64 | MSYS*-x86_64) echo windows-x86_64.zip ;;
        *) fail "there is no release for $(uname -s) $(uname -m); use \`build: true\`" ;;
    esac
}

case $1 in
    key)
        if [[ ${BUILD:-} == true ]]; then
            # hashFiles ignores files outside the workspace.
            sources=$(cd "$2" && find Cargo.lock Cargo.toml crates -type f -print0 | LC_ALL=C sort -z | xargs -0 cat | checksum)
            key=source-${sources%% *}
        else
            [[ ${VERSION:-} =~ ^v[0-9]+\.[0-9]+\.[0-9]+([-.][0-9A-Za-z.]+)?$ ]] \
                || fail "\`version\` has to be a release such as v1.0.0, not '${VERSION:-}'; \`build: true\` builds from source"
            [[ ${CHECKSUM:-} =~ ^([0-9a-f]{64})?$ ]] || fail "\`checksum\` has to be a SHA-256 in lower-case hexadecimal digits"
            key=$VERSION-${CHECKSUM:-sums}
        fi
        {
            echo "key=$key"
            echo "version=${VERSION:-}"
            echo "repository=${REPOSITORY:-}"
        } >> "$GITHUB_OUTPUT"
        ;;
    download)
        directory=$2
        archive=readyok-${VERSION#v}-$(platform)
        releases=${READYOK_RELEASES:-https://github.com/$REPOSITORY/releases/download}
        temporary=$(mktemp -d)
        trap 'rm -r "$temporary"' EXIT
        fetch() {
            curl --fail --silent --show-error --location --retry 3 --output "$temporary/$1" "$releases/$VERSION/$1" \
                || fail "cannot download $releases/$VERSION/$1"
        }
        fetch "$archive"
        expected=${CHECKSUM:-}
        if [[ -z $expected ]]; then
            fetch SHA256SUMS
            expected=$(awk -v name="$archive" '$2 == name { print $1 }' "$temporary/SHA256SUMS")
        fi
        found=$(checksum "$temporary/$archive")
        [[ -n $expected && ${found%% *} == "$expected" ]] \
            || fail "$archive has the checksum ${found%% *} instead of ${expected:-one in SHA256SUMS}"
        mkdir -p "$directory"
        # The files are in a directory with the name of the release.
        if [[ $archive == *.zip ]]; then
            unzip -q "$temporary/$archive" -d "$temporary/files"
        else
            mkdir "$temporary/files"
            tar -xzf "$temporary/$archive" -C "$temporary/files"
        fi
        cp "$temporary/files"/*/readyok* "$directory"
        ;;
    *)
        fail "unknown command $1"
        ;;
esac
