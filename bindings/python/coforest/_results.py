"""The result as tables: pandas or polars, as was given; pandas where it was neither and is installed; else dicts of arrays."""
import importlib

import numpy as np

from ._tables import text_of

_MOST_TRAITS = 20
_FIVE = ("least", "quarter", "median", "three_quarters", "most")


def library_of(X):
    """The library whose tables go back: "pandas", "polars", or None."""
    name = type(X).__module__.split(".")[0]
    return name if name in ("pandas", "polars") else None


def make_frame(library, columns):
    """A table of ``{name: values}``. A polars column has one type, so mixed values are texts there."""
    for name in [library] if library else ["pandas", "polars"]:
        try:
            module = importlib.import_module(name)
        except ImportError:
            continue
        if name == "polars":
            columns = {title: _plain(values) for title, values in columns.items()}
        return module.DataFrame(columns)
    return {title: np.asarray(values) for title, values in columns.items()}


def _plain(values):
    values = list(values)
    kinds = {type(value) for value in values if value is not None}
    return values if len(kinds) <= 1 else [text_of(value) for value in values]


class Results:
    """Mixed into the estimators."""

    def _frame(self, columns):
        return make_frame(getattr(self, "_library", None), columns)

    @property
    def profiles_(self):
        """The share of every value in every cluster: a table with column, value, and one column a cluster."""
        self._check_fitted()
        pairs = [(tree.name, value) for tree in self.forest_.trees() for value in tree.values]
        shares = np.hstack(self.cluster_profiles_) if pairs else np.empty((self.n_clusters_, 0))
        columns = {"column": [name for name, _ in pairs], "value": [value for _, value in pairs]}
        columns.update((f"cluster_{j}", row) for j, row in enumerate(shares))
        return self._frame(columns)

    @property
    def modes_(self):
        """The commonest value of every column in every cluster, and the mean of quantities that stayed numbers."""
        self._check_fitted()
        modes = {tree.name: list(self.cluster_modes_[:, r]) for r, tree in enumerate(self.forest_.trees())}
        modes.update(self.cluster_means_)
        return self._frame({"cluster": range(self.n_clusters_), **{name: modes[name] for name in self._columns}})

    @property
    def traits_(self):
        """The values that mark every cluster, most evidence first: cluster, column, value, share in the cluster and in the
        table, rows of the cluster that have it, evidence (G statistic, beyond 10.8 once in 1000 by chance), and side:
        "more" or "less" often than elsewhere."""
        self._check_fitted()
        trees = self.forest_.trees()
        found = [(*trait, side) for number, side in enumerate(("more", "less"))
                 for trait in self._model.traits(number, _MOST_TRAITS)]
        found.sort(key=lambda trait: (trait[0], -trait[6]))
        names = ("cluster", "column", "value", "share", "share_anywhere", "rows", "evidence", "side")
        columns = dict(zip(names, map(list, zip(*found)))) if found else {name: [] for name in names}
        columns["column"] = [trees[attribute].name for attribute in columns["column"]]
        return self._frame(columns)

    @property
    def importance_(self):
        """How much every column tells about the cluster, 0 to 1, the greatest first: a table of column and importance."""
        self._check_fitted()
        pairs = zip((tree.name for tree in self.forest_.trees()), self._model.importance())
        names, shares = zip(*sorted(pairs, key=lambda pair: -pair[1]))
        return self._frame({"column": list(names), "importance": list(shares)})

    @property
    def quantities_(self):
        """Quantities in every cluster: column, cluster, and mean of those that stayed numbers, or least, quarter, median,
        three_quarters and most of those that were cut."""
        self._check_fitted()
        rows = [(name, j, mean, *[np.nan] * 5) for name, means in self.cluster_means_.items() for j, mean in enumerate(means)]
        rows += [(name, j, np.nan, *five) for name, fives in self.cluster_quartiles_.items() for j, five in enumerate(fives)]
        names = ("column", "cluster", "mean", *_FIVE)
        return self._frame(dict(zip(names, map(list, zip(*rows)))) if rows else {name: [] for name in names})

    @property
    def trees_(self):
        """``{name: Tree}``; ``forest_.to_networkx()`` makes graphs of them."""
        self._check_fitted()
        return {tree.name: tree for tree in self.forest_.trees()}

    def to_frame(self, name):
        """A result that is a list or an array as a table: "margins", "k_curve", "alternatives" (without labels),
        "history", "restarts" or "memberships"."""
        if name == "margins":
            rows = self.margins()
            return self._frame({field: rows[field] for field in rows.dtype.names})
        if name == "memberships":
            return self._frame({f"cluster_{j}": column for j, column in enumerate(self.memberships_.T)})
        if name not in ("k_curve", "alternatives", "history", "restarts"):
            raise ValueError(f"there is no table of {name!r}; see the docstring of to_frame")
        records = getattr(self, f"{name}_") or []
        titles = [title for title in (records[0] if records else ()) if title not in ("labels", "cluster_sizes")]
        return self._frame({title: [record[title] for record in records] for title in titles})

    def typical_rows(self, n=3, X=None):
        """The rows nearest to each cluster, of those that were fitted or of X: cluster, row (its place), distance, lead."""
        margins = self.margins(X)
        found = []
        for j in range(self.n_clusters_):
            rows = np.flatnonzero(margins["cluster"] == j)
            found += list(rows[np.argsort(margins["distance"][rows], kind="stable")[:n]])
        best = margins[found]
        return self._frame({"cluster": best["cluster"], "row": found, "distance": best["distance"], "lead": best["lead"]})

    def value_distances(self, column):
        """Distances between all values of a column, by name or place: a table, with pandas the values as its index."""
        self._check_fitted()
        tree = self.forest_[column]
        names = ["(missing)" if value is None else str(value) for value in tree.values]
        frame = self._frame({"value": names, **dict(zip(names, tree.distances()))})
        return frame.set_index("value") if hasattr(frame, "set_index") else frame

    def pairwise_distances(self, X=None, Y=None):
        """Distances between the rows that were fitted, or of X, and those of Y (of X again): for every column the way along
        its tree, times its weight, added up. Fits ``silhouette_score(..., metric="precomputed")``. A value never met
        adds nothing, two rows without a column that is known of both have NaN, and quantities that stayed numbers are
        refused."""
        table = self._fitted_table(X)
        other = table if Y is None else self._new_table(Y)
        if self.cluster_means_:
            raise ValueError("quantities that stayed numbers have no learned distances; fit with quantities='cut'")
        sums = np.zeros((table.shape[0], other.shape[0]))
        known = np.zeros(sums.shape, dtype=bool)
        weights = self._column_weights(self._columns)
        for r, tree in enumerate(self.forest_.trees()):
            if not tree.used:
                continue
            n = len(tree.values)
            apart = np.zeros((n + 1, n + 1))
            apart[:n, :n] = tree.distances() * (1.0 if weights is None else weights[self._columns.index(tree.name)])
            one, two = self._values(table, r), self._values(other, r)
            sums += apart[one[:, None], two[None, :]]
            known |= (one >= 0)[:, None] & (two >= 0)[None, :]
        sums[~known] = np.nan
        return sums

    def _values(self, table, r):
        ids = np.empty(table.shape[0], np.int32)
        self._model.values(table, r, ids)
        return ids  # -1, a value never met, is the last of `apart`
