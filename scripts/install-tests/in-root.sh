#!/usr/bin/env bash
# Runs a command in a root directory, with an empty environment and the current directory /work. Needs root.
# Usage: in-root.sh ROOT COMMAND [ARGUMENT]…
set -euo pipefail
root=$(realpath "$1")
shift

mkdir -p "$root"/{dev,proc,tmp,work}
# The mounts end with the namespace.
# shellcheck disable=SC2016 # expanded by the inner shell
inside='root=$1; shift
    mount -t proc proc "$root/proc" && mount --bind /dev "$root/dev" && exec unshare --root "$root" --wd /work "$@"'
exec env -i HOME=/work PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin DEBIAN_FRONTEND=noninteractive \
    unshare --mount sh -c "$inside" sh "$root" "$@"
