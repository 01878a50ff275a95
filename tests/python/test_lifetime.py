"""Memory, threads, signals."""
import gc
import os
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import coforest


def resident_mb():
    with open("/proc/self/statm", encoding="ascii") as numbers:
        return int(numbers.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6


@pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="needs /proc")
def test_no_leak_over_a_thousand_fits():
    zoo = coforest.datasets.load_zoo()
    tables = [zoo.data, zoo.data.astype("category"), zoo.data.to_numpy(dtype=object).tolist(),
              np.random.default_rng(0).integers(0, 40, (1000, 12))]

    def work(times):
        for i in range(times):
            X = tables[i % len(tables)]
            model = coforest.COForest(7, n_init=1, random_state=i).fit(X, sample_weight=np.ones(len(X)))
            model.predict(X)
            model.transform(X)
            model.forest_[0].to_svg()
            coforest._core.model_from_bytes(model._model.to_bytes())
            for bad in (lambda: coforest.COForest(5000).fit(X), lambda: coforest.COForest(2).fit([["\0"], ["a"]])):
                with pytest.raises(coforest.CoforestError):
                    bad()
        gc.collect()

    work(200)
    before = resident_mb()
    work(1000)
    assert resident_mb() - before < 6, "a thousand fits may not keep memory"


def test_many_threads_at_once():
    zoo = coforest.datasets.load_zoo()
    expected = [coforest.COForest(7, random_state=s).fit_predict(zoo.data) for s in range(8)]
    shared = coforest.COForest(7, random_state=0).fit(zoo.data)
    wrong = []

    def work(s):
        for _ in range(10):
            if (coforest.COForest(7, random_state=s, n_jobs=2).fit_predict(zoo.data) != expected[s]).any():
                wrong.append(s)
            if (shared.predict(zoo.data) != expected[0]).any():
                wrong.append(-1)

    threads = [threading.Thread(target=work, args=(s,)) for s in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def big_table():
    return np.random.default_rng(0).integers(0, 8, (200_000, 20)).astype(np.int32)


def test_the_interpreter_goes_on_meanwhile():
    X = big_table()
    worker = threading.Thread(target=lambda: coforest.COForest(8, random_state=1, n_jobs=1, n_init=3).fit(X))
    turns, began = 0, time.perf_counter()
    worker.start()
    while worker.is_alive():
        time.sleep(0.005)
        turns += 1
    seconds = time.perf_counter() - began
    assert turns > 10 * seconds, "other threads must run while a fit does"


def test_callbacks_in_threads():
    zoo = coforest.datasets.load_zoo()
    counts = [0] * 4

    def work(t):
        def count(progress):
            counts[t] += 1

        coforest.COForest(7, random_state=t, callback=count).fit(zoo.data)

    threads = [threading.Thread(target=work, args=(t,)) for t in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert min(counts) > 10


def test_a_fit_inside_a_callback():
    zoo = coforest.datasets.load_zoo()
    inner = []

    def nested(progress):
        if not inner:
            inner.append(coforest.COForest(3, random_state=1).fit_predict(zoo.data))

    outer = coforest.COForest(7, random_state=1, callback=nested).fit(zoo.data)
    assert (inner[0] == coforest.COForest(3, random_state=1).fit_predict(zoo.data)).all()
    assert (outer.labels_ == coforest.COForest(7, random_state=1).fit_predict(zoo.data)).all()


INTERRUPTED = """
import os, signal, threading, time
import numpy as np, coforest
X = np.random.default_rng(0).integers(0, 8, (300_000, 20)).astype(np.int32)
signal.signal(signal.SIGINT, signal.default_int_handler)  # a background job may have it ignored
threading.Timer(1.0, os.kill, (os.getpid(), signal.SIGINT)).start()
began = time.perf_counter()
try:
    coforest.COForest(8, n_init=1000, random_state=1).fit(X)
except KeyboardInterrupt:
    print("interrupted", time.perf_counter() - began)
"""


def test_ctrl_c():
    out = subprocess.run([sys.executable, "-c", INTERRUPTED], capture_output=True, text=True, timeout=120)
    word, seconds = out.stdout.split()
    assert word == "interrupted" and float(seconds) < 10, out.stderr


def test_a_model_outlives_its_table_and_its_estimator():
    tree = coforest.COForest(2, random_state=1).fit([["a", "x"], ["b", "y"], ["a", "y"]]).forest_[0]
    gc.collect()
    assert tree.distance("a", "b") >= 0
