#!/usr/bin/env bash
# Fails if a workflow or action.yml uses an action of others without the hash of a commit and its version as a comment.
# Tags can be moved to other code; hashes cannot.
set -euo pipefail
cd "$(dirname "$0")/.."

found=$(grep -nE '^\s*(- )?uses:' .github/workflows/*.yml action.yml |
    grep -vE 'uses: (\./|[A-Za-z0-9_./-]+@[0-9a-f]{40} # v?[0-9][0-9a-zA-Z.-]*$)' || true)
if [[ -n $found ]]; then
    echo "$found" >&2
    echo "actions without a hash and a version" >&2
    exit 1
fi
echo "all actions have hashes"
