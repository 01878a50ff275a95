"""Which label-free criterion keeps the best start? Starts of the default on every table of the collection, twenty to a
seed; each criterion keeps one of them, and classes say how good it was.

The powers in the default's product are also chosen with one table left out at a time, and judged on that table.
"""
import concurrent.futures
import itertools
import subprocess

import numpy as np

A_SEED = 20  # starts, as the default makes them on most of these tables


def starts_of(program, path, k, n):
    """(by likelihood, L, labels) of n starts."""
    done = subprocess.run([program, path, str(k), str(n), "1"], check=True, capture_output=True, text=True)
    rows = [line.split() for line in done.stdout.splitlines()]
    return (np.array([r[0] == "1" for r in rows]), np.array([float(r[1]) for r in rows]),
            np.array([r[2:] for r in rows], dtype=np.int32))


def gains(x, labels, k):
    """What the clusters gain over one: in integrated likelihood, the part without attributes, and each attribute's; in
    one-hot tightness."""
    from scipy.special import gammaln
    sizes = np.bincount(labels, minlength=k).astype(float)
    n = len(labels)
    apart = gammaln(k / 2) - gammaln(k / 2 + n) + (gammaln(.5 + sizes) - gammaln(.5)).sum()
    likelihood, tightness = np.zeros(x.shape[1]), 0.
    for r in range(x.shape[1]):
        o = x[:, r].max() + 1
        counts = np.bincount(labels * o + x[:, r], minlength=k * o).reshape(k, o).astype(float)
        pooled = counts.sum(0)
        of_one = gammaln(o / 2) - gammaln(o / 2 + n) + (gammaln(.5 + pooled) - gammaln(.5)).sum()
        own = (gammaln(o / 2) - gammaln(o / 2 + sizes)).sum() + (gammaln(.5 + counts) - gammaln(.5)).sum()
        likelihood[r] = own - of_one
        tightness += ((counts ** 2).sum(1) / np.maximum(sizes, 1)).sum() - (pooled ** 2).sum() / n
    return apart, likelihood, tightness


def features(job):
    """Everything the criteria ask of a table's starts, a row each, and the scores against the classes."""
    from quality import read, scores
    from sklearn.metrics import adjusted_rand_score
    program, path, n_starts = job
    x, y = read(path)
    k = int(y.max()) + 1
    by_likelihood, objective, labels = starts_of(program, path, k, n_starts)
    f = {"by_likelihood": by_likelihood, "L": objective,
         "empty": np.array([k - len(np.unique(one)) for one in labels])}
    known = {}
    for one in labels:
        if one.tobytes() not in known:
            known[one.tobytes()] = (*gains(x, one, k), scores(one, y))
    each = [known[one.tobytes()] for one in labels]
    f["gain"] = np.array([a + g.sum() for a, g, _, _ in each])
    f["others"] = np.array([a + g.sum() - max(g.max(), 0) for a, g, _, _ in each])
    f["tight"] = np.array([t for _, _, t, _ in each])
    f["scores"] = np.array([s for _, _, _, s in each])
    f["stable"] = np.zeros(len(labels))
    for begin in range(0, len(labels), A_SEED):
        group = range(begin, min(begin + A_SEED, len(labels)))
        for a, b in itertools.combinations(group, 2):
            same = 1. if labels[a].tobytes() == labels[b].tobytes() else adjusted_rand_score(labels[a], labels[b])
            f["stable"][[a, b]] += same / (len(group) - 1)
    return f


def log(x):
    return np.log(np.maximum(x, 1e-9))


def product(tight=1., others=.25, own=.01):
    """The default's criterion with these powers, and what COForest's own partitions are ahead by; the tightest where
    nothing is gained."""
    def value(f):
        merit = tight * log(f["tight"]) + own * ~f["by_likelihood"] - 1e5 * f["empty"]
        more = log(f["gain"]) + others * log(np.maximum(f["others"], 1e-3 * f["gain"]))
        return np.where(f["gain"] > 0, merit + more, merit - 1e4)
    return value


CRITERIA = {
    "L of the paper, least": lambda f: -f["L"],
    "within / total one-hot distance (tightness)": lambda f: f["tight"],
    "stability: mean ARI with the other starts": lambda f: f["stable"],
    "integrated likelihood": lambda f: f["gain"],
    "likelihood x stability": lambda f: log(f["gain"]) + log(f["stable"]),
    "tightness x stability": lambda f: log(f["tight"]) + log(f["stable"]),
    "likelihood without the best attribute": lambda f: f["others"],
    "likelihood x tightness": product(1, 0, 0),
    "likelihood x tightness x stability": lambda f: product(1, 0, 0)(f) + log(f["stable"]),
    "likelihood x tightness x others^.25": product(1, .25, 0),
    "the default: COForest's unless 1 % worse": product(),
}


def kept(f, value):
    """CA, ARI, NMI of the start that each seed keeps."""
    v = value(f)
    return np.array([f["scores"][begin + int(np.argmax(v[begin:begin + A_SEED]))]
                     for begin in range(0, len(v), A_SEED)])


def left_out(tables):
    """Powers chosen on all tables but one, judged on that one: mean ARI, that of the best fixed powers, that of the
    default's, and the tables where leaving them out costs more than .05."""
    powers = list(itertools.product((.5, .7, 1., 1.5), (0., .1, .25, .5, 1.)))
    ari = np.array([[kept(f, product(*p))[:, 1].mean() for p in powers] for f in tables.values()])
    chosen = [int(np.argmax(ari.sum(0) - row)) for row in ari]
    default = powers.index((1., .25))
    return (np.mean([row[c] for row, c in zip(ari, chosen)]), ari.mean(0).max(), ari[:, default].mean(),
            [t for t, row, c in zip(tables, ari, chosen) if row[c] < row[default] - .05])


def compare(program, tables, groups, seeds, jobs):
    """Prints a row for every criterion; groups: {name: tables in it}."""
    with concurrent.futures.ProcessPoolExecutor(jobs) as pool:
        found = dict(zip(tables, pool.map(features, [(program, path, A_SEED * seeds) for path in tables.values()])))
    print("| kept by | " + " | ".join(groups) + " | all |\n|---" + "|---" * (len(groups) + 1) + "|")
    for title, value in CRITERIA.items():
        ari = {t: kept(f, value)[:, 1].mean() for t, f in found.items()}
        cells = [np.mean([ari[t] for t in names if t in ari]) for names in groups.values()] + [np.mean(list(ari.values()))]
        print(f"| {title} | " + " | ".join(f"{c:.3f}" for c in cells) + " |")
    out, best, default, dear = left_out(found)
    print(f"\nPowers of tightness and others chosen with one table left out: mean ARI of the tables left out {out:.3f}; the best "
          f"powers\nover all tables {best:.3f}, the default's {default:.3f}. Left out, these would be lost by more than .05: "
          + (", ".join(dear) or "none") + ".")
