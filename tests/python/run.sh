#!/bin/sh
# The Python package as a user gets it: a fresh virtual environment, `pip install .` with NumPy alone, the first
# examples; then everything else installed that the tests want, and the tests. Ends with pytest's own summary.
#   tests/python/run.sh VENV [PYTEST-OPTIONS...]     VENV is made, or made anew
# Exits with 77 where no package index can be reached, since nothing can be installed then.
set -eu
[ $# -ge 1 ] || { echo "usage: tests/python/run.sh VENV [PYTEST-OPTIONS...]" >&2; exit 2; }
venv=$1
shift
cd "$(dirname "$0")/../.."
. tests/python/venv.sh
"$python" -m pip install --quiet .
"$python" tests/python/plain.py
"$python" -m pip install --quiet pytest scikit-learn pandas polars pyarrow matplotlib networkx
"$python" -m pip install --quiet stepmix || echo "SKIPPED: posteriors are not compared with StepMix's, which cannot be had"
"$python" -m pip install --quiet mypy || echo "SKIPPED: the stubs are not checked, because mypy cannot be had"
"$python" -m pip install --quiet kmodes || echo "SKIPPED: k-modes is not compared with the package kmodes, which cannot be had"
SCIPY_ARRAY_API=1 exec "$python" -m pytest -q -p no:cacheprovider -W ignore::UserWarning tests/python "$@"
