"""Seeded tables with known classes: every family of structure a table of categories may have, and none.

    python bench/quality_tables.py FOLDER      writes one CSV a table, the classes in the column "class"

A family is a function of a random generator that returns codes (rows x attributes) and classes. The tables made from
the measurements that come with scikit-learn (cut into classes of equal width or of equal share) are real, and ordinal by
nature.

The first 47 tables (with the real ones under COFOREST_DATA) served every earlier choice. `half` splits all tables by their
names alone into those that a choice may be made on and those that judge it."""
import hashlib
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


def dependent(rng, n=800, l=10, o=3, k=3, factors=2, strength=0.6, keep=0.5):
    """Inside every cluster, groups of attributes move together: a hidden factor of the row shifts the value."""
    sizes = rng.dirichlet(np.full(k, 4.)) * n
    y = np.repeat(np.arange(k), np.maximum(sizes.astype(int), 30))
    modes = rng.integers(0, o, (k, l))
    shift = rng.integers(1, o, (len(y), factors)) * (rng.random((len(y), factors)) < 0.5)
    moved = np.where(rng.random((len(y), l)) < strength, shift[:, np.arange(l) % factors], 0)
    x = np.where(rng.random((len(y), l)) < keep, modes[y], rng.integers(0, o, (len(y), l)))
    return (x + moved) % o, y


def chained(rng, n=900, l=9, o=4, k=4, copy=0.5, alpha=0.6):
    """Each attribute repeats its left neighbour with chance `copy`, in every cluster alike, else follows its profile."""
    x, y = profiles(rng, n=n, l=l, o=o, k=k, alpha=alpha)
    for r in range(1, l):
        x[:, r] = np.where(rng.random(len(y)) < copy, x[:, r - 1], x[:, r])
    return x, y


def survey(rng, n=700, l=15, k=3, levels=5):
    """Answers on a scale: class means, a general leaning of the person, and a habit of extreme answers."""
    y = rng.choice(k, n, p=np.arange(k, 0, -1) / (k * (k + 1) / 2))
    z = rng.normal(0, 0.7, (k, l))[y] + rng.normal(0, 0.6, (n, 1)) + rng.normal(0, 1, (n, l))
    return np.clip(np.round(z * rng.uniform(0.7, 1.6, (n, 1)) + (levels - 1) / 2), 0, levels - 1).astype(int), y


def unequal(rng, l=12, o=4, k=4, n=900, ratio=3., keep=0.5):
    """Every class is `ratio` times as large as the next."""
    share = ratio ** -np.arange(k, dtype=float)
    return planted(rng, l=l, o=o, k=k, sizes=(share / share.sum() * n).astype(int) + 5, keep=keep)


def deciding(rng, n=5000, groups=4):
    """One column of 40 values decides the class, the second overlaps, the third is noise."""
    y = rng.integers(0, groups, n)
    country = y * 10 + rng.integers(0, 10, n)
    return np.column_stack([country, y * 5 + rng.integers(0, 7, n), rng.integers(0, 2, n)]), y


def duplicates(rng, n=3000, l=5, k=4, keep=0.75):
    """Few distinct rows, each many times."""
    return planted(rng, n=n, l=l, o=3, k=k, keep=keep)


def nested(rng, n=900, l=12, k=3, inner=2, keep=0.6):
    """Classes that have two kinds within: half of the attributes tell the classes, a third the kinds."""
    y = rng.integers(0, k, n)
    kind = y * inner + rng.integers(0, inner, n)
    outer, own = rng.integers(0, 4, (k, l)), rng.integers(0, 4, (k * inner, l))
    modes = np.where(np.arange(l) % 3 == 2, own[kind], outer[y])
    return np.where(rng.random((n, l)) < keep, modes, rng.integers(0, 4, (n, l))), y


NEW_FAMILIES = {
    "dependent": dependent,
    "dependent_binary": lambda g: dependent(g, l=16, o=2, k=3, factors=3, keep=0.7, strength=0.4),
    "chained": chained,
    "survey": survey,
    "unequal": unequal,
    "unequal_two": lambda g: unequal(g, k=2, ratio=6., keep=0.4, l=8),
    "deciding": deciding,
    "duplicates": duplicates,
    "nested": nested,
}


