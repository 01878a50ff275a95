"""Memory, threads, signals."""
import gc
import importlib.util
import os
import subprocess
import sys
import sysconfig
import threading
import time
import weakref

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


def copies_of_the_module():
    def copy():
        spec = importlib.util.spec_from_file_location("coforest._core", coforest._core.__file__)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module

    other = copy()
    codes = np.array([[0, 1], [1, 0], [0, 0]], np.int32)
    table = other.table_from_codes(codes, ["a", "b"])
    assert other.Table is not coforest._core.Table and isinstance(table, other.Table)
    with pytest.raises(TypeError, match="an object of .*Table.* is needed"):
        coforest._core.fit(table, 2)
    with pytest.raises(other.CoforestError) as caught:
        other.fit(table, 50)
    assert not isinstance(caught.value, coforest.CoforestError)
    gone = weakref.ref(other.Table)
    del other, caught
    gc.collect()
    assert table.shape == (3, 2)  # what an object needs of its module stays as long as the object
    del table
    gc.collect()
    assert gone() is None


def test_every_copy_of_the_module_has_its_own_types_and_goes_away():
    # in a new process, because a free-threaded Python 3.13 keeps every class for ever once a second thread was started
    script = "import test_lifetime; test_lifetime.copies_of_the_module()"
    subprocess.run([sys.executable, "-c", script], check=True, cwd=os.path.dirname(__file__))


def test_a_free_threaded_python_stays_free():
    script = "import sys, coforest; assert not getattr(sys, '_is_gil_enabled', lambda: False)(), 'the lock is back'"
    if not sysconfig.get_config_var("Py_GIL_DISABLED"):
        pytest.skip("this Python has the global lock")
    subprocess.run([sys.executable, "-W", "error", "-c", script], check=True)
