# shellcheck shell=bash
# Settings of Wine for the tests, to be sourced.
export WINEPREFIX="${WINEPREFIX:-$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)/target/wine}"
# Warnings of Wine would be part of the error output of programs.
export WINEDEBUG="${WINEDEBUG:--all}"
# No dialogs that offer to install Mono and Gecko, no menu entries.
export WINEDLLOVERRIDES="mscoree=;mshtml=;winemenubuilder.exe="
unset DISPLAY WAYLAND_DISPLAY
# The installed engines are Linux programs: Wine can start them, but not put them into a job object.
unset READYOK_REAL_ENGINES
