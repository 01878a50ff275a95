# shellcheck shell=sh
# Sourced after `root` is set, with a folder as first argument: makes the folder, with zig and wasmtime in it, and defines
# `build TARGET`, which builds the program in $folder/TARGET. Exits with 77 where no package index can be reached.
mkdir -p "$1"
folder=$(cd "$1" && pwd)
python=$folder/venv/bin/python
"$python" -c 'import wasmtime, ziglang' 2>/dev/null || {
    python3 -m venv --clear "$folder/venv" && "$python" -m pip -q install ziglang==0.17.0 wasmtime
} || { echo "SKIPPED: other systems need ziglang and wasmtime from the package index" && exit 77; }
zig=$("$python" -c 'import ziglang, os; print(os.path.dirname(ziglang.__file__) + "/zig")')

build() {
    cmake -S "$root" -B "$folder/$1" -DCMAKE_TOOLCHAIN_FILE="$root/cmake/zig.cmake" -DZIG="$zig" -DZIG_TARGET="$1" \
        -DCMAKE_BUILD_TYPE=Release -DCOFOREST_MPI=OFF -DCOFOREST_WERROR=ON >"$folder/$1.log" 2>&1 &&
        cmake --build "$folder/$1" -j "$(nproc)" >>"$folder/$1.log" 2>&1 ||
        { tail -n 30 "$folder/$1.log" && exit 1; }
}
