#!/usr/bin/env bash
# Creates a root directory with the essential packages of this system's release of Debian or Ubuntu, and PACKAGES.
# Each set of packages is downloaded once, to target/roots. Needs root.
# Usage: root.sh DIRECTORY [PACKAGE]…
set -euo pipefail
here=$(dirname "$(realpath "$0")")
directory=$(realpath "$1")
shift

cache=$(realpath -m "${CARGO_TARGET_DIR:-$here/../../target}")/roots
mkdir -p "$cache"
# One download at a time; the others wait for it.
exec 9> "$cache/lock"
flock 9

# shellcheck source=/dev/null # exists on every system with apt
. /etc/os-release
base=$cache/$VERSION_CODENAME
if [[ ! -e $base ]]; then
    "$here/../install-debian.sh" debootstrap
    # The mirror of this system, if it is a plain address; else the default one.
    # shellcheck disable=SC2016 # names of apt-get
    mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' "Release: $VERSION_CODENAME" |
        sed -n '/^http/ { p; q }')
    components=main
    # Node is in a second component of Ubuntu.
    [[ $ID != ubuntu ]] || components+=,universe
    rm -rf --one-file-system "$base.new"
    debootstrap --variant=minbase --components="$components" "$VERSION_CODENAME" "$base.new" ${mirror:+"$mirror"} \
        > "$base.log" 2>&1 || { tail -n 20 "$base.log" >&2; exit 1; }
    mv "$base.new" "$base"
fi
root=$base
if [[ $# -gt 0 ]]; then
    root=$base+$(IFS=+; echo "$*")
    if [[ ! -e $root ]]; then
        rm -rf --one-file-system "$root.new"
        cp -a "$base" "$root.new"
        cp --dereference /etc/resolv.conf "$root.new/etc/resolv.conf"
        "$here/in-root.sh" "$root.new" apt-get -qq update
        "$here/in-root.sh" "$root.new" apt-get -qq -y --no-install-recommends install "$@" > "$root.log" 2>&1 ||
            { tail -n 20 "$root.log" >&2; exit 1; }
        "$here/in-root.sh" "$root.new" apt-get -qq clean
        mv "$root.new" "$root"
    fi
fi
cp -a --reflink=auto "$root/." "$directory"
