#!/usr/bin/env python3
"""Writes scores_sklearn.csv: seeded labelings with the scores scikit-learn and SciPy give them.

    python3 -m venv /tmp/venv && /tmp/venv/bin/pip install scikit-learn scipy
    /tmp/venv/bin/python make_scores_sklearn.py > scores_sklearn.csv

Columns: clusters and classes (labels separated by blanks, sparse on purpose), then the scores.
"""
import numpy as np
import scipy
import sklearn
from scipy.optimize import linear_sum_assignment
from sklearn import metrics
from sklearn.metrics.cluster import contingency_matrix


def labelings(rng):
    """Shapes that differ: few or many groups on either side, equal, unrelated, noisy, lopsided, trivial."""
    for case in range(200):
        n = int(rng.choice([2, 3, 5, 10, 30, 100, 300]))
        a, b = (int(x) for x in rng.integers(1, max(2, min(n, 25)) + 1, size=2))
        classes = rng.integers(0, b, size=n)
        kind = case % 8
        if kind == 0:
            clusters = rng.integers(0, a, size=n)
        elif kind == 1:
            clusters = rng.permutation(b)[classes]
        elif kind == 2:
            clusters = np.where(rng.random(n) < 0.3, rng.integers(0, a, size=n), classes)
        elif kind == 3:
            clusters = classes * 3 + rng.integers(0, 3, size=n)
        elif kind == 4:
            clusters = classes // 2
        elif kind == 5:
            classes = np.minimum(rng.geometric(0.5, size=n), 30)
            clusters = np.where(rng.random(n) < 0.5, rng.geometric(0.3, size=n), classes)
        elif kind == 6:
            clusters = rng.permutation(n)
        else:
            clusters = np.zeros(n, dtype=int) if case % 16 == 7 else rng.integers(0, 2, size=n)
            classes = np.arange(n) if case % 32 == 7 else classes
        spread = rng.choice(2**31 - 1, size=2 * n + 200, replace=False) if case % 3 else np.arange(2 * n + 200)
        yield spread[clusters], spread[classes]


def accuracy(clusters, classes):
    table = contingency_matrix(clusters, classes)
    return table[linear_sum_assignment(-table)].sum() / len(classes)


def scores(clusters, classes):
    yield accuracy(clusters, classes)
    yield metrics.adjusted_rand_score(classes, clusters)
    yield metrics.normalized_mutual_info_score(classes, clusters, average_method="geometric")
    yield metrics.adjusted_mutual_info_score(classes, clusters)
    yield contingency_matrix(clusters, classes).max(axis=1).sum() / len(classes)
    yield from metrics.homogeneity_completeness_v_measure(classes, clusters)


def main():
    print(f"# scikit-learn {sklearn.__version__}, SciPy {scipy.__version__}, NumPy {np.__version__}, seed 1")
    print("clusters,classes,ca,ari,nmi,ami,purity,homogeneity,completeness,v_measure")
    for clusters, classes in labelings(np.random.default_rng(1)):
        texts = [" ".join(map(str, clusters)), " ".join(map(str, classes))]
        print(",".join(texts + [repr(float(x)) for x in scores(clusters, classes)]))


main()
