"""What the tests share. They run against the installed package, not against this tree."""
import os
import pathlib
import shutil
import sys

import pytest

import coforest

collect_ignore = ["test_arrow_producers.py"]  # a program of its own, run by the C tests

ROOT = pathlib.Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session")
def root():
    return ROOT


@pytest.fixture(scope="session")
def zoo():
    return coforest.datasets.load_zoo()


@pytest.fixture(scope="session")
def command():
    """The `coforest` that came with the package."""
    beside = pathlib.Path(sys.executable).parent / "coforest"
    found = str(beside) if beside.exists() else shutil.which("coforest")
    assert found, "the package brings no coforest command"
    return found


@pytest.fixture(autouse=True)
def no_display(monkeypatch, tmp_path):
    monkeypatch.setenv("MPLBACKEND", "Agg")
    monkeypatch.setitem(os.environ, "MPLCONFIGDIR", str(tmp_path))
