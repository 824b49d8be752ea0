#!/usr/bin/env bash
# Runs the checks for action.yml: `check-action.sh READYOK`, with the inputs of the action in the environment. Inputs
# are data, never part of a command.
set -uo pipefail

readyok=$1
mkdir -p "$REPORTS"
rm -f "$REPORTS"/{check.json,check.xml,check.md,badge.json}
options=(check --annotations --level "${LEVEL:-full}" --max-time "${MAX_TIME:-900}")
[[ -n $CLIENT ]] && options=(check --annotations --max-time "${MAX_TIME:-900}")
options+=(--json-file "$REPORTS/check.json" --junit "$REPORTS/check.xml")
options+=(--markdown "$REPORTS/check.md" --badge "$REPORTS/badge.json")
[[ $PROTOCOL == usi && -z $PROFILE ]] && options+=(--usi)
[[ -n $PROFILE ]] && options+=(--profile "$PROFILE")
[[ -n ${BASELINE:-} ]] && options+=(--baseline "$BASELINE")
# Split at whitespace, without quoting.
read -r -a more <<< "$ARGUMENTS"
options+=("${more[@]}")
if [[ -n $CLIENT ]]; then
    options+=(--gui -- bash -c "$CLIENT")
else
    options+=("$ENGINE")
fi

"$readyok" "${options[@]}"
status=$?
[[ -f $REPORTS/check.md ]] && cat "$REPORTS/check.md" >> "${GITHUB_STEP_SUMMARY:-/dev/null}"
case $status in
    0) verdict=conforms ;;
    1) verdict=violates ;;
    2) verdict=inconclusive ;;
    *) verdict=failed ;;
esac
# Without a report the engine or client could not be started.
[[ -f $REPORTS/check.json ]] || verdict=failed
printf 'status=%s\nverdict=%s\n' "$status" "$verdict" >> "${GITHUB_OUTPUT:-/dev/null}"
if [[ $verdict == inconclusive && ${FAIL_ON_INCONCLUSIVE:-false} != true ]]; then
    echo "::warning title=readyok::A must could not be checked. The report has the reasons."
    exit 0
fi
exit "$status"
