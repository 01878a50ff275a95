"""How well memberships are calibrated: of the rows to which a model gives its cluster with probability p, a share of p
should be of the class that the cluster stands for.

    bench/calibration.py [--seeds N] [--picture FILE.svg]

Rows are drawn from latent class models of several sizes, and half of them are kept out of the fit. Clusters are matched
with classes by the fitted half; every probability of every held-out row counts, 0.1 wide bins of them are compared with
how often they came true. Prints, for every kind of model, the expected calibration error (mean absolute difference,
weighted by the probabilities in a bin), mean largest membership and accuracy, and the mean log-likelihood of the true
class; beside it the same for the parameters that made the table, which are as good as memberships can be. Wants the
Python package, SciPy and Matplotlib (bench/calibration makes an environment)."""
import argparse
import warnings

import numpy as np
from scipy.optimize import linear_sum_assignment

import coforest

SHAPES = [(500, 3, 8, 4, 1.0), (2000, 3, 8, 4, 1.0), (2000, 4, 12, 5, 1.0), (4000, 5, 15, 4, 1.5)]
N_BINS = 10


def class_table(rng, n, k, n_columns, n_values, concentration):
    """Rows, their classes, and the posterior by the parameters that made them."""
    shares = rng.dirichlet(np.full(k, 5.0))
    theta = rng.dirichlet(np.full(n_values, concentration), (k, n_columns))
    classes = rng.choice(k, n, p=shares)
    X = np.empty((n, n_columns), int)
    for r in range(n_columns):
        upto = theta[:, r].cumsum(axis=1)[classes]
        X[:, r] = (rng.random(n)[:, None] > upto).sum(axis=1).clip(0, n_values - 1)
    joint = np.log(shares) + sum(np.log(theta[:, r, X[:, r]]).T for r in range(n_columns))
    joint = np.exp(joint - joint.max(axis=1, keepdims=True))
    return X, classes, joint / joint.sum(axis=1, keepdims=True)


def match(labels, classes, k):
    """The class of each cluster, by the best one-to-one matching."""
    table = np.zeros((k, k))
    np.add.at(table, (labels, classes), 1)
    return linear_sum_assignment(-table)[1]


MODELS = {
    "default": lambda k: coforest.COForest(k, random_state=1),
    "lca": lambda k: coforest.LCA(k, random_state=1),
    "COForest only": lambda k: coforest.COForest(k, init="kmeans", random_state=1),
    "kmodes": lambda k: coforest.KModes(k, random_state=1),
}


class Tally:
    """Probabilities and what came true, in bins."""

    def __init__(self):
        self.n, self.said, self.true = np.zeros(N_BINS), np.zeros(N_BINS), np.zeros(N_BINS)
        self.rows, self.largest, self.right, self.logarithm = 0, 0.0, 0.0, 0.0

    def add(self, probabilities, classes):
        n = len(classes)
        hit = np.zeros_like(probabilities)
        hit[np.arange(n), classes] = 1
        at = np.minimum((probabilities * N_BINS).astype(int), N_BINS - 1)
        np.add.at(self.n, at, 1)
        np.add.at(self.said, at, probabilities)
        np.add.at(self.true, at, hit)
        self.rows += n
        self.largest += probabilities.max(axis=1).sum()
        self.right += (probabilities.argmax(axis=1) == classes).sum()
        self.logarithm += np.log(np.maximum(probabilities[np.arange(n), classes], 1e-12)).sum()

    def error(self):
        return np.abs(self.said - self.true).sum() / self.n.sum()


def run(seeds):
    tallies = {name: Tally() for name in ("true parameters", *MODELS)}
    found = {}
    for seed in range(seeds):
        for number, (n, k, n_columns, n_values, concentration) in enumerate(SHAPES):
            rng = np.random.default_rng([seed, number])
            X, classes, truth = class_table(rng, 2 * n, k, n_columns, n_values, concentration)
            tallies["true parameters"].add(truth[n:], classes[n:])
            for name, make in MODELS.items():
                model = make(k).fit(X[:n])
                own = match(model.labels_, classes[:n], k)
                accuracy = (own[model.labels_] == classes[:n]).mean()
                best = (truth[:n].argmax(axis=1) == classes[:n]).mean()
                found.setdefault(name, []).append(accuracy > best - 0.1)
                if accuracy > best - 0.1:  # clusters that are other groups than the classes say nothing about memberships
                    by_class = np.empty_like(truth[n:])
                    by_class[:, own] = model.predict_proba(X[n:])
                    tallies[name].add(by_class, classes[n:])
    return tallies, found


def draw(tallies, path):
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    import plots

    plots.style(plt)
    figure, axes = plt.subplots(figsize=(4.8, 4.4))
    axes.plot([0, 1], [0, 1], color=plots.PALE, linewidth=1)
    marks = iter([("o", "#1f4e79"), ("s", "#b5562b"), ("^", "#4f7f3a"), ("D", "#7b5a9e")])
    for name, t in tallies.items():
        if name == "true parameters" or t.rows == 0:
            continue
        mark, colour = next(marks)
        kept = t.n >= 50
        axes.plot(t.said[kept] / t.n[kept], t.true[kept] / t.n[kept], marker=mark, color=colour, linewidth=1, markersize=4,
                  label=f"{name} ({t.error():.3f})")
    axes.set_xlabel("membership")
    axes.set_ylabel("share of rows that are of this class")
    axes.legend(frameon=False, title="model (calibration error)", loc="upper left", fontsize=8, title_fontsize=8)
    axes.set_aspect("equal")
    axes.set_xlim(0, 1)
    axes.set_ylim(0, 1)
    figure.savefig(path)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=25)
    parser.add_argument("--picture")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    tallies, found = run(arguments.seeds)
    print(f"{'model':16s} tables  calibration error  largest membership  accuracy  log-likelihood of the class")
    for name, t in tallies.items():
        tables = f"{sum(found[name])}/{len(found[name])}" if name in found else str(arguments.seeds * len(SHAPES))
        print(f"{name:16s} {tables:>6s} {t.error():18.4f} {t.largest / t.rows:19.3f} {t.right / t.rows:9.3f}"
              f" {t.logarithm / t.rows:28.3f}")
    print("\nmembership      " + "".join(f"{(b + 0.5) / N_BINS:8.2f}" for b in range(N_BINS)))
    for name, t in tallies.items():
        shares = t.true / np.maximum(t.n, 1)
        print(f"{name:16s}" + "".join(f"{share:8.3f}" if n >= 50 else "       -" for share, n in zip(shares, t.n)))
    if arguments.picture:
        draw(tallies, arguments.picture)


if __name__ == "__main__":
    main()