def of_rows(n):
    """The families with n rows, for choices that only larger tables meet."""
    return {
        "planted_easy": lambda g: planted(g, n=n, keep=0.8),
        "planted_medium": lambda g: planted(g, n=n, keep=0.6),
        "planted_weak": lambda g: planted(g, n=n, keep=0.42),
        "planted_k8": lambda g: planted(g, n=n, k=8, l=16, keep=0.6),
        "planted_k20": lambda g: planted(g, n=n, k=20, l=22, o=6, keep=0.5),
        "planted_k40": lambda g: planted(g, n=n, k=40, l=22, o=6, keep=0.45),
        "profiles": lambda g: profiles(g, n=n),
        "profiles_sharp": lambda g: profiles(g, l=6, alpha=0.3, k=7, n=n),
        "correlated": lambda g: correlated(g, n=n),
        "ordinal": lambda g: ordinal(g, n=n),
        "noise": lambda g: noisy(g, n=n),
        "many_values": lambda g: many_values(g, n=n),
        "imbalance_2": lambda g: planted(g, k=2, sizes=[n - n // 100, n // 100], keep=0.7),
        "imbalance_4": lambda g: planted(g, k=4, sizes=[n * 70 // 100, n * 21 // 100, n * 7 // 100, n // 150], keep=0.7),
        "binary": lambda g: binary(g, n=n),
        "dependent": lambda g: dependent(g, n=n),
        "dependent_binary": lambda g: dependent(g, n=n, l=16, o=2, k=3, factors=3, keep=0.7, strength=0.4),
        "chained": lambda g: chained(g, n=n),
        "survey": lambda g: survey(g, n=n),
        "unequal": lambda g: unequal(g, n=n),
        "unequal_two": lambda g: unequal(g, n=n, k=2, ratio=6., keep=0.4, l=8),
        "deciding": lambda g: deciding(g, n=n),
        "duplicates": lambda g: duplicates(g, n=n),
        "nested": lambda g: nested(g, n=n),
    }


def synthetic(families=None, seed=1, copies=2):
    """(name, codes, classes) of every family, `copies` of each."""
    for f, (name, make) in enumerate((families or FAMILIES).items()):
        for copy in range(copies):
            x, y = make(np.random.default_rng([*np.atleast_1d(seed), f, copy]))
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


def cut(values, bins, share):
    """Classes of equal share of the rows (ties stay together), or of equal width."""
    if share:
        order = np.sort(values, 0)
        rank = np.column_stack([(np.searchsorted(order[:, r], values[:, r], "left")
                                 + np.searchsorted(order[:, r], values[:, r], "right")) / 2 for r in range(values.shape[1])])
        return (rank * bins / len(values)).astype(int)
    low, high = values.min(0), values.max(0)
    return np.minimum(((values - low) / np.where(high > low, high - low, 1) * bins).astype(int), bins - 1)


def new_measured():
    """Other cuts and other columns of the same measurements; the diabetes scores in thirds."""
    from sklearn import datasets
    iris, wine, cancer, digits, sugar = (load() for load in (
        datasets.load_iris, datasets.load_wine, datasets.load_breast_cancer, datasets.load_digits, datasets.load_diabetes))
    yield "iris_share", cut(iris.data, 4, True), iris.target
    yield "iris_three", cut(iris.data, 3, False), iris.target
    yield "wine_share", cut(wine.data, 4, True), wine.target
    yield "wine_binary", cut(wine.data, 2, True), wine.target
    for name, first in (("mean", 0), ("error", 10), ("worst", 20)):
        yield f"cancer_{name}", cut(cancer.data[:, first:first + 10], 4, True), cancer.target
    yield "cancer_width", cut(cancer.data[:, :10], 3, False), cancer.target
    blocks = digits.data.reshape(-1, 4, 2, 4, 2).sum((2, 4)).reshape(-1, 16)
    yield "digits_blocks", cut(blocks, 4, True), digits.target
    for name, which in (("digits_0to4", (0, 1, 2, 3, 4)), ("digits_389", (3, 8, 9)), ("digits_17", (1, 7))):
        rows = np.isin(digits.target, which)
        yield name, cut(digits.data[rows], 2, False), np.searchsorted(which, digits.target[rows])
    yield "diabetes_thirds", cut(sugar.data, 4, True), cut(sugar.target[:, None], 3, True)[:, 0]


def half(name):
    """Whether a choice may be made on the table or is judged by it; the name alone decides."""
    return "judging" if hashlib.sha256(name.encode()).digest()[0] % 2 else "choosing"


def write(path, x, y):
    with open(path, "w", encoding="utf-8") as out:
        out.write(",".join(f"a{r + 1}" for r in range(x.shape[1])) + ",class\n")
        for row, c in zip(x, y):
            out.write(",".join(map(str, row)) + f",{c}\n")


def write_all(folder):
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    for tables in (synthetic(), measured(), synthetic(NEW_FAMILIES, seed=2), new_measured()):
        for name, x, y in tables:
            write(folder / f"{name}.csv", x, y)


def write_of_rows(folder, n):
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    for name, x, y in synthetic(of_rows(n), seed=[3, n]):
        write(folder / f"{name}_of_{n}.csv", x, y)


if __name__ == "__main__":
    write_all(sys.argv[1])
