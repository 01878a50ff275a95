# shellcheck shell=sh
# Sourced after `root` is set, with a folder as first argument: makes the folder, with zig and wasmtime in it, and defines
# `build TARGET [CMAKE-OPTION...]`, which builds the program in $folder/TARGET; the target mingw is Windows by GCC, others are
# those of zig. Exits with 77 where no package index can be reached.
mkdir -p "$1"
folder=$(cd "$1" && pwd)
python=$folder/venv/bin/python
"$python" -c 'import wasmtime, ziglang' 2>/dev/null || {
    python3 -m venv --clear "$folder/venv" && "$python" -m pip -q install ziglang==0.17.0 wasmtime
} || { echo "SKIPPED: other systems need ziglang and wasmtime from the package index" && exit 77; }
zig=$("$python" -c 'import ziglang, os; print(os.path.dirname(ziglang.__file__) + "/zig")')

build() {
    target=$1
    shift
    toolchain=$root/cmake/zig.cmake
    [ "$target" != mingw ] || toolchain=$root/cmake/mingw.cmake
    cmake -S "$root" -B "$folder/$target" -DCMAKE_TOOLCHAIN_FILE="$toolchain" -DZIG="$zig" -DZIG_TARGET="$target" \
        -DCMAKE_BUILD_TYPE=Release -DCOFOREST_MPI=OFF -DCOFOREST_WERROR=ON "$@" >"$folder/$target.log" 2>&1 &&
        cmake --build "$folder/$target" -j "$(nproc)" >>"$folder/$target.log" 2>&1 ||
        { tail -n 30 "$folder/$target.log" && exit 1; }
}

# runs_windows TARGET: whether programs for it can be built and run here.
runs_windows() {
    command -v wine >/dev/null &&
        { [ "$1" != mingw ] || command -v x86_64-w64-mingw32ucrt-gcc || command -v x86_64-w64-mingw32-gcc-posix; } >/dev/null
}

# Sets wine up, and keeps its server running for some minutes, which makes programs start ten times as fast.
start_wine() {
    export WINEPREFIX="$folder/wine" WINEDEBUG=-all
    wineserver -p600 2>/dev/null || true
    wine cmd /c exit >/dev/null 2>&1
}
