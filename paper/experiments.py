"""The experiments: what each one runs. How it is drawn is in figures.py, how it is told in page.py.

Each function returns what it found, by dataset in the paper's order, or an empty dict; `lab` runs the fits or takes
those that are kept."""
import csv
import itertools
import json
import pathlib
import tempfile

import numpy as np

import printed

PAPER_START = ["--init", "random", "--variant", "authors"]
ABLATIONS = {"cof4": "COF IV, Hamming", "cof3": "COF III, complete graph", "cof2": "COF II, line graph",
             "cof1": "COF I, forest built once", "coforest": "COForest"}
GRAPHS = {"rgg": "RGG, random graphs", "rglg": "RGLG, lines in random order", "fcg": "FCG, complete graphs",
          "slg": "SLG, lines in semantic order"}
MIXED = {"k-prototypes": "k-prototypes", "ek-prototypes": "ek-prototypes", "coforest": "COForest"}
MAPS = {"cbdm": "CBDM", "adc": "ADC", "coforest": "COForest"}
NEIGHBOURS = 10


def over_tables(tables, run):
    found = {dataset.abbrev: run(dataset, path) for dataset, path in tables}
    return {abbrev: one for abbrev, one in found.items() if one is not None}


# ---- Tables: eleven methods on twelve datasets, and our defaults beside them

def tables(lab):
    def run(dataset, path):
        part = f"tables, {dataset.abbrev}"
        found = lab.compare(part, dataset, path, list(printed.METHODS.values()), lab.pool(path))
        defaults = [lab.fit(f"{part}, defaults", dataset, path, ["--seed", str(seed)])
                    for seed in range(1, min(lab.runs, printed.RUNS) + 1)]
        if found is None or None in defaults:
            return None
        return {**found, "default": np.array([one["scores"] for one in defaults])}
    return over_tables(lab.tables, run)


def ablation(lab):
    return over_tables(lab.tables, lambda dataset, path: lab.compare(
        f"ablation, {dataset.abbrev}", dataset, path, list(ABLATIONS), lab.pool(path)))


def toy(lab):
    """One trial is one structure and one start; FCG and SLG have only the start to vary."""
    def run(dataset, path):
        part = f"toy, {dataset.abbrev}"
        drawn = lab.compare(part, dataset, path, ["rgg", "rglg"], 12 if lab.quick else 50)
        fixed = lab.compare(part, dataset, path, ["fcg", "slg"], lab.runs)
        return None if drawn is None or fixed is None else {**drawn, **fixed}
    return over_tables(lab.tables, run)


def mixed(lab):
    return over_tables(lab.mixed, lambda dataset, path: lab.compare(
        f"mixed, {dataset.abbrev}", dataset, path, list(MIXED), lab.pool(path)))


# ---- Convergence: L in every pass

def count_rises(passes):
    """Passes, passes in which L rose under one forest, passes with a new forest in which it rose."""
    rises = [0, 0]
    for before, after in zip(passes, passes[1:]):
        if after["objective"] > before["objective"] * (1 + 1e-12):
            rises[after["rebuild"] != before["rebuild"]] += 1
    return [len(passes), *rises]


def convergence(lab):
    def run(dataset, path):
        options = [*PAPER_START, "--seed", "1", "--restarts", str(lab.pool(path))]
        found = lab.fit(f"convergence, {dataset.abbrev}", dataset, path, options, "--history")
        if found is None:
            return None
        records = map(json.loads, found["lines"])
        starts = [list(group) for _, group in itertools.groupby(records, lambda one: one["restart"])]
        return {"curve": [(one["pass"], one["objective"], one["rebuild"]) for one in starts[0]],
                "runs": np.array([count_rises(one) for one in starts])}
    return over_tables(lab.tables, run)


# ---- Time: against rows and against attributes, on tables without structure

def time_axes(lab):
    """{axis: (fixed size, sizes)}; n are rows, l attributes."""
    return {"n": (20, range(2000, 10001, 2000)) if lab.quick else (20, range(10000, 100001, 10000)),
            "l": (500, range(50, 251, 50)) if lab.quick else (2000, range(1000, 10001, 1000))}


def time_cap(lab):
    """Methods that compare all pairs of attributes need hours at l = 10,000: a point that is likely to take longer
    than this many seconds of the processor is left out, and so are those after it."""
    return 1 if lab.quick else 30


