#!/usr/bin/env python3
"""Prints the trustworthiness scikit-learn's t-SNE reaches on the planted table of tests/unit/test_tsne.c.

Run by hand (needs numpy and scikit-learn) when that table changes; the figures stand in the test."""
import numpy as np
from sklearn.manifold import TSNE, trustworthiness

N, L, O, MODES = 300, 12, 4, 6


def planted():
    state = 12345
    def draw(bound):
        nonlocal state
        state = (state * 1103515245 + 12345) % 2**31
        return (state >> 16) % bound
    modes = [[draw(O) for _ in range(L)] for _ in range(MODES)]
    rows = []
    for i in range(N):
        rows.append([draw(O) if draw(4) == 0 else modes[i % MODES][r] for r in range(L)])
    return np.array(rows)


codes = planted()
distance = (codes[:, None, :] != codes[None, :, :]).sum(2).astype(float)
for method in ("barnes_hut", "exact"):
    found = []
    for seed in range(5):
        xy = TSNE(metric="precomputed", init="random", method=method, random_state=seed,
                  perplexity=30).fit_transform(distance)
        found.append([trustworthiness(distance, xy, n_neighbors=k, metric="precomputed") for k in (5, 12)])
    print(method, "5 and 12 neighbours, mean and best of 5 seeds:", np.mean(found, 0).round(4), np.max(found, 0).round(4))
