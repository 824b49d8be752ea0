#!/usr/bin/env bash
# Runs the checks for action.yml: `check-action.sh <readyok>`, with the inputs of the action in the environment. Inputs
# are data, never part of a command.
set -uo pipefail

readyok=$1
mkdir -p "$REPORTS"
arguments=(check --junit "$REPORTS/check.xml" --markdown "$REPORTS/check.md")
[[ $PROTOCOL == usi && -z $PROFILE ]] && arguments+=(--usi)
[[ -n $PROFILE ]] && arguments+=(--profile "$PROFILE")
# Split at whitespace, without quoting.
read -r -a more <<< "$ARGUMENTS"
arguments+=("${more[@]}")
if [[ -n $CLIENT ]]; then
    arguments+=(--gui -- bash -c "$CLIENT")
else
    arguments+=("$ENGINE")
fi

"$readyok" "${arguments[@]}"
status=$?
echo "status=$status" >> "${GITHUB_OUTPUT:-/dev/null}"
[[ -f $REPORTS/check.md ]] && cat "$REPORTS/check.md" >> "${GITHUB_STEP_SUMMARY:-/dev/null}"
exit "$status"
