#!/bin/sh
# The adapters for engines: a fresh virtual environment with the package and each engine, and the tests beside this file.
#   tests/engines/run.sh VENV
# Exits with 77 where no package index can be reached, since nothing can be installed then.
set -eu
[ $# -eq 1 ] || { echo "usage: tests/engines/run.sh VENV" >&2; exit 2; }
venv=$1
cd "$(dirname "$0")/../.."
python3 -m venv --clear "$venv"
python=$venv/bin/python
export PIP_DISABLE_PIP_VERSION_CHECK=1
if ! "$python" -m pip download --quiet --retries 1 --timeout 20 --no-deps -d "$venv/reached" scikit-build-core; then
    echo "SKIPPED: the engines are not tested, because pip can reach no package index here"
    exit 77
fi
"$python" -m pip install --quiet '.[dask]' pytest
exec "$python" -m pytest -q -p no:cacheprovider -W ignore tests/engines
