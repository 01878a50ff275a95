#!/bin/sh
# The program built for other systems gives the same results as the one of this machine:
#   tests/systems/run.sh FOLDER PROGRAM
# Builds are kept in FOLDER; PROGRAM is the one of this machine. What cannot be had here is skipped with a line.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
mkdir -p "$1"
folder=$(cd "$1" && pwd)
here=$2
python=$folder/venv/bin/python

skip() {
    echo "SKIPPED: $1"
}

"$python" -c 'import wasmtime, ziglang' 2>/dev/null || {
    python3 -m venv --clear "$folder/venv" && "$python" -m pip -q install ziglang==0.17.0 wasmtime
} || { skip "other systems need ziglang and wasmtime from the package index" && exit 77; }
zig=$("$python" -c 'import ziglang, os; print(os.path.dirname(ziglang.__file__) + "/zig")')

build() { # TARGET
    cmake -S "$root" -B "$folder/$1" -DCMAKE_TOOLCHAIN_FILE="$root/cmake/zig.cmake" -DZIG="$zig" -DZIG_TARGET="$1" \
        -DCMAKE_BUILD_TYPE=Release -DCOFOREST_MPI=OFF -DCOFOREST_WERROR=ON >"$folder/$1.log" 2>&1 &&
        cmake --build "$folder/$1" --target coforest_cli -j "$(nproc)" >>"$folder/$1.log" 2>&1 ||
        { tail -n 30 "$folder/$1.log" && exit 1; }
}

build wasm32-wasi
set -- "wasm=$python $root/tests/systems/wasm_run.py $folder/wasm32-wasi/coforest.wasm"
if [ "$(uname -s)" = Linux ]; then
    for processor in x86_64 aarch64; do
        run=
        [ "$processor" = "$(uname -m)" ] || run=$(command -v "qemu-$processor" || command -v "qemu-$processor-static") ||
            { skip "qemu-$processor is not here" && continue; }
        build "$processor-linux-musl"
        set -- "$@" "musl-$processor=$run $folder/$processor-linux-musl/coforest"
    done
fi
python3 "$root/tests/systems/run.py" --here "$here" "$@"
