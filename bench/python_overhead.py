#!/usr/bin/env python3
"""What the Python package costs on top of the C library.

    python bench/python_overhead.py [--only tall,wide,strings,memory] [--repeat R] [--n-init I] [--rows N]

tall     COForest.fit on a pandas table of category dtype, 1,000,000 x 20, beside the library's own calls on the same codes
         (cof_table_from_codes and cof_fit): asked is at most 1.03 times.
wide     The same at 500 x 10,000, with one start and with as many as are made by default: asked is at most 1.30 times of the
         latter. A single start is over so soon that what pandas takes to hand out 10,000 columns shows.
strings  Columns of Python strings to codes, beside pandas' astype("category") column by column: asked is less. Once where
         equal strings are one object (as read_csv leaves them), once where every cell is an object of its own.
memory   10,000,000 x 20: the most memory that is taken while the table is made and fitted, above the table of the caller and
         the encoded one, which has a byte a cell; asked is at most 120 MB. Beside it what the library's calls take.

Everything runs on one thread and is interleaved; seconds are the processor's, which other work on the machine
disturbs less than the clock's; medians with the least and the most, ratios taken pair by pair, and of the least ones.
"""
import argparse
import ctypes
import gc
import statistics
import time

import numpy as np
import pandas

import coforest
from coforest import _core
from coforest._tables import columns_of


def seconds(work):
    gc.collect()
    began = time.process_time()
    work()
    return time.process_time() - began


def pairs(ours, theirs, repeat):
    """Times of both, taken in turn after one unmeasured round."""
    ours(), theirs()
    taken = [(seconds(ours), seconds(theirs)) if r % 2 else (seconds(theirs), seconds(ours))[::-1] for r in range(repeat)]
    return [a for a, _ in taken], [b for _, b in taken]


def spread(values, digits=3):
    return f"{statistics.median(values):.{digits}f} ({min(values):.{digits}f} to {max(values):.{digits}f})"


def show(title, name, work, reference, reference_work, repeat):
    ours, theirs = pairs(work, reference_work, repeat)
    print(f"{title}\n  {name:<28}{spread(ours)} s\n  {reference:<28}{spread(theirs)} s")
    print(f"  {'ratio':<28}{spread([a / b for a, b in zip(ours, theirs)])}; of the least ones {min(ours) / min(theirs):.3f}",
          flush=True)


def planted(n_rows, n_columns, n_values, k, seed=0, noise=0.5):
    """Codes around k modes, a share of the cells drawn at random; and the class of every row."""
    rng = np.random.default_rng(seed)
    modes = rng.integers(0, n_values, (k, n_columns))
    classes = rng.integers(0, k, n_rows)
    codes = modes[classes]
    random = rng.random(codes.shape) < noise
    codes[random] = rng.integers(0, n_values, int(random.sum()))
    return codes.astype(np.int32), classes


def categories_of(codes, names):
    """The codes as a pandas table of category dtype, and the words of every column."""
    words = [np.array([f"{name} value {v}" for v in range(int(codes.max()) + 1)], dtype=object) for name in names]
    columns = {name: pandas.Categorical.from_codes(codes[:, c], words[c]) for c, name in enumerate(names)}
    return pandas.DataFrame(columns), words


def fits(codes, n_init):
    """A fit through the estimator, one through the library's own calls, and the tables of both."""
    names = [f"c{c}" for c in range(codes.shape[1])]
    frame, words = categories_of(codes, names)

    def ours():
        coforest.COForest(5, n_init=n_init, random_state=1, n_jobs=1).fit(frame)

    def library():
        _core.fit(_core.table_from_codes(codes, names), 5, restarts=0 if n_init == "auto" else n_init, seed=1, threads=1)

    return ours, library, frame, words


def compare_fits(title, shape, n_init, repeat):
    ours, library, _, _ = fits(planted(*shape, 5, 5)[0], n_init)
    show(f"{title}: fit, category dtype, {shape[0]} x {shape[1]}, n_init={n_init!r}", "COForest.fit", ours,
         "the library on the codes", library, repeat)


def compare_wide(repeat):
    for n_init in (1, "auto"):
        compare_fits("wide", (500, 10_000), n_init, repeat)


def compare_strings(args):
    codes, _ = planted(args.rows, 20, 5, 5)
    names = [f"c{c}" for c in range(20)]
    _, words = categories_of(codes, names)
    shared = pandas.DataFrame({n: pandas.Series(words[c][codes[:, c]], dtype=object) for c, n in enumerate(names)})
    out = np.empty(args.rows, np.int32)

    def encode(frame):
        for name in names:
            _core.encode_objects(frame[name].to_numpy(), out)

    def as_category(frame):
        for name in names:
            frame[name].astype("category")

    show("strings to codes, equal strings one object", "coforest", lambda: encode(shared), "astype('category')",
         lambda: as_category(shared), args.repeat)
    fresh = pandas.DataFrame(
        {n: pandas.Series([(text + ".")[:-1] for text in shared[n]], dtype=object) for n in names})
    show("strings to codes, every cell its own object", "coforest", lambda: encode(fresh), "astype('category')",
         lambda: as_category(fresh), args.repeat)


def resident_mb(which):
    with open("/proc/self/status", encoding="ascii") as lines:
        return next(int(line.split()[1]) for line in lines if line.startswith(which)) / 1e3


def most_mb(work):
    """The most memory beyond what the process has now."""
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)  # what was freed before must not be taken again unseen
    with open("/proc/self/clear_refs", "w", encoding="ascii") as order:
        order.write("5")  # forget the most so far
    before = resident_mb("VmRSS")
    work()
    return resident_mb("VmHWM") - before


def compare_memory(n_rows=10_000_000, n_columns=20):
    codes = np.concatenate([planted(n_rows // 10, n_columns, 5, 5, seed)[0] for seed in range(10)])
    ours, library, frame, _ = fits(codes, 1)
    encoded = n_rows * n_columns / 1e6
    table = most_mb(lambda: columns_of(frame).table()) - encoded
    print(f"memory: {n_rows} x {n_columns}, one start, above the caller's table and {encoded:.0f} MB of the encoded one\n"
          f"  making the table            {table:.0f} MB\n  COForest.fit                {most_mb(ours) - encoded:.0f} MB\n"
          f"  the library on the codes    {most_mb(library) - encoded:.0f} MB", flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--only", default="tall,wide,strings,memory")
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--n-init", type=int, default=10)
    args = parser.parse_args()
    print(f"pandas {pandas.__version__}, NumPy {np.__version__}, coforest {coforest.__version__}")
    parts = {"tall": lambda: compare_fits("tall", (args.rows, 20), args.n_init, args.repeat),
             "wide": lambda: compare_wide(args.repeat),
             "strings": lambda: compare_strings(args), "memory": compare_memory}
    for part in args.only.split(","):
        parts[part]()


if __name__ == "__main__":
    main()
