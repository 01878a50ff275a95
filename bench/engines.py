#!/usr/bin/env python3
"""What a request costs on each engine: fits a table of 40 rows over two shards, where passes take no time, and prints the
median of a request with quartiles. Then draws which engine pays from how many rows on.

    bench/engines.py [--only process,mpi,dask,spark] [--rate ROWS] [--picture docs/images/engines.png]

Needs the package with its extras: pip install '.[dask,spark,mpi]' matplotlib; engines that are missing are left out with a
line. --rate is how many rows a second one core labels on the machine (`coforest bench`).
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

NAMES = {"process": "one process", "mpi": "MPI", "dask": "Dask", "spark": "Spark"}


def rows():
    rng = np.random.default_rng(1)
    return pd.DataFrame({f"c{j}": rng.integers(0, 5, 40) for j in range(20)}).astype(str)


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


def timed_fit(engine, *arguments, n_init=3, **parameters):
    made = type("TimedFit", (Timed, engine), {"__init__": engine.__init__})
    return made(5, n_init=n_init, random_state=1, **parameters).fit(*arguments)


class InProcess(_shards.ShardedFit, coforest.COForest):
    def fit(self, X):
        parts = [X.iloc[:20], X.iloc[20:]]

        def ask(schema, request):
            return [_shards.answer(part, ("fit", i), 20 * i, schema, request, 1) for i, part in enumerate(parts)]

        self._fit_parts([_shards.describe(part, 20 * i) for i, part in enumerate(parts)], ask)
        return self


def measure_process():
    return timed_fit(InProcess, rows()).seconds


def measure_rank():
    from mpi4py import MPI

    from coforest.mpi import COForest

    fitted = timed_fit(COForest, np.array_split(rows(), 2)[MPI.COMM_WORLD.rank])
    if MPI.COMM_WORLD.rank == 0:
        print(json.dumps(fitted.seconds))


def measure_mpi():
    if shutil.which("mpirun") is None:
        raise ImportError("there is no mpirun")
    import mpi4py  # noqa: F401

    env = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    done = subprocess.run(["mpirun", "--oversubscribe", "-n", "2", sys.executable, __file__, "--rank"], env=env,
                          capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def measure_dask():
    import dask.dataframe as dd
    from dask.distributed import Client, LocalCluster

    from coforest.dask import COForest

    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster, Client(cluster):
        return timed_fit(COForest, dd.from_pandas(rows(), npartitions=2)).seconds


def measure_spark():
    if shutil.which("java") is None:
        raise ImportError("there is no Java")
    from pyspark.sql import SparkSession

    from coforest.spark import COForest

    os.environ["PYSPARK_PYTHON"] = sys.executable
    session = (SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
               .config("spark.driver.host", "localhost").getOrCreate())
    session.sparkContext.setLogLevel("ERROR")
    try:
        df = session.createDataFrame(rows().assign(id=range(40)).values.tolist(), [*rows().columns, "id"])
        return timed_fit(COForest, df, n_init=1, order_by="id").seconds
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
    for (name, seconds), colour in zip(found.items(), ["#1f4e79", "#b5562b", "#4c8c4a"]):
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
    parser.add_argument("--rate", type=float, default=0)
    parser.add_argument("--picture")
    parser.add_argument("--rank", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.rank:
        return measure_rank()
    found = {}
    for name in given.only.split(","):
        try:
            seconds = globals()[f"measure_{name}"]()
        except ImportError as error:
            print(f"{NAMES[name]}: left out, {error}")
            continue
        low, middle, high = (1e3 * np.quantile(seconds, q) for q in (0.25, 0.5, 0.75))
        print(f"{NAMES[name]}: {middle:.3g} ms a request (quartiles {low:.3g} to {high:.3g}, {len(seconds)} requests, 2 shards)",
              flush=True)
        if name != "process":
            found[name] = seconds
    if given.picture and given.rate > 0:
        draw(found, given.rate, given.picture)


if __name__ == "__main__":
    main()
