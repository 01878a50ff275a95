"""Several methods on one table, and what several such comparisons say together."""
import difflib
import time
from dataclasses import dataclass

import numpy as np

from . import stats
from ._core import CoforestError
from ._estimators import COForest, Clusterer, methods as known_methods, seed_of
from .metrics import evaluate

SCORES = ("ca", "ari", "nmi")
CRITERIA = ("log_likelihood", "objective")


@dataclass
class Comparison:
    """Scores of methods over runs: ``runs[method][score]`` is an array, one number a run, NaN for no result."""

    n_clusters: int
    runs: dict
    seconds: dict
    problems: dict

    @property
    def methods(self):
        """Names of the methods that were compared."""
        return list(self.runs)

    @property
    def scores(self):
        """Names of the scores that were taken."""
        return list(next(iter(self.runs.values()))) if self.runs else []

    def mean(self, score):
        """One number per method, over the runs that have one."""
        columns = (values[score][~np.isnan(values[score])] for values in self.runs.values())
        return np.array([c.mean() if c.size else np.nan for c in columns])

    def std(self, score):
        """The standard deviation of a score over the runs, one number a method."""
        columns = (values[score][~np.isnan(values[score])] for values in self.runs.values())
        return np.array([c.std() if c.size else np.nan for c in columns])

    def ranks(self, score="ari"):
        """1 for the best mean; the objective is better when smaller."""
        mean = self.mean(score)
        return stats.ranks([-mean if score == "objective" else mean])[0]

    def to_dict(self):
        """Columns of plain lists, for a pandas or polars DataFrame."""
        columns = {"method": self.methods}
        for score in self.scores:
            columns[score] = self.mean(score).tolist()
            columns[score + "_std"] = self.std(score).tolist()
        columns["seconds"] = [float(np.mean(self.seconds[m])) for m in self.methods]
        return columns

    def __str__(self):
        width = max([len(m) for m in self.methods] + [6])
        lines = [f"{'method':<{width}}" + "".join(f"  {s:>22}" for s in self.scores) + "   seconds"]
        for i, name in enumerate(self.methods):
            cells = (f"{self.mean(s)[i]:.4f} ± {self.std(s)[i]:.4f}" for s in self.scores)
            cells = ("-" if cell.startswith("nan") else cell for cell in cells)
            lines.append(f"{name:<{width}}" + "".join(f"  {cell:>22}" for cell in cells)
                         + f"  {np.mean(self.seconds[name]):8.3f}")
        return "\n".join(lines)


def _one_run(estimator, X, y, names):
    began = time.perf_counter()
    estimator.fit(X)
    seconds = time.perf_counter() - began
    found = evaluate(estimator.labels_, y) if y is not None else vars(estimator)
    return [found[name if y is not None else name + "_"] for name in names], seconds


def compare(X, n_clusters, y=None, *, methods=None, runs=10, random_state=1, n_init=1, **options):
    """Runs every method ``runs`` times with seeds that all methods share, from ``n_init`` starts each time.

    ``methods`` are names of ``coforest.methods()`` or estimators of your own; default: all of them. With ``y`` the
    scores are CA, ARI and NMI, without it the likelihood and the objective. ``options`` go to every estimator that is
    named; with ``init="random"`` all methods of a run begin alike, as those of the command line's ``compare`` do. Several
    estimators of one class are numbered: "KModes", "KModes 2". A method that has no result for this table is NaN there, and
    ``problems`` says why.
    """
    names = SCORES if y is not None else CRITERIA
    if isinstance(methods, str):
        raise ValueError(f"methods must be a list of names or estimators, such as [{methods!r}]; not {methods!r}")
    asked = list(known_methods()) if methods is None else list(methods)
    for method in asked:
        if isinstance(method, str) and method not in known_methods():
            like = difflib.get_close_matches(method, known_methods(), 1)
            raise ValueError(f"there is no method {method!r}; " + (f"did you mean {like[0]!r}? " if like else "")
                             + "coforest.methods() lists all")
    first = seed_of(random_state)
    result = Comparison(n_clusters, {}, {}, {})
    for method in asked:
        title = own = method if isinstance(method, str) else type(method).__name__
        number = 1
        while title in result.runs:  # several estimators of one class
            number += 1
            title = f"{own} {number}"
        rows = np.full((runs, len(names)), np.nan)
        result.seconds[title] = np.zeros(runs)
        for run in range(runs):
            estimator = _estimator(method, n_clusters, n_init, options).set_params(random_state=first + run)
            try:
                rows[run], result.seconds[title][run] = _one_run(estimator, X, y, names)
            except CoforestError as problem:
                result.problems[title] = str(problem)
        result.runs[title] = {name: rows[:, s] for s, name in enumerate(names)}
    return result


def _estimator(method, n_clusters, n_init, options):
    if method == "coforest":
        return COForest(n_clusters, n_init=n_init, **options)
    if isinstance(method, str):
        return Clusterer(n_clusters, method=method, n_init=n_init, **options)
    return type(method)(**method.get_params(deep=False)).set_params(n_clusters=n_clusters)
