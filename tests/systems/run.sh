#!/bin/sh
# The program built for other systems gives the same results as the one of this machine:
#   tests/systems/run.sh FOLDER PROGRAM
# Builds are kept in FOLDER; PROGRAM is the one of this machine. What cannot be had here is skipped with a line.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
here=$2
. "$root/tests/systems/build.sh"

build wasm32-wasi
set -- "wasm=$python $root/tests/systems/wasm_run.py $folder/wasm32-wasi/coforest.wasm"
if [ "$(uname -s)" = Linux ]; then
    for processor in x86_64 aarch64; do
        run=
        [ "$processor" = "$(uname -m)" ] || run=$(command -v "qemu-$processor" || command -v "qemu-$processor-static") ||
            { echo "SKIPPED: qemu-$processor is not here" && continue; }
        build "$processor-linux-musl"
        set -- "$@" "musl-$processor=$run $folder/$processor-linux-musl/coforest"
    done
fi
if command -v wine >/dev/null; then
    export WINEPREFIX="$folder/wine" WINEDEBUG=-all
    build x86_64-windows-gnu
    wine "$folder/x86_64-windows-gnu/coforest.exe" --version >/dev/null 2>&1 # sets wine up
    python3 "$root/tests/systems/windows.py" --here "$here" --there "wine $folder/x86_64-windows-gnu/coforest.exe"
    set -- "$@" "windows=wine $folder/x86_64-windows-gnu/coforest.exe"
else
    echo "SKIPPED: the program for Windows is not run, because wine is not here (Debian: wine64)"
fi
build x86_64-macos
build aarch64-macos
echo "SKIPPED: the programs for macOS were built, but cannot be run here"
python3 "$root/tests/systems/run.py" --here "$here" "$@"
