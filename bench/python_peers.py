#!/usr/bin/env python3
"""coforest beside `kmodes` and scikit-learn's KMeans on one-hot columns: time and scores on the same tables.

    python bench/python_peers.py [--repeat R]

Ours is the default, and with ten starts as theirs have; all take one thread and begin from the pandas table a user
has: what each needs to encode it counts. Runs are interleaved, one seed per round; seconds are the processor's; times and
scores are medians with the least and the most, ratios (their time by ours) are taken round by round.
"""
import argparse
import os
import statistics
import time
import warnings

os.environ.setdefault("OMP_NUM_THREADS", "1")

import kmodes
import pandas
import sklearn
from kmodes.kmodes import KModes
from sklearn.cluster import KMeans
from sklearn.preprocessing import OneHotEncoder

import coforest
from python_overhead import planted


def ours(X, k, seed):
    return coforest.COForest(k, random_state=seed, n_jobs=1).fit_predict(X)


def ours_of_ten(X, k, seed):
    return coforest.COForest(k, n_init=10, random_state=seed, n_jobs=1).fit_predict(X)


def k_modes(X, k, seed):
    return KModes(k, n_init=10, random_state=seed).fit_predict(X)


def one_hot(X, k, seed):
    return KMeans(k, n_init=10, random_state=seed).fit_predict(OneHotEncoder().fit_transform(X))


METHODS = {"coforest": ours, "coforest, ten": ours_of_ten, "kmodes": k_modes, "KMeans one-hot": one_hot}


def tables():
    for name, load in (("Zoo", coforest.datasets.load_zoo), ("Voting", coforest.datasets.load_voting)):
        data = load()
        yield name, data.data.fillna("missing"), data.target, data.target.nunique()
    for n_rows, n_columns, k in ((2000, 20, 5), (20000, 20, 5)):
        codes, classes = planted(n_rows, n_columns, 5, k, seed=1, noise=0.7)
        frame = pandas.DataFrame(codes.astype(str).astype(object), columns=[f"c{c}" for c in range(n_columns)])
        yield f"planted {n_rows} x {n_columns}, 70 % noise", frame, classes, k


def spread(values, digits):
    return f"{statistics.median(values):.{digits}f} ({min(values):.{digits}f} to {max(values):.{digits}f})"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--repeat", type=int, default=5)
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    print(f"one thread, theirs ten starts; coforest {coforest.__version__}, kmodes {kmodes.__version__}, "
          f"scikit-learn {sklearn.__version__}, pandas {pandas.__version__}")
    for title, X, classes, k in tables():
        seconds = {name: [] for name in METHODS}
        scores = {name: [] for name in METHODS}
        ours(X, k, 0)
        one_hot(X, k, 0)
        for seed in range(args.repeat):
            for name, method in METHODS.items():
                began = time.process_time()
                labels = method(X, k, seed)
                seconds[name].append(time.process_time() - began)
                scores[name].append(coforest.metrics.evaluate(labels, classes))
        print(f"\n{title}, k = {k}")
        for name in METHODS:
            ratio = [a / b for a, b in zip(seconds[name], seconds["coforest"])]
            cells = "  ".join(f"{s.upper()} {spread([x[s] for x in scores[name]], 3)}" for s in ("ca", "ari", "nmi"))
            print(f"  {name:<15}{spread(seconds[name], 4)} s  {spread(ratio, 1)} x  {cells}", flush=True)


if __name__ == "__main__":
    main()
