"""Latent class analysis as users of poLCA and StepMix know it."""
import warnings

import numpy as np

from ._estimators import _constructor, _NamedMethod, _weights
from ._sklearn import ConvergenceWarning


class LCA(_NamedMethod):
    """Latent class analysis: a mixture of classes within which columns are independent, fitted by EM.

    The parameters are those of ``coforest.Clusterer`` without ``method``, and these:

    prior : how many rows of the overall distribution smooth each class; 0 gives maximum likelihood, as poLCA and StepMix
        do.
    max_iter : the most rounds of EM of a start, polishing included; None: 500, and up to 100,000 that polish the start
        that is kept. A bound that was met is a ``ConvergenceWarning``.
    tol : EM of the start that is kept ends when a round adds less to the log-likelihood.
    init : as there, or where one start begins: for every column an array of classes by values (in the order of
        ``categories_``) of probabilities, as ``class_probabilities_`` has them. The classes keep this order; otherwise
        they are numbered by falling share.

    ``class_shares_`` and ``class_probabilities_`` are the parameters that EM found. ``cluster_sizes_`` and
    ``cluster_profiles_`` count the rows whose likeliest class is each.

    >>> from coforest import LCA
    >>> rows = [["a", "x"]] * 6 + [["b", "y"]] * 3 + [["a", "y"]]
    >>> model = LCA(2, prior=0, random_state=1).fit(rows)
    >>> model.class_shares_.shape, round(float(model.class_shares_.sum()), 6)
    ((2,), 1.0)
    """

    _method = "lca"

    __init__ = _constructor(prior=1.0, tol=1e-9, max_iter=None, scale="auto", gamma=None)

    def _begins_at_probabilities(self):
        return not isinstance(self.init, str) and np.ndim(self.init[0]) == 2

    def _options(self):
        options = super()._options()
        options["tolerance"] = float(self.tol)
        if self._begins_at_probabilities():
            parts = [np.asarray(part, dtype=np.float64) for part in self.init]
            if any(part.shape[0] != self.n_clusters for part in parts):
                raise ValueError(f"init needs {self.n_clusters} classes by values for every column")
            whole = [np.where(np.isnan(part), 1.0, part) for part in parts]  # a constant column has none
            options["start"] = np.concatenate([part.T.ravel() for part in whole])
        return options

    def _start_rows(self, table):
        return None if self._begins_at_probabilities() else super()._start_rows(table)

    def fit(self, X, y=None, sample_weight=None, *, columns=None, label=None, weights=None):
        """Clusters the rows of X. ``y`` is ignored; ``sample_weight`` says how often each row counts."""
        self._sample_weight = None
        super().fit(X, y, sample_weight, columns=columns, label=label, weights=weights)
        self._sample_weight = _weights(sample_weight, len(self.labels_))
        if self.stop_reason_ == "cap":
            warnings.warn(f"EM was still gaining after {self.n_iter_} rounds; a larger max_iter lets it go on",
                          ConvergenceWarning, stacklevel=2)
        return self

    def _classes(self, X=None, sample_weight=None, bare=False):
        self._check_fitted()
        table = None if bare else self._fitted_table(X)
        weights = getattr(self, "_sample_weight", None) if X is None else _weights(sample_weight, table.shape[0])
        return self._model.classes(table, None if bare else weights)

    def _by_column(self, numbers):
        found, at = [], 0
        for tree in self.forest_.trees():
            n = self.n_clusters_ * len(tree.values)
            found.append(np.array(numbers[at:at + n]).reshape(self.n_clusters_, -1))
            at += n
        return found

    @property
    def class_shares_(self):
        """The share of all rows that each class has."""
        return np.array(self._classes(bare=True)["share"])

    @property
    def class_probabilities_(self):
        """The probability of every value in every class: one array a column, classes by values. NaN for a column that is
        constant."""
        return self._by_column(self._classes(bare=True)["probability"])

    def standard_errors(self):
        """Standard errors of ``class_shares_`` and of ``class_probabilities_``, from the observed information: two values. The
        rows that were fitted are needed. 0 for a probability of 0 or 1 means little."""
        found = self._classes()
        return np.array(found["share_error"]), self._by_column(found["probability_error"])

    def bivariate_residuals(self, X=None, sample_weight=None):
        """How much every two columns depend on each other inside classes: X squared of their table over its degrees of
        freedom, columns by columns; far above 1 where they do."""
        n = len(self.forest_.trees())
        return np.array(self._classes(X, sample_weight)["residual"]).reshape(n, n)

    def cells(self, X=None, sample_weight=None):
        """The patterns of values that rows without missing cells have, as poLCA's predcell: row (the first that has the pattern),
        observed and expected."""
        cells = np.array(self._classes(X, sample_weight)["cell"]).reshape(-1, 3)
        return self._frame({"row": cells[:, 0].astype(int), "observed": cells[:, 1], "expected": cells[:, 2]})

    def fit_statistics(self, X=None, sample_weight=None):
        """What statisticians read of a fit: log_likelihood, n_parameters, bic, aic, icl, aic3, bic_adjusted,
        entropy_r_squared, g_squared, x_squared, df (of the table's cells), p_g_squared, p_x_squared, n_shared."""
        table = self._fitted_table(X)
        weights = getattr(self, "_sample_weight", None) if X is None else _weights(sample_weight, table.shape[0])
        return self._model.criteria(table, 0, weights)
