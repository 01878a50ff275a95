#!/bin/bash
# tests/r/run.sh FOLDER: builds the R package, checks it as CRAN does, and runs its tests. Skipped without R.
set -u
folder=$1
root=$(cd "$(dirname "$0")/../.." && pwd)
command -v R >/dev/null && Rscript -e 'library(testthat)' >/dev/null 2>&1 || { echo "SKIPPED: R with testthat is not here"; exit 77; }
rm -rf "$folder" && mkdir -p "$folder" && cd "$folder" || exit 1
package=$("$root/bindings/r/build" .) || exit 1
[ "$(stat -c %s "$package")" -lt 1000000 ] || { echo "the source package is larger than 1 MB"; exit 1; }
export _R_CHECK_CRAN_INCOMING_=false _R_CHECK_FORCE_SUGGESTS_=false _R_CHECK_SYSTEM_CLOCK_=0 MAKEFLAGS=-j2
R CMD check --as-cran --no-manual "$package"
# nothing else may be said than that there is no network to ask for the time
notes=$(grep -cE '(NOTE|WARNING|ERROR)$' coforest.Rcheck/00check.log)
[ "$notes" -eq 0 ] || { echo "R CMD check reports $notes notes, warnings or errors"; exit 1; }
tail -n 3 coforest.Rcheck/tests/testthat.Rout
