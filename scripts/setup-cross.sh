#!/usr/bin/env bash
# Installs compilers for other systems, and Wine with a prefix for the tests of Windows, on Debian 12. Idempotent.
set -euo pipefail
cd "$(dirname "$0")/.."

targets=(x86_64-pc-windows-gnu x86_64-unknown-linux-musl aarch64-unknown-linux-gnu aarch64-apple-darwin wasm32-unknown-unknown)
# MinGW with POSIX threads, which the standard library is linked with; the metapackage has more compilers.
packages=(gcc-mingw-w64-x86-64-posix musl-tools wine wine64)

mapfile -t missing < <(comm -23 <(printf '%s\n' "${targets[@]}" | sort) <(rustup target list --installed | sort))
[[ ${#missing[@]} -eq 0 ]] || rustup target add "${missing[@]}"

scripts/install-debian.sh "${packages[@]}"

# The same defaults as in run.sh, which runs the programs.
. scripts/wine/env.sh
[[ ! -e $WINEPREFIX/ready ]] || { echo "ready: $WINEPREFIX"; exit 0; }
rm -rf "$WINEPREFIX"
mkdir -p "$WINEPREFIX"
wine wineboot --init
registry() {
    wine reg add "$1" /v "$2" /t "$3" /d "$4" /f > /dev/null
}
# Without its 32-bit part, the prefix of Wine 8 has version 6.1, which is too old for Rust.
registry 'HKCU\Software\Wine' Version REG_SZ win10
# Crashed programs must end immediately. A debugger would print pages of text into their error output.
registry 'HKLM\Software\Microsoft\Windows NT\CurrentVersion\AeDebug' Debugger REG_SZ false
registry 'HKCU\Software\Wine\WineDbg' ShowCrashDialog REG_DWORD 0
# Wine 8 lacks this library, from which all programs of Rust import one function.
system="$WINEPREFIX/drive_c/windows/system32"
if [[ ! -e $system/bcryptprimitives.dll ]]; then
    x86_64-w64-mingw32-gcc -O2 -s -shared -o "$system/bcryptprimitives.dll" scripts/wine/bcryptprimitives.c -ladvapi32
fi
# Writes the registry to the disk.
wineserver --wait
touch "$WINEPREFIX/ready"
echo "ready: $WINEPREFIX"
