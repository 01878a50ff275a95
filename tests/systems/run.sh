#!/bin/sh
# The program built for other systems gives the same results as the one of this machine:
#   tests/systems/run.sh FOLDER PROGRAM [TARGET...]
# Builds are kept in FOLDER; PROGRAM is the one of this machine. Without targets all are built: wasm32-wasi, two of Linux with
# musl, Windows (by zig and, as mingw, by GCC) and two of macOS. What cannot be had or run here is skipped with a line.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
here=$2
targets="wasm32-wasi x86_64-linux-musl aarch64-linux-musl x86_64-windows-gnu mingw x86_64-macos aarch64-macos"
[ $# -le 2 ] || targets=$(shift 2 && echo "$*")
. "$root/tests/systems/build.sh"

# What runs the program for a target; nothing if this machine does.
runner() {
    case $1 in
    "$(uname -m)"-linux-*) ;;
    *-linux-*) command -v "qemu-${1%%-*}" || command -v "qemu-${1%%-*}-static" ;;
    *-windows-* | mingw) runs_windows "$1" && command -v wine ;;
    *) false ;;
    esac
}

set --
page=
for target in $targets; do
    program=$folder/$target/coforest
    case $target in
    wasm32-wasi)
        build $target
        set -- "$@" "wasm=$python $root/tests/systems/wasm_run.py $program.wasm"
        page="--page=$program.html"
        continue
        ;;
    *-windows-* | mingw) program=$program.exe ;;
    *-macos) build "$target" ;;
    esac
    run=$(runner "$target") || { echo "SKIPPED: the program for $target cannot be run here" && continue; }
    build "$target"
    case $target in
    *-windows-* | mingw)
        start_wine
        python3 "$root/tests/systems/windows.py" --here "$here" --there "wine $program"
        ;;
    esac
    set -- "$@" "$target=$run $program"
done
python3 "$root/tests/systems/run.py" --here "$here" ${page:+"$page"} "$@"
