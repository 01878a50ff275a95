"""The stubs are complete enough for strict type checkers, and say what the modules have."""
import pathlib
import subprocess
import sys

import pytest


@pytest.mark.parametrize("checker, options", [("mypy", ["--strict"]), ("pyright", ["--pythonpath", sys.executable])])
def test_a_program_that_uses_everything(checker, options, tmp_path):
    pytest.importorskip(checker)
    example = pathlib.Path(__file__).parent / "typed_example.py"
    done = subprocess.run([sys.executable, "-m", checker, *options, str(example)], capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0, done.stdout


NOT_IN_STUBS = r"""
.*\.set_\w+_request
.*\.__(copy|deepcopy|sklearn_is_fitted|sklearn_tags)__
coforest\._sklearn\..*
coforest\._(encode\.tables_of|forest\.Found|kmodes\.nearest_rows)
coforest\.spark\.COForest\.__init__
"""  # made by scikit-learn, or not for users


def test_the_stubs_are_those_of_the_modules(tmp_path):
    pytest.importorskip("mypy")
    (tmp_path / "allowed").write_text(NOT_IN_STUBS.split('"""')[0].strip() + "\n")
    (tmp_path / "mypy.ini").write_text("[mypy]\nignore_missing_imports = True\ndisable_error_code = no-redef\n")
    done = subprocess.run([sys.executable, "-m", "mypy.stubtest", "coforest", "--concise", "--mypy-config-file", "mypy.ini",
                           "--allowlist", "allowed", "--ignore-unused-allowlist"], capture_output=True, text=True, cwd=tmp_path)
    missing = [line for line in done.stdout.splitlines() if not line.startswith(("coforest.dask", "coforest.spark", "coforest.mpi"))]
    assert missing == [], done.stdout
