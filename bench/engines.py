#!/usr/bin/env python3
"""What a request costs on each engine: fits a table of 40 rows over two shards, where passes take no time, and prints the
median of a request with quartiles. Then how long a default fit of 10,000 rows takes, with restarts that ask together and
one after the other (on Spark the former alone). Then draws which engine pays from how many rows on.

    bench/engines.py [--only process,coforest_mpi,mpi,dask,spark] [--build BUILD] [--no-fits]
                     [--rate ROWS] [--picture docs/images/engines.png]

Needs the package with its extras: pip install '.[dask,spark,mpi]' matplotlib; engines that are missing are left out with a
line. --build is a build with -DCOFOREST_BENCH=ON, for what coforest-mpi calls. --rate is how many rows a second one core
labels on the machine (`bench_passes`).
"""
import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import time

import numpy as np
import pandas as pd

import coforest
from coforest import _shards

NAMES = {"process": "one process", "coforest_mpi": "coforest-mpi", "mpi": "coforest.mpi", "dask": "Dask", "spark": "Spark"}
MPIRUN = ["mpirun", "--oversubscribe", "-n", "2"]
MPI_ENV = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}


def rows(n):
    """Rows around five modes, and so few values that they differ."""
    rng = np.random.default_rng(1)
    mode = rng.integers(0, 5, n)
    kept = rng.random((n, 20)) < 0.4
    cells = np.where(kept, (mode[:, None] + np.arange(20)) % 5, rng.integers(0, 5, (n, 20)))
    return pd.DataFrame({f"c{j}": cells[:, j] for j in range(20)}).astype(str)


class Plan:
    """The fits of one engine: their rows, the number of restarts and whether these ask together."""

    def __init__(self, given, patient=True):
        self.fits = [(40, 3, False)]
        if given.fits:
            self.fits += [(10000, "auto", True)] + [(10000, "auto", False)] * patient

    def run(self, engine, prepare, **parameters):
        """Per fit: the seconds of its requests, and its seconds."""
        made = type("TimedFit", (Timed, engine), {"__init__": engine.__init__})
        found, usual = [], _shards._SHARD_LABELS
        for n, n_init, together in self.fits:
            _shards._SHARD_LABELS = usual if together else 0
            table = prepare(rows(n))
            began = time.perf_counter()
            fitted = made(5, n_init=n_init, random_state=1, **parameters).fit(table)
            found.append((fitted.seconds if hasattr(fitted, "seconds") else [], time.perf_counter() - began))
        _shards._SHARD_LABELS = usual
        return found


class Timed:
    """Mixed into an estimator over shards: keeps the seconds of every request."""

    def _fit_parts(self, descriptions, ask):
        self.seconds = []

        def timed(*asked):
            began = time.perf_counter()
            answers = list(ask(*asked))
            self.seconds.append(time.perf_counter() - began)
            return answers

        return super()._fit_parts(descriptions, timed)


class InProcess(_shards.ShardedFit, coforest.COForest):
    def fit(self, X):
        half = len(X) // 2
        parts, key = [X.iloc[:half], X.iloc[half:]], object()

        def ask(schema, request):
            return [_shards.answer(part, (key, i), half * i, schema, request, 1) for i, part in enumerate(parts)]

        self._fit_parts([_shards.describe(part, half * i) for i, part in enumerate(parts)], ask)
        return self


def measure_process(given):
    return Plan(given).run(InProcess, lambda table: table)


def measure_rank(given):
    from mpi4py import MPI

    from coforest.mpi import COForest

    def own(table):
        half = len(table) // 2
        return table.iloc[half:] if MPI.COMM_WORLD.rank else table.iloc[:half]

    found = Plan(given).run(COForest, own)
    if MPI.COMM_WORLD.rank == 0:
        print(json.dumps(found))


