#!/bin/sh
# Installs a build into an empty place and uses it from there in each way a programmer would.
#   tests/install/run.sh BUILD-DIR
set -eu
source_dir=$(cd "$(dirname "$0")/../.." && pwd)
build=$(cd "$1" && pwd)
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT

cmake --install "$build" --prefix "$place/usr" >/dev/null
"$place/usr/bin/coforest" --version
lib=$(dirname "$(find "$place/usr" -name libcoforest.a)")
for wanted in "$lib/libcoforest.so" "$place/usr/include/coforest.h" \
    "$place/usr/include/coforest_extra.h" "$place/usr/include/coforest_shard.h" "$place/usr/include/coforest_mpi.h" \
    "$place/usr/share/man/man1/coforest.1"; do
    test -e "$wanted" || { echo "not installed: $wanted"; exit 1; }
done

# Only public names leave the shared library.
leaked=$(nm -D --defined-only "$lib/libcoforest.so" | awk '$2 != "A" { print $3 }' | grep -v '^cof_' || true)
test -z "$leaked" || { echo "hidden names are visible: $leaked"; exit 1; }
# Its soname carries the major version.
readelf -d "$lib/libcoforest.so" | grep -q 'SONAME.*libcoforest\.so\.[0-9]'

cat >"$place/use.c" <<'END'
#include <coforest.h>
#include <stdio.h>
#include <string.h>
int main(void)
{
    cof_table *table;
    cof_model *model;
    cof_error err;
    cof_fit_options options;
    memset(&options, 0, sizeof options);
    options.struct_size = sizeof options;
    options.k = 3;
    if (cof_table_demo(NULL, &table, &err) != COF_OK) return 1;
    if (cof_fit(table, &options, &model, NULL, &err) != COF_OK) return 1;
    printf("%u clusters\n", (unsigned)cof_model_k(model));
    cof_model_free(model);
    cof_table_free(table);
    return 0;
}
END
cat >"$place/use_extra.c" <<'END'
#include <coforest_extra.h>
#include <stdio.h>
#include <string.h>
int main(void)
{
    static const double value[] = {0.9, 0.8, 0.7, 0.6, 0.5, 0.4};
    cof_table *table;
    cof_column column;
    cof_advice advice;
    cof_error err;
    double rank[3];
    memset(&column, 0, sizeof column);
    memset(&advice, 0, sizeof advice);
    column.struct_size = sizeof column;
    advice.struct_size = sizeof advice;
    if (cof_table_demo(NULL, &table, &err) != COF_OK) return 1;
    if (cof_table_column(table, 0, &column) != COF_OK) return 1;
    if (cof_column_advise(table, 0, COF_MISSING_VALUE, &advice, &err) != COF_OK) return 1;
    if (cof_friedman(NULL, value, 2, 3, 1, rank, NULL, &err) != COF_OK) return 1;
    printf("%s: %s; the first method ranks %g\n", column.name, advice.why, rank[0]);
    cof_table_free(table);
    return rank[0] == 1 ? 0 : 1;
}
END
export PKG_CONFIG_PATH="$lib/pkgconfig" LD_LIBRARY_PATH="$lib"
flags=$(pkg-config --cflags --libs coforest)
static=$(pkg-config --static --libs-only-other --libs-only-l coforest | sed "s|-lcoforest|$lib/libcoforest.a|")
# shellcheck disable=SC2086
{
    cc -std=c99 -Wall -Wextra -Wpedantic -Werror "$place/use.c" $flags -o "$place/use_c"
    c++ -x c++ -std=c++11 -Wall -Wextra -Wpedantic -Werror "$place/use.c" -x none $flags -o "$place/use_cpp"
    cc -std=c11 "$place/use.c" -I"$place/usr/include" $static -o "$place/use_static"
    cc -std=c99 -Wall -Wextra -Wpedantic -Werror "$place/use_extra.c" $flags -o "$place/extra_c"
    c++ -x c++ -std=c++11 -Wall -Wextra -Wpedantic -Werror "$place/use_extra.c" -x none $flags -o "$place/extra_cpp"
}
"$place/use_c"
"$place/use_cpp"
"$place/use_static"
"$place/extra_c"
"$place/extra_cpp"

mkdir "$place/project"
cp "$place/use.c" "$place/project"
cat >"$place/project/CMakeLists.txt" <<'END'
cmake_minimum_required(VERSION 3.16)
project(use C)
find_package(coforest 0.2 REQUIRED)
add_executable(use_shared use.c)
target_link_libraries(use_shared coforest::coforest)
add_executable(use_archive use.c)
target_link_libraries(use_archive coforest::static)
END
cmake -S "$place/project" -B "$place/project/build" -DCMAKE_PREFIX_PATH="$place/usr" >/dev/null
cmake --build "$place/project/build" >/dev/null
"$place/project/build/use_shared"
"$place/project/build/use_archive"
echo "installed from $source_dir and used from C, C++, pkg-config and CMake"
