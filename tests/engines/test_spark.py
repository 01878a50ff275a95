"""Fits over Spark: labels of the same fit on one machine, with a Python worker that is killed."""
import os
import shutil
import signal
import subprocess
import sys
import threading

import numpy as np
import pandas as pd
import pytest

import coforest

pyspark = pytest.importorskip("pyspark")
pytestmark = pytest.mark.skipif(shutil.which("java") is None, reason="Java is not here")
from pyspark.sql import SparkSession  # noqa: E402

from coforest.spark import COForest  # noqa: E402


def planted(n=600, seed=1):
    rng = np.random.default_rng(seed)
    group = rng.integers(0, 3, n)
    X = pd.DataFrame({f"c{j}": np.where(rng.random(n) < 0.6, (group * 7 + j) % 5, rng.integers(0, 5, n))
                      for j in range(6)}).astype(str)
    X["x"] = rng.normal(2.0 * group, 1)
    X["n"] = rng.integers(0, 4, n)
    X.loc[rng.random(n) < 0.05, "c1"] = None
    return X


@pytest.fixture(scope="module", params=["local[2,4]", "local-cluster[2,1,1024]"])
def session(request):
    os.environ["PYSPARK_PYTHON"] = sys.executable
    opened = (SparkSession.builder.master(request.param).appName("coforest").config("spark.ui.enabled", "false")
              .config("spark.driver.host", "localhost").config("spark.sql.shuffle.partitions", "4").getOrCreate())
    opened.sparkContext.setLogLevel("ERROR")
    yield opened
    opened.stop()


def frame_of(session, X):
    """The rows of X in a random order, with their numbers."""
    numbered = X.assign(id=np.arange(len(X))).sample(frac=1, random_state=1)
    rows = [tuple(None if isinstance(value, float) and value != value or value is None else value for value in row)
            for row in numbered.astype(object).itertuples(index=False)]
    types = ", ".join([*(f"c{j} string" for j in range(6)), "x double", "n int", "id bigint"])
    return session.createDataFrame(rows, types)


def workers():
    """Python processes that run tasks: those that a daemon has forked."""
    daemons = subprocess.run(["pgrep", "-f", "pyspark.daemon"], capture_output=True, text=True).stdout.split()
    children = [subprocess.run(["pgrep", "-P", pid], capture_output=True, text=True).stdout.split() for pid in daemons]
    return sorted({int(pid) for found in children for pid in found} & {int(pid) for pid in daemons})


def test_labels_are_those_of_one_machine_when_a_worker_is_killed(session):
    X = planted()
    whole = coforest.COForest(3, n_init=1, random_state=1).fit(X)
    df, killed = frame_of(session, X), []

    def kill_once(progress):
        if not killed:
            killed.append(workers()[-1])
            threading.Thread(target=os.kill, args=(killed[0], signal.SIGKILL)).start()

    model = COForest(3, n_init=1, random_state=1, order_by="id", callback=kill_once).fit(df)
    assert killed and killed[0] not in workers()
    assert (model.labels_ == whole.labels_).all()
    assert model.objective_ == whole.objective_ and model.log_likelihood_ == whole.log_likelihood_
    found = model.transform(df).select("id", "cluster").toPandas().sort_values("id")
    assert (found["cluster"].to_numpy() == whole.predict(X)).all()


def test_paths_are_read_by_the_executors(session, tmp_path):
    X = planted(seed=2).drop(columns="x")
    paths = []
    for part, rows in enumerate(np.array_split(np.arange(len(X)), 3)):
        paths.append(tmp_path / (f"{part}.parquet" if part == 1 else f"{part}.csv"))
        getattr(X.iloc[rows], "to_parquet" if part == 1 else "to_csv")(paths[-1], index=False)
    model = COForest(3, n_init=1, random_state=1).fit(paths)
    assert (model.labels_ == coforest.COForest(3, n_init=1, random_state=1).fit(X).labels_).all()


def test_what_cannot_be_done_is_said(session):
    if session.sparkContext.master != "local[2,4]":
        return  # the same words; a cluster would only take longer
    df = frame_of(session, planted(60))
    with pytest.raises(ValueError, match="has no order of its rows; give order_by"):
        COForest(3).fit(df)
    with pytest.raises(Exception, match="order_by needs columns that tell every two rows apart"):
        COForest(3, order_by=["n"]).fit(df)
    with pytest.raises(ValueError, match="sample_weight"):
        COForest(3, order_by="id").fit(df, sample_weight=[1])
    with pytest.raises(TypeError, match="Spark DataFrame"):
        COForest(3).fit(planted(60))
    model = COForest(3, n_init=1, random_state=1, order_by="id").fit(df)
    with pytest.raises(ValueError, match='"cluster" already'):
        model.transform(df.withColumnRenamed("n", "cluster"))
    assert COForest(4, order_by="id").get_params()["order_by"] == "id"