def run_ranks(*command):
    if shutil.which("mpirun") is None:
        raise ImportError("there is no mpirun")
    done = subprocess.run([*MPIRUN, *command], env=MPI_ENV, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def measure_coforest_mpi(given):
    program = os.path.join(given.build or "", "bench", "bench_mpi_requests")
    if not os.path.exists(program):
        raise ImportError("--build names no build with MPI and -DCOFOREST_BENCH=ON")
    return [(run_ranks(program), 0)]


def measure_mpi(given):
    import mpi4py  # noqa: F401

    return run_ranks(sys.executable, __file__, "--rank", *([] if given.fits else ["--no-fits"]))


def measure_dask(given):
    import dask.dataframe as dd
    from dask.distributed import Client, LocalCluster

    from coforest.dask import COForest

    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster, Client(cluster):
        return Plan(given).run(COForest, lambda table: dd.from_pandas(table, npartitions=2))


def measure_spark(given):
    if shutil.which("java") is None:
        raise ImportError("there is no Java")
    from pyspark.sql import SparkSession

    from coforest.spark import COForest

    os.environ["PYSPARK_PYTHON"] = sys.executable
    session = (SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
               .config("spark.driver.host", "localhost").getOrCreate())
    session.sparkContext.setLogLevel("ERROR")

    def frame(table):
        return session.createDataFrame(table.assign(id=range(len(table))).values.tolist(), [*table.columns, "id"])

    try:
        return Plan(given, patient=False).run(COForest, frame, order_by="id")
    finally:
        session.stop()


def draw(found, rate, path):
    """Seconds of a pass against rows: one machine of 8 cores, and 8 such machines with each engine."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    cores, machines = 8, 8
    n = np.logspace(4, 10, 200)
    figure, axes = plt.subplots(figsize=(6.4, 3.8), constrained_layout=True)
    axes.plot(n, n / (rate * cores), color="#222222", linewidth=2, label="one machine")
    for (name, seconds), colour in zip(found.items(), ["#1f4e79", "#6a4c93", "#b5562b", "#4c8c4a"]):
        cost = statistics.median(seconds)
        axes.plot(n, cost + n / (rate * cores * machines), color=colour, label=f"{NAMES[name]}: {1e3 * cost:.3g} ms a request")
        pays = cost * rate * cores * machines / (machines - 1)
        axes.plot([pays], [pays / (rate * cores)], "o", color=colour)
        print(f"{NAMES[name]} on {machines} machines of {cores} cores is faster than one of them from {pays:,.0f} rows on")
    axes.set(xscale="log", yscale="log", xlabel="rows", ylabel="seconds a pass")
    axes.legend(frameon=False, fontsize=9)
    for side in "top", "right":
        axes.spines[side].set_visible(False)
    axes.set_title(f"{machines} machines of {cores} cores; a core labels {rate / 1e6:.0f} million rows a second", fontsize=9,
                   loc="left")
    figure.savefig(path, dpi=110)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--only", default=",".join(NAMES))
    parser.add_argument("--build")
    parser.add_argument("--no-fits", dest="fits", action="store_false")
    parser.add_argument("--rate", type=float, default=0)
    parser.add_argument("--picture")
    parser.add_argument("--rank", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.rank:
        return measure_rank(given)
    found = {}
    for name in given.only.split(","):
        try:
            (seconds, _), *fits = globals()[f"measure_{name}"](given)
        except ImportError as error:
            print(f"{NAMES[name]}: left out, {error}")
            continue
        low, middle, high = (1e3 * np.quantile(seconds, q) for q in (0.25, 0.5, 0.75))
        print(f"{NAMES[name]}: {middle:.3g} ms a request (quartiles {low:.3g} to {high:.3g}, {len(seconds)} requests, 2 shards)",
              flush=True)
        for (asked, took), how in zip(fits, ("restarts ask together", "one restart after the other")):
            print(f"{NAMES[name]}: a default fit of 10,000 x 20 rows, {how}: {len(asked)} requests, {took:.1f} s", flush=True)
        if name != "process":
            found[name] = seconds
    if given.picture and given.rate > 0:
        draw(found, given.rate, given.picture)


if __name__ == "__main__":
    main()
