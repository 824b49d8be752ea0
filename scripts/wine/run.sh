#!/usr/bin/env bash
# Runs a Windows program with Wine: the runner of cargo for x86_64-pc-windows-gnu. `scripts/setup-cross.sh` installs Wine.
set -euo pipefail
# shellcheck source=scripts/wine/env.sh
. "$(dirname "$0")/env.sh"
exec wine "$@"
