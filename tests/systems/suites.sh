#!/bin/sh
# The unit tests and the suite of the command line on other systems:
#   tests/systems/suites.sh FOLDER [TARGET...]
# Builds are kept in FOLDER. TARGET is wasm32-wasi (by wasmtime), x86_64-windows-gnu (by wine) or mingw (Windows again, but
# compiled by GCC); without one all three. tests/systems/not_run.txt lists what does not run there, and why.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
targets="wasm32-wasi x86_64-windows-gnu mingw"
[ $# -le 1 ] || targets=$(shift && echo "$*")
. "$root/tests/systems/build.sh"
export COF_ONE_IN="${COF_ONE_IN:-8}"
# the folder itself, since WASI follows no link to it
data=$root/../shared/data
[ -n "${COFOREST_DATA:-}" ] || [ ! -d "$data" ] || COFOREST_DATA=$(cd "$data" && pwd -P)
[ -z "${COFOREST_DATA:-}" ] || export COFOREST_DATA
failed=0

# suites SYSTEM TARGET COMMAND PROGRAM NAME: COMMAND runs programs, PROGRAM is the command line, which calls itself NAME
suites() {
    printf '#!/bin/sh\nexec %s %s "$@"\n' "$3" "$4" >"$folder/$2/coforest-run"
    chmod +x "$folder/$2/coforest-run"
    echo "$2: unit tests"
    python3 "$root/tests/systems/unit.py" "$1" "$folder/$2/tests" "$3" || failed=1
    echo "$2: command line"
    python3 "$root/tests/cli/run.py" --system "$1" --coforest "$folder/$2/coforest-run" --called "$5" || failed=1
}

for target in $targets; do
    case $target in
    wasm32-wasi)
        build $target -DCOFOREST_TESTS=ON
        suites wasi $target "$python $root/tests/systems/wasm_run.py" "$folder/$target/coforest.wasm" coforest
        ;;
    *)
        runs_windows "$target" || { echo "SKIPPED: programs for $target cannot be built or run here" && continue; }
        system=windows
        [ "$target" != mingw ] || system=mingw
        build "$target" -DCOFOREST_TESTS=ON
        start_wine
        suites $system "$target" wine "$folder/$target/coforest.exe" "Z:$folder/$target/coforest.exe"
        ;;
    esac
done
exit $failed
