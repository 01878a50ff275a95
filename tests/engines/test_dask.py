"""Fits over Dask: labels of the same fit on one machine, with workers that die."""
import os
import pathlib
import re
import signal
import subprocess
import sys
import threading

import numpy as np
import pandas as pd
import pytest

import coforest

dd = pytest.importorskip("dask.dataframe")
distributed = pytest.importorskip("distributed")
from coforest.dask import COForest  # noqa: E402


def planted(n=2000, seed=1):
    rng = np.random.default_rng(seed)
    group = rng.integers(0, 3, n)
    X = pd.DataFrame({f"c{j}": np.where(rng.random(n) < 0.6, (group * 7 + j) % 5, rng.integers(0, 5, n))
                      for j in range(6)}).astype(str)
    X["c2"] = X["c2"].astype("category")
    X["x"] = rng.normal(2.0 * group, 1)
    X.loc[rng.random(n) < 0.05, "c1"] = None
    return X


@pytest.fixture(scope="module")
def client():
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster:
        with distributed.Client(cluster) as opened:
            yield opened


def test_labels_are_those_of_one_machine(client):
    X = planted()
    whole = coforest.COForest(3, n_init=3, random_state=1).fit(X)
    ddf = dd.from_pandas(X, npartitions=5)
    model = COForest(3, n_init=3, random_state=1).fit(ddf)
    assert (model.labels_.compute() == whole.labels_).all()
    assert model.objective_ == whole.objective_ and model.log_likelihood_ == whole.log_likelihood_
    assert (model.predict(ddf).compute() == whole.predict(X)).all()


def test_paths_are_read_by_the_workers(client, tmp_path):
    X = planted()
    for part, rows in enumerate(np.array_split(np.arange(len(X)), 3)):
        X.iloc[rows].to_csv(tmp_path / f"part{part}.csv", index=False)
    paths = sorted(tmp_path.glob("*.csv"))
    model = COForest(3, n_init=2, random_state=1).fit(paths)
    read = pd.concat([pd.read_csv(path, dtype=str) for path in paths])
    assert (model.labels_.compute() == coforest.COForest(3, n_init=2, random_state=1).fit(read).labels_).all()


def test_a_worker_that_is_killed_changes_nothing(client):
    X = planted(seed=2)
    whole = coforest.COForest(3, n_init=4, random_state=1).fit(X)
    victim = min(client.run(os.getpid).values())
    seen = []

    def kill_once(progress):
        if not seen:
            seen.append(progress)
            threading.Thread(target=os.kill, args=(victim, signal.SIGKILL)).start()

    model = COForest(3, n_init=4, random_state=1, callback=kill_once).fit(dd.from_pandas(X, npartitions=4))
    assert seen, "no progress was told"
    assert (model.labels_.compute() == whole.labels_).all()
    assert victim not in client.run(os.getpid).values()


def test_what_cannot_be_done_is_said(client):
    ddf = dd.from_pandas(planted(200), npartitions=2)
    with pytest.raises(ValueError, match="sample_weight"):
        COForest(3).fit(ddf, sample_weight=[1])
    with pytest.raises(TypeError, match="Dask DataFrame"):
        COForest(3).fit(planted(200))
    with pytest.raises(coforest.CoforestError):
        COForest(3, quantities="scaled", random_state=1).fit(ddf)


def test_the_example_of_the_docs_runs(tmp_path):
    page = pathlib.Path(__file__).resolve().parents[2] / "docs" / "scale.md"
    program = tmp_path / "example.py"
    program.write_text(re.search(r"^```python\n(.*?)^```$", page.read_text(), re.DOTALL | re.MULTILINE).group(1))
    done = subprocess.run([sys.executable, program], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    labels, again = re.findall(r"\[[^]]*\]", done.stdout)
    assert labels == again and len(labels.split()) == 10
