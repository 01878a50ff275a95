#!/bin/sh
# The adapters for engines: a fresh virtual environment with the package and each engine, and the tests beside this file.
#   tests/engines/run.sh VENV BUILD [SPARK]
# BUILD has coforest-mpi if MPI was found; without MPI its tests are left out. SPARK is a version of PySpark, for example 3.5: with
# it the tests of Spark alone are run.
# Exits with 77 where no package index can be reached, since nothing can be installed then.
set -eu
[ $# -eq 2 ] || [ $# -eq 3 ] || { echo "usage: tests/engines/run.sh VENV BUILD [SPARK]" >&2; exit 2; }
venv=$1
spark=${3-}
COFOREST_BUILD=$(cd "$2" && pwd)
export COFOREST_BUILD
cd "$(dirname "$0")/../.."
. tests/python/venv.sh
"$python" -m pip install --quiet '.[dask,spark]' pytest ${spark:+"pyspark==$spark.*"}
command -v java >/dev/null || echo "SKIPPED: Spark is not tested, because Java is not here (Debian: default-jre-headless)"
if [ -n "$spark" ]; then
    exec "$python" -m pytest -q -p no:cacheprovider -W ignore tests/engines/test_spark.py
fi
"$python" -m pip install --quiet mpi4py || echo "SKIPPED: coforest.mpi is not tested, because mpi4py cannot be had"
if ! command -v mpirun >/dev/null || [ ! -x "$COFOREST_BUILD/coforest-mpi" ]; then
    echo "SKIPPED: coforest-mpi is not tested, because MPI is not here (Debian: libopenmpi-dev openmpi-bin)"
fi
exec "$python" -m pytest -q -p no:cacheprovider -W ignore tests/engines
