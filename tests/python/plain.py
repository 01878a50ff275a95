"""What must work with NumPy alone; run by run.sh before anything else is installed."""
import importlib.util
import os
import pathlib
import pickle
import tempfile

import numpy as np
import snippets

import coforest

ROOT = pathlib.Path(__file__).resolve().parents[2]


def without(*modules):
    there = [m for m in modules if importlib.util.find_spec(m) is not None]
    assert not there, f"this is meant to run without {there}"


def estimator_without_scikit_learn():
    zoo = coforest.datasets.load_zoo()
    assert isinstance(zoo.data, np.ndarray) and zoo.data.shape == (101, 16)
    model = coforest.COForest(7, random_state=1)
    assert repr(model) == "COForest(n_clusters=7, random_state=1)"
    assert model.set_params(n_init=5).get_params()["n_init"] == 5
    labels = model.fit_predict(zoo.data)
    assert (pickle.loads(pickle.dumps(model)).predict(zoo.data) == labels).all()
    assert model.fit_transform(zoo.data).shape == (101, 7)
    assert (coforest.COForest(7, n_init=5, random_state=1).fit_predict(zoo.data.tolist()) == labels).all()
    try:
        coforest.COForest(2).predict(zoo.data)
        raise AssertionError("an estimator that was not fitted predicted")
    except ValueError as error:
        assert "not fitted" in str(error)
    try:
        coforest.plots.plot_convergence(model)
        raise AssertionError("a plot was drawn without matplotlib")
    except ImportError as error:
        assert "coforest[plot]" in str(error)


def first_examples():
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        snippets.run(snippets.blocks(ROOT / "docs" / "python.md")[:1], "docs/python.md")
        readme = ROOT / "README.md"
        if readme.exists():
            snippets.run(snippets.blocks(readme), "README.md")
        os.chdir(ROOT)


without("sklearn", "pandas", "polars", "pyarrow", "matplotlib", "scipy", "tqdm")
estimator_without_scikit_learn()
first_examples()
print("NumPy alone: the package works")
