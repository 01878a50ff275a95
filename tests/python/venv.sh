# shellcheck shell=sh
# Sourced by tests/python/run.sh and tests/engines/run.sh from the project's folder: a fresh virtual environment in $venv,
# whose Python is $python. Exits with 77 where no package index can be reached, since nothing can be installed then.
python3 -m venv --clear "${venv:?}" # an empty name would clear the present folder
python=$venv/bin/python
export PIP_DISABLE_PIP_VERSION_CHECK=1
if ! "$python" -m pip download --quiet --retries 1 --timeout 20 --no-deps -d "$venv/reached" scikit-build-core; then
    echo "SKIPPED: $0 tests nothing, because pip can reach no package index here"
    exit 77
fi
