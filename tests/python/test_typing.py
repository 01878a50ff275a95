"""The stubs are complete enough for strict type checkers."""
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
