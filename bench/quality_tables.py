"""Seeded tables with known classes: every family of structure a table of categories may have, and none.

    python bench/quality_tables.py FOLDER      writes one CSV a table, the classes in the column "class"

A family is a function of a random generator that returns codes (rows x attributes) and classes. The tables made from
the measurements that come with scikit-learn (cut into equal-width classes) are real, and ordinal by nature."""
import pathlib
import sys

import numpy as np


def planted(rng, n=600, l=12, o=4, k=4, keep=0.6, sizes=None):
    """Each cluster has a mode; a cell is the mode's value with chance `keep`, else any value."""
    sizes = sizes if sizes is not None else [n // k] * k
    y = np.repeat(np.arange(k), sizes)
    modes = rng.integers(0, o, (k, l))
    x = np.where(rng.random((len(y), l)) < keep, modes[y], rng.integers(0, o, (len(y), l)))
    return x, y


def profiles(rng, n=800, l=10, o=5, k=5, alpha=0.7):
    """Each cluster has a distribution of its own for every attribute."""
    y = np.repeat(np.arange(k), n // k)
    x = np.empty((len(y), l), int)
    for r in range(l):
        p = rng.dirichlet(np.full(o, alpha), k)
        x[:, r] = [rng.choice(o, p=p[j]) for j in y]
    return x, y


def correlated(rng, n=600, k=3):
    """Informative attributes beside groups that move together and tell nothing about the classes."""
    x, y = planted(rng, n=n, l=8, o=4, k=k, keep=0.6)
    groups = []
    for _ in range(2):
        hidden = rng.integers(0, 3, len(y))
        groups += [np.where(rng.random(len(y)) < 0.7, hidden, rng.integers(0, 3, len(y))) for _ in range(2)]
    return np.column_stack([x] + groups), y


def ordinal(rng, n=600, l=8, k=4, levels=7, spread=0.9, apart=1.5):
    """Levels of a hidden quantity that lies around a different mean in every cluster."""
    y = np.repeat(np.arange(k), n // k)
    means = rng.normal(0, apart, (k, l))
    z = means[y] + rng.normal(0, spread, (len(y), l))
    return np.clip(np.round(z * 1.2 + levels / 2), 0, levels - 1).astype(int), y


def noisy(rng, n=600, k=3, informative=6, noise=24):
    x, y = planted(rng, n=n, l=informative, o=4, k=k, keep=0.75)
    return np.column_stack([x, rng.integers(0, 4, (len(y), noise))]), y


def many_values(rng, n=1500, l=6, o=40, k=4):
    """Each cluster favours a quarter of the values of every attribute."""
    y = np.repeat(np.arange(k), n // k)
    x = np.empty((len(y), l), int)
    for r in range(l):
        order = rng.permutation(o).reshape(k, o // k)
        own = order[rng.permutation(k)][y, rng.integers(0, o // k, len(y))]
        x[:, r] = np.where(rng.random(len(y)) < 0.55, own, rng.integers(0, o, len(y)))
    return x, y


def binary(rng, n=600, l=20, k=6):
    y = np.repeat(np.arange(k), n // k)
    p = np.where(rng.random((k, l)) < 0.5, 0.15, 0.85)
    return (rng.random((len(y), l)) < p[y]).astype(int), y


def uniform(rng, n=500, l=10, o=4):
    return rng.integers(0, o, (n, l)), np.zeros(n, int)


FAMILIES = {
    "planted_easy": lambda g: planted(g, keep=0.8),
    "planted_medium": lambda g: planted(g, keep=0.6),
    "planted_weak": lambda g: planted(g, keep=0.42),
    "planted_k8": lambda g: planted(g, n=800, k=8, l=16, keep=0.6),
    "profiles": profiles,
    "profiles_sharp": lambda g: profiles(g, l=6, alpha=0.3, k=7, n=700),
    "correlated": correlated,
    "ordinal": ordinal,
    "noise": noisy,
    "many_values": many_values,
    "imbalance_2": lambda g: planted(g, k=2, sizes=[2000, 20], keep=0.7),
    "imbalance_4": lambda g: planted(g, k=4, sizes=[1000, 300, 100, 10], keep=0.7),
    "small_n": lambda g: planted(g, n=60, l=100, o=4, k=3, keep=0.35),
    "binary": binary,
}


def synthetic(seed=1, copies=2):
    """(name, codes, classes) of every family, `copies` of each."""
    for f, (name, make) in enumerate(FAMILIES.items()):
        for copy in range(copies):
            x, y = make(np.random.default_rng([seed, f, copy]))
            yield f"{name}_{copy + 1}", x, y


def measured():
    """Measurements that come with scikit-learn, cut into equal-width classes."""
    from sklearn import datasets
    for name, load, bins in (("iris", datasets.load_iris, 5), ("wine", datasets.load_wine, 5),
                             ("breast_cancer", datasets.load_breast_cancer, 5), ("digits", datasets.load_digits, 3)):
        data = load()
        low, high = data.data.min(0), data.data.max(0)
        keep = high > low
        z = (data.data[:, keep] - low[keep]) / (high[keep] - low[keep])
        yield name, np.minimum((z * bins).astype(int), bins - 1), data.target


def write(path, x, y):
    with open(path, "w", encoding="utf-8") as out:
        out.write(",".join(f"a{r + 1}" for r in range(x.shape[1])) + ",class\n")
        for row, c in zip(x, y):
            out.write(",".join(map(str, row)) + f",{c}\n")


def write_all(folder):
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    for tables in (synthetic(), measured()):
        for name, x, y in tables:
            write(folder / f"{name}.csv", x, y)


if __name__ == "__main__":
    write_all(sys.argv[1])