def time_one(lab, axis, size, other, method, table):
    """Seconds of the processor, seconds by the clock and passes of one fit by one thread; None if it has no result."""
    def compute():
        n_rows, n_columns = (size, other) if axis == "n" else (other, size)
        if not table.exists():
            lab.call(["generate", "--kind", "uniform", "--rows", n_rows, "--columns", n_columns, "--values", 5,
                      "--seed", 1, "--out", table])
        told = lab.call(["fit", table, "-k", 5, "--method", method, *PAPER_START, "--restarts", 1, "--seed", 1,
                         "--threads", 1, "--json"])
        if told is None:
            return None
        told = json.loads(told)
        return [told["timings"]["processor_s"], told["timings"]["fit_s"], told["passes"]]
    return lab.keep(f"time, {axis} = {size}, {method}", ["time", axis, size, other, method], compute)


def time(lab):
    """{axis: {method: [(size, processor_s, seconds, passes)]}}"""
    found = {axis: {method: [] for method in printed.METHODS.values()} for axis in ("n", "l")}
    with tempfile.TemporaryDirectory() as folder:
        for axis, (other, sizes) in time_axes(lab).items():
            for size in sizes:
                table = pathlib.Path(folder) / f"{axis}{size}.csv"
                for method, points in found[axis].items():
                    growth = (size / points[-1][0])**(2 if axis == "l" else 1) if points else 0
                    if points and points[-1][1] * growth > time_cap(lab):
                        continue
                    one = time_one(lab, axis, size, other, method, table)
                    if one is not None:
                        points.append((size, *one))
                table.unlink(missing_ok=True)
    return found if any(points for axis in found.values() for points in axis.values()) else {}


# ---- t-SNE: maps of AC under three value distances

def row_distances(path, lines):
    """Rows against rows: the sum over the columns of the distances of their values."""
    with open(path, encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    total = np.zeros((len(rows), len(rows)))
    for column, pairs in itertools.groupby(csv.DictReader(lines), lambda pair: pair["column"]):
        values = sorted({row[column] for row in rows})
        at = {value: i for i, value in enumerate(values)}
        between = np.zeros((len(values), len(values)))
        for pair in pairs:
            u, v = at[pair["value"]], at[pair["other"]]
            between[u, v] = between[v, u] = float(pair["distance"])
        codes = [at[row[column]] for row in rows]
        total += between[np.ix_(codes, codes)]
    return total, [row["class"] for row in rows]


def class_agreement(distance, classes):
    """The share of a row's nearest rows that are of its class, over all rows. Ties at the edge count by their share, so
    that the order of equal rows does not matter."""
    same = np.equal.outer(classes, classes)
    shares = []
    for i, row in enumerate(distance):
        others = np.arange(len(row)) != i
        limit = np.partition(row[others], NEIGHBOURS - 1)[NEIGHBOURS - 1]
        near, edge = others & (row < limit - 1e-12), others & (np.abs(row - limit) <= 1e-12)
        at_edge = np.mean(same[i, edge]) * (NEIGHBOURS - near.sum())
        shares.append((same[i, near].sum() + at_edge) / NEIGHBOURS)
    return float(np.mean(shares))


def place(distance):
    import sklearn.manifold  # here, because it takes a while
    import threadpoolctl
    n = len(distance)
    tsne = sklearn.manifold.TSNE(metric="precomputed", init="random", random_state=1,
                                 perplexity=min(30, (n - 1) / 3))
    with threadpoolctl.threadpool_limits(1):  # so that the map does not depend on the number of threads
        return tsne.fit_transform(distance).astype(float)


def tsne(lab):
    """{method: points, classes, agreement by distance and on the map}"""
    dataset, path = next(((d, p) for d, p in lab.tables if d.abbrev == "AC"), (None, None))
    found = {}
    for method in MAPS if path else ():
        options = ["--seed", "1"] + ([] if method == "coforest" else ["--method", method, "--restarts", "1"])
        learned = lab.fit(f"tsne, distances of {method}", dataset, path, options, "--distances-out")
        if learned is None:
            continue
        distance, classes = row_distances(path, learned["lines"])
        points = lab.keep(f"tsne, map of {method}", ["tsne", learned["lines"], classes],
                          lambda: place(distance).tolist())
        if points is None:
            continue
        points = np.array(points)
        flat = np.linalg.norm(points[:, None] - points[None], axis=2)
        found[method] = {"points": points, "classes": classes, "by_distance": class_agreement(distance, classes),
                         "on_map": class_agreement(flat, classes)}
    return found
