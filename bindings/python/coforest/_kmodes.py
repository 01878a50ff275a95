"""KModes and the prototypes as users of the package ``kmodes`` know them: its arguments, its attributes."""
import numpy as np

from ._estimators import _column_of, _NamedMethod
from ._tables import text_of


def _column(table, c):
    """Codes of a column's rows, and its texts."""
    codes = np.empty(table.shape[0], np.int32)
    return codes, table.codes(c, codes)


def _differences(table, c, wanted, as_number):
    """Squared and scaled distances of a column's rows to numbers, or 1 where a category differs: wanted by rows."""
    codes, texts = _column(table, c)
    if not as_number:
        ids = {text: v for v, text in enumerate(texts)}
        places = np.array([ids.get(text_of(value), -2) for value in wanted])
        return codes[None] != places[:, None]
    numbers = np.array([*(float(text) for text in texts), np.nan])[codes]
    apart = (numbers[None] - np.asarray(wanted, dtype=float)[:, None]) / (np.nanstd(numbers) or 1.0)
    return np.nan_to_num(apart**2)


def nearest_rows(table, centroids, columns, numeric=()):
    """The row nearest to each centroid, no row twice. `columns` says which column each value of a centroid belongs to."""
    distance = np.zeros((len(centroids), table.shape[0]))
    for place, c in enumerate(columns):
        distance += _differences(table, c, [row[place] for row in centroids], c in numeric)
    rows = []
    for apart in distance:
        apart[rows] = np.inf
        rows.append(int(apart.argmin()))
    return np.array(rows, dtype=np.uint64)


class _FromKModes(_NamedMethod):
    @property
    def cluster_centroids_(self):
        """Means of the quantities, then the commonest values of the categories: clusters by columns."""
        self._check_fitted()
        means = [means[:, None] for means in self.cluster_means_.values()]
        return np.hstack([*means, self.cluster_modes_]) if means else self.cluster_modes_

    @property
    def cost_(self):
        """Sum of the distances between rows and their centroids, ``objective_``."""
        self._check_fitted()
        return self.objective_

    @property
    def epoch_costs_(self):
        """The cost after every pass of the start that was kept."""
        self._check_fitted()
        kept = self._model.kept
        return [record["objective"] for record in self.history_ if record["restart"] == kept]

    def _start_rows(self, table):
        centroids = np.asarray(self.init, dtype=object)
        if centroids.ndim != 2 or centroids.shape != (self.n_clusters, table.shape[1]):
            raise ValueError(f"init must be rows of {self.n_clusters} clusters by {table.shape[1]} columns, or indices of "
                             f"{self.n_clusters} rows; not an array of shape {centroids.shape}")
        return nearest_rows(table, centroids, range(table.shape[1]))


class KModes(_FromKModes):
    """k-modes: every cluster has a mode, and a row belongs to the mode it differs from in the fewest columns.

    Takes what ``kmodes.kmodes.KModes`` takes, and more: ``init`` may be "Huang", "Cao" or "random", as there, or an array
    of centroids (each stands for the row nearest to it) or of row indices. The other parameters are those of
    ``coforest.Clusterer``. ``cluster_centroids_``, ``cost_`` and ``epoch_costs_`` are as there.

    >>> from coforest import KModes
    >>> model = KModes(n_clusters=2, init="Cao", n_init=1).fit([["a", "x"], ["a", "x"], ["b", "y"], ["b", "y"], ["b", "z"]])
    >>> sorted(model.cluster_centroids_.tolist()), model.cost_
    ([['a', 'x'], ['b', 'y']], 1.0)
    """

    _method = "kmodes"

    def fit(self, X, y=None, categorical=None, sample_weight=None, **paths):
        """Clusters the rows of X. ``y`` is ignored, and so is ``categorical``, which kmodes takes: all columns are categories."""
        return super().fit(X, y, sample_weight=sample_weight, **paths)

    def predict(self, X, categorical=None):
        """The cluster of every row."""
        return super().predict(X)


class KPrototypes(_FromKModes):
    """k-prototypes: k-modes for the categories and k-means for the quantities, together.

    Takes what ``kmodes.kprototypes.KPrototypes`` takes: in ``fit`` and ``fit_predict``, ``categorical`` names the columns
    that are categories, by place or name; all others are quantities. Without it, columns of many numbers are. Quantities
    are scaled to unit variance (``scale``), and ``gamma`` is the weight of a differing category beside them.
    ``cluster_centroids_`` has the quantities first, as there.

    >>> from coforest import KPrototypes
    >>> rows = [[1.0, "a"], [1.2, "a"], [7.9, "b"], [8.1, "b"]]
    >>> model = KPrototypes(n_clusters=2, random_state=1).fit(rows, categorical=[1])
    >>> sorted(model.cluster_centroids_.tolist())
    [[1.1, 'a'], [8.0, 'b']]
    """

    _method = "k-prototypes"

    def fit(self, X, y=None, categorical=None, sample_weight=None, **paths):
        """Clusters the rows of X. ``categorical``: places or names of the columns that are categories. ``columns``, ``label``
        and ``weights`` are as for ``coforest.COForest``."""
        self._told = categorical if categorical is None or isinstance(categorical, (list, tuple)) else [categorical]
        return super().fit(X, y, sample_weight=sample_weight, **paths)

    def predict(self, X, categorical=None):
        """The cluster of every row; which columns are categories was told to ``fit``."""
        return super().predict(X)

    def _rules(self, names):
        rules = super()._rules(names)
        if self._told is None:
            return rules
        told = {_column_of(column, names, "categorical") for column in self._told}
        return {c: ("categorical" if c in told else "numeric", None) for c in range(len(names))}

    def _start_rows(self, table):
        """kmodes takes two arrays here, of quantities and of categories."""
        names = [table.column(c)["name"] for c in range(table.shape[1])]
        if self._told is None or len(self.init) != 2:
            return super()._start_rows(table)
        told = [_column_of(column, names, "categorical") for column in self._told]
        numeric = [c for c in range(len(names)) if c not in told]
        numbers, categories = (np.asarray(part, dtype=object) for part in self.init)
        return nearest_rows(table, np.hstack([numbers, categories]), [*numeric, *told], numeric)


class EKPrototypes(KPrototypes):
    """ek-prototypes: distributions of the categories and means of the quantities, with no weight between them.

    >>> from coforest import EKPrototypes
    >>> rows = [[1.0, "a"], [1.2, "a"], [7.9, "b"], [8.1, "b"]]
    >>> labels = EKPrototypes(n_clusters=2, random_state=1).fit_predict(rows, categorical=1)
    >>> bool(labels[0] == labels[1] != labels[2] == labels[3])
    True
    """

    _method = "ek-prototypes"
