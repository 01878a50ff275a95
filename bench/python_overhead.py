#!/usr/bin/env python3
"""What the Python package costs on top of the C library, on one table of 1,000,000 x 20.

    python bench/python_overhead.py [--rows N] [--repeat R] [--n-init I]

1. COForest.fit on a pandas table of category dtype, beside the library's own calls on the same codes
   (cof_table_from_codes and cof_fit): asked is at most 1.15 times.
2. Columns of Python strings to codes, beside pandas' astype("category") column by column: asked is less. Once where
   equal strings are one object (as read_csv leaves them), once where every cell is an object of its own.

Everything runs on one thread and is interleaved; seconds are the processor's, which other work on the machine
disturbs less than the clock's; medians with the least and the most, ratios taken pair by pair.
"""
import argparse
import gc
import statistics
import time

import numpy as np
import pandas

import coforest
from coforest import _core


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
    print(f"  {'ratio':<28}{spread([a / b for a, b in zip(ours, theirs)])}", flush=True)


def planted(n_rows, n_columns, n_values, k, seed=0, noise=0.5):
    """Codes around k modes, a share of the cells drawn at random; and the class of every row."""
    rng = np.random.default_rng(seed)
    modes = rng.integers(0, n_values, (k, n_columns))
    classes = rng.integers(0, k, n_rows)
    codes = modes[classes]
    random = rng.random(codes.shape) < noise
    codes[random] = rng.integers(0, n_values, int(random.sum()))
    return codes.astype(np.int32), classes


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--n-init", type=int, default=10)
    args = parser.parse_args()
    n_columns, n_values, k = 20, 5, 5
    codes, _ = planted(args.rows, n_columns, n_values, k)
    words = [np.array([f"c{c} value {v}" for v in range(n_values)], dtype=object) for c in range(n_columns)]
    names = [f"c{c}" for c in range(n_columns)]
    categories = pandas.DataFrame(
        {name: pandas.Categorical.from_codes(codes[:, c], words[c]) for c, name in enumerate(names)})
    print(f"{args.rows} x {n_columns}, {n_values} values, k = {k}, {args.n_init} starts, pandas {pandas.__version__}, "
          f"NumPy {np.__version__}, coforest {coforest.__version__}")

    def ours():
        coforest.COForest(k, n_init=args.n_init, random_state=1, n_jobs=1).fit(categories)

    def library():
        _core.fit(_core.table_from_codes(codes, names), k, restarts=args.n_init, seed=1, threads=1)

    show("fit, category dtype", "COForest.fit", ours, "the library on the codes", library, args.repeat)

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


if __name__ == "__main__":
    main()
