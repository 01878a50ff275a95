"""Fits over Dask: labels of the same fit on one machine, with workers that die."""
import concurrent.futures
import os
import pathlib
import pickle
import re
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pandas as pd
import pytest

import coforest

dd = pytest.importorskip("dask.dataframe")
distributed = pytest.importorskip("distributed")
from coforest import _shards  # noqa: E402
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


def count_shards():
    """On a worker: counts the shards that are opened from now on, and notes their threads."""
    from coforest import _core

    plain = getattr(_core.shard_open, "plain", _core.shard_open)

    def counted(*arguments):
        counted.threads.append(arguments[3])
        return plain(*arguments)

    counted.threads, counted.plain = [], plain
    _core.shard_open = counted


def shards_opened():
    from coforest import _core

    return _core.shard_open.threads


def objects_kept(dask_worker):
    """Parts and shards that are alive on a worker."""
    import gc

    from coforest import _core, _shards

    gc.collect()
    parts = [value for value in gc.get_objects() if isinstance(value, (_shards.Part, _core.Shard))]
    return len(parts) + len([key for key in dask_worker.data if "Part" in str(key)])


def kept_after(client, seconds=10):
    """What workers keep, when Dask has had the time to release it."""
    until = time.monotonic() + seconds
    while any(kept := client.run(objects_kept).values()) and time.monotonic() < until:
        time.sleep(0.1)
    return list(kept)


@pytest.mark.parametrize("n_parts, n_fits", [(2, 1), (9, 1), (5, 3)])
def test_every_part_is_encoded_once_and_nothing_stays(client, n_parts, n_fits):
    X = [planted(600, seed) for seed in range(n_fits)]
    whole = [coforest.COForest(3, n_init=2, random_state=1).fit(rows).labels_ for rows in X]
    client.run(count_shards)
    with concurrent.futures.ThreadPoolExecutor(n_fits) as pool:
        models = list(pool.map(lambda rows: COForest(3, n_init=2, random_state=1).fit(dd.from_pandas(rows, npartitions=n_parts)),
                               X))
    opened = [threads for worker in client.run(shards_opened).values() for threads in worker]
    assert opened == [1] * (n_parts * n_fits), "one for each part, with the threads of its worker"
    assert not any(kept_after(client))
    for model, labels in zip(models, whole):
        assert (model.labels_.compute() == labels).all()


def test_a_fit_that_fails_or_is_cancelled_leaves_nothing(client):
    ddf = dd.from_pandas(planted(300), npartitions=3)

    def interrupt(progress):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        COForest(3, random_state=1, callback=interrupt).fit(ddf)
    with pytest.raises(coforest.CoforestError):
        COForest(400, random_state=1).fit(ddf)
    assert not any(kept_after(client))


def test_labels_have_the_partitions_and_the_index_of_the_rows(client):
    X = planted(400)
    X.index = np.arange(400)[::-1] * 3
    for ddf in (dd.from_pandas(X, npartitions=7, sort=False), dd.from_pandas(X, npartitions=3)):
        model = COForest(3, n_init=1, random_state=1).fit(ddf)
        both = ddf.assign(cluster=model.labels_, again=model.predict(ddf)).compute()
        assert model.labels_.npartitions == ddf.npartitions and (both["cluster"] == both["again"]).all()
        assert (model.labels_.compute().index == ddf.index.compute()).all() and both["cluster"].dtype == np.int32


def test_predict_computes_nothing_yet(client):
    X = planted(100)
    model = COForest(2, n_init=1, random_state=1).fit(dd.from_pandas(X, npartitions=2))

    def fail(frame):
        raise AssertionError("computed")

    labels = model.predict(dd.from_pandas(X, npartitions=2).map_partitions(fail, meta=X.head(0)))
    with pytest.raises(AssertionError, match="computed"):
        labels.compute()


def test_a_part_that_is_moved_or_written_to_disk_stays_the_same():
    X = planted(500)
    part = _shards.Part(X)
    description = part.describe(0)
    moved = pickle.loads(pickle.dumps(part))
    assert moved.describe(0) == description and len(moved) == 500 and (moved.index == X.index).all()
    assert len(pickle.loads(pickle.dumps(_shards.Part(X.head(0))))) == 0


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
