#!/bin/sh
# Builds the page and uses it in a browser:
#   tests/web/run.sh FOLDER PROGRAM
# The build is kept in FOLDER; PROGRAM is the one of this machine, whose results the page must give.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
here=$2
. "$root/tests/systems/build.sh"

build wasm32-wasi
exec python3 "$root/tests/web/run.py" --page "$folder/wasm32-wasi/coforest.html" --coforest "$here"
