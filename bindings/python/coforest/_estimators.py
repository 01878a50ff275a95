"""The estimators: scikit-learn's shape around one call of the library."""
import copy
import inspect
import numbers
import os
import sys
import warnings

import numpy as np

from . import _core, _model_file
from ._forest import Found
from ._progress import Reporter
from ._results import Results, library_of
from ._sklearn import (
    HAVE_SKLEARN,
    BaseEstimator,
    ClusterMixin,
    ConvergenceWarning,
    NotFittedError,
    TransformerMixin,
    available_if,
)
from ._tables import _as_array, columns_of, is_path, retold, text_of

_SHOWN_NAMES = 5
_UNKNOWN = {word: word for word in ("warn", "error", "ignore")}


def _warn(message, category=UserWarning):
    """A warning at the line that called this package, directly or through scikit-learn."""
    level, frame = 1, sys._getframe()
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] in ("coforest", "sklearn"):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)


def _choice(what, word, known):
    if not isinstance(word, str) or word not in known:
        raise ValueError(f"{what} must be one of {', '.join(map(repr, known))}; not {word!r}")
    return known[word]


def _count(what, value, least):
    if isinstance(value, bool) or not isinstance(value, numbers.Integral) or not least <= value < 2**32:
        raise ValueError(f"{what} must be a whole number of at least {least}; not {value!r}")
    return int(value)


def _option(name, value):
    """A value for an option of the library, checked by what the library says of it; None is the default of a number."""
    option = _core.FIT_OPTIONS[name]
    words = option["words"]
    if option["type"] == "word":
        _choice(name, value, dict.fromkeys(words))
    elif option["type"] == "count":
        value = _count(name, value, int(option["least"]))
    elif value is None:
        value = 0.0
    elif not (isinstance(value, str) and value in words):
        if isinstance(value, bool) or not isinstance(value, numbers.Real) or not value > 0 or not value >= option["least"]:
            *known, last = ["None", "a number above 0", *map(repr, words)]
            raise ValueError(f"{name} must be {', '.join(known)} or {last}; not {value!r}")
        value = float(value)
    return value


def _clusters(value):
    """The members of cof_fit_options that n_clusters sets: a number, "auto", or the least and the greatest to try."""
    if isinstance(value, str) and value == "auto":
        return {"k": 0}
    if isinstance(value, (tuple, list)) and len(value) == 2:
        least, most = (_count("n_clusters", bound, 1) for bound in value)
        if least > most:
            raise ValueError(f"n_clusters={value!r} is an empty range: the smaller number comes first")
        return {"k": 0, "k_min": least, "k_max": most}
    if isinstance(value, (str, tuple, list)):
        raise ValueError(f'n_clusters must be a whole number, a pair such as (2, 12), or "auto"; not {value!r}')
    return {"k": _count("n_clusters", value, 1)}


def seed_of(random_state):
    """None: from NumPy's global generator; an int: itself; a generator: drawn from it."""
    if random_state is None:
        return int(np.random.randint(0, 2**31 - 1))
    if isinstance(random_state, numbers.Integral) and not isinstance(random_state, bool):
        if not 0 <= random_state < 2**64:
            raise ValueError(f"random_state must lie in 0 .. 2**64 - 1; not {random_state}")
        return int(random_state)
    if hasattr(random_state, "integers"):
        return int(random_state.integers(0, 2**63 - 1))
    if hasattr(random_state, "randint"):
        return int(random_state.randint(0, 2**31 - 1))
    raise ValueError(f"random_state must be None, a whole number or a NumPy generator; not {random_state!r}")


def threads_of(n_jobs):
    """As in scikit-learn: None is 1 unless joblib was told otherwise (``parallel_config``), -1 all cores that the process
    may use, which is 0 to the library, -2 all but one; 1 within a process of a parallel search."""
    if n_jobs is not None and (isinstance(n_jobs, bool) or not isinstance(n_jobs, numbers.Integral) or n_jobs == 0):
        raise ValueError(f"n_jobs must be None or a whole number other than 0; not {n_jobs!r}")
    joblib = sys.modules.get("joblib")  # whoever set something up has imported it
    if joblib is not None and (n_jobs is None or n_jobs < 0):
        n_jobs = min(joblib.effective_n_jobs(n_jobs), _core.n_cores())
    if n_jobs is None:
        return 1
    return int(n_jobs) if n_jobs > 0 else 0 if n_jobs == -1 else max(1, _core.n_cores() + 1 + int(n_jobs))


def _weights(sample_weight, n_rows):
    if sample_weight is None:
        return None
    weights = np.ascontiguousarray(sample_weight, dtype=np.float64)
    if weights.ndim == 0:
        weights = np.full(n_rows, float(weights))
    if weights.shape != (n_rows,):
        raise ValueError(f"sample_weight.shape == {weights.shape}, expected {(n_rows,)}!")
    if not weights.any():
        raise ValueError("sample_weight is zero for every row; at least one row must count")
    return weights


def _name_list(title, names):
    lines = [f"- {name}\n" for name in names[:_SHOWN_NAMES]]
    if len(names) > _SHOWN_NAMES:
        lines.append("- ...\n")
    return f"{title}:\n{''.join(lines)}" if names else ""


def _column_of(column, names, option):
    """Place of a column given by its name or place."""
    if column in names:
        return names.index(column)
    if isinstance(column, numbers.Integral) and 0 <= column < len(names):
        return int(column)
    raise ValueError(f"{option} names column {column!r}, which the table does not have")


def _starts(n_init):
    """0 stands for as many as the library thinks right."""
    if isinstance(n_init, str) and n_init == "auto":
        return 0
    if isinstance(n_init, str):
        raise ValueError(f"n_init must be 'auto' or a whole number of at least 1; not {n_init!r}")
    return _count("n_init", n_init, 1)


def _seconds(limit):
    """0 stands for no limit."""
    if limit is None:
        return 0.0
    if isinstance(limit, bool) or not isinstance(limit, numbers.Real) or not limit > 0:
        raise ValueError(f"time_limit must be None or a number of seconds above 0; not {limit!r}")
    return float(limit)


def _few(names):
    more = f" and {len(names) - _SHOWN_NAMES} more" if len(names) > _SHOWN_NAMES else ""
    return ", ".join(names[:_SHOWN_NAMES]) + more


class _CategoryClusterer(Results, TransformerMixin, ClusterMixin, BaseEstimator):
    """Everything but the parameters. Subclasses say which method of the library they stand for."""

    _method = "coforest"

    def _options(self):
        """The members of cof_fit_options that the parameters set."""
        options = {
            **_clusters(self.n_clusters),
            "restarts": _starts(self.n_init),
            "max_passes": 0 if self.max_iter is None else _count("max_iter", self.max_iter, 1),
            "threads": threads_of(self.n_jobs),
            "seed": seed_of(self.random_state),
            "method": getattr(self, "method", self._method),
            "time_limit": _seconds(self.time_limit),
        }
        for name in _core.FIT_OPTIONS:
            if name not in options and name != "init" and hasattr(self, name):
                none = name == "prior" and self.prior == 0  # a word to the library, in which 0 is the default
                options[name] = _option(name, "0" if none else getattr(self, name))
        if isinstance(self.init, str):
            options["init"] = _option("init", self.init.lower())
        else:
            options["init"] = "random"
            if np.ndim(self.init[0]) == 0:
                options["init_rows"] = np.ascontiguousarray(self.init, dtype=np.uint64)
        return options

    def _order_columns(self, table, names):
        if self.ordinal is not None and not hasattr(self.ordinal, "items"):
            raise ValueError('ordinal must give the values of each column in their order, such as {"size": ["small", "medium", '
                             f'"large"]}}; not {self.ordinal!r}')
        for column, order in (self.ordinal or {}).items():
            if isinstance(order, str):
                raise ValueError(f'ordinal must list the values of {column!r} in their order, such as ["small", "large"]; not '
                                 f"{order!r}")
            table.set_order(_column_of(column, names, "ordinal"), [text_of(value) for value in order])

    def _rules(self, names):
        """What the parameters say about columns: {place: "numeric", "categorical", "ordinal" or edges to cut at}."""
        rules = {}

        def rule(column, option, what):
            c = _column_of(column, names, option)
            if c in rules and {option, rules[c][0]} != {"numeric", "cut"}:
                raise ValueError(f"column {names[c]!r} has two rules, {rules[c][0]} and {option}; leave one out")
            rules[c] = (option, what)

        for option in ("numeric", "categorical", "ordinal"):
            columns = getattr(self, option)
            for column in [columns] if isinstance(columns, (str, numbers.Integral)) else [] if columns is None else columns:
                rule(column, option, None)
        for column, edges in (self.cut or {}).items():
            rule(column, "cut", [text_of(edge) for edge in edges])
        return rules

    def _column_weights(self, names):
        """One number a column, or None."""
        if not self.column_weights:
            return None
        weights = np.ones(len(names))
        for column, weight in self.column_weights.items():
            c = _column_of(column, names, "column_weights")
            if isinstance(weight, bool) or not isinstance(weight, numbers.Real) or not 0 <= weight <= 1e6:
                raise ValueError(f"column_weights gives {names[c]!r} the weight {weight!r}; a weight is a number from 0 to 1e6")
            weights[c] = weight
        return weights

    def _treat_quantities(self, table, views, kinds, rules):
        """Cuts quantities, or marks them as numbers beside the categories; returns the places of the latter."""
        how = self.quantities
        if how is None:
            how = "scaled" if getattr(self, "method", self._method).endswith("-prototypes") else "cut"
        if how not in _core.QUANTITIES:
            raise ValueError(f"quantities must be one of 'cut', 'scaled', 'values' or None; not {how!r}")
        scaled = set()
        bins = _count("bins", self.bins, 2)
        for c, view in enumerate(views):
            option, edges = rules.get(c, (None, None))
            rule = _core.RULES[option] if option is not None else 0
            treatment = _core.column_treatment(view["kind"], view["numbers"], rule, _core.QUANTITIES[how])
            if treatment == _core.TREAT_NUMBERS:
                table.set_role(c, _core.ROLES["numeric"])
                scaled.add(c)
            elif treatment == _core.TREAT_BINS:
                table.cut(c, bins, edges or [])
                views[c] = table.column(c)
                kinds[c] = "O"  # its values are names of bins
        return scaled

    def _warn_orders(self, table, names):
        if _core.method_facts(getattr(self, "method", self._method))["uses_order"]:
            return
        ordered = [name for c, name in enumerate(names) if table.column(c)["ordinal"]]
        if ordered:
            _warn(f"{type(self).__name__} makes no use of the order of {_few(ordered)}; COForest does")

    @staticmethod
    def _warn_identifiers(views):
        found = [view["name"] for view in views if view["kind"] == _core.KINDS["identifier"] and not view["numbers"]]
        if found:
            _warn(f"nearly every row has its own value in {_few(found)}; an identifier tells clusters nothing, leave it out")

    def _settle_columns(self, table, kinds, categories):
        """Orders, cuts and roles of a table, or of the schema of one. Returns the views of its columns, the kinds of their
        values, and the places of the quantities that stay numbers."""
        n_columns = table.shape[1]
        views = [table.column(c) for c in range(n_columns)]
        names = [view["name"] for view in views]
        kinds = list(kinds) if kinds is not None else ["O"] * n_columns
        rules = self._rules(names)
        self._order_columns(table, names)
        self._warn_orders(table, names)
        self._warn_identifiers([view for c, view in enumerate(views) if c not in rules])
        for c in categories:
            rules.setdefault(c, ("categorical", None))
        return views, kinds, self._treat_quantities(table, views, kinds, rules)

    def _take_fit(self, model, info, seed, views, kinds, quantities, named):
        names = [view["name"] for view in views]
        self._columns = names
        self.n_features_in_ = len(names)
        kept = [c for c in range(len(names)) if c not in quantities]
        self._take_model(model, [kinds[c] for c in kept])
        if named:
            self.feature_names_in_ = np.array(names, dtype=object)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_
        self.seed_ = seed
        self._take_info(info)

    def fit(self, X, y=None, sample_weight=None, *, columns=None, label=None, weights=None):
        """Clusters the rows of X. ``y`` is ignored; ``sample_weight`` says how often each row counts.

        X may be a path: of a file (CSV, TSV, Parquet, Arrow, encoded), of a folder, with ``*``, or a list of paths, whose rows
        follow each other. Then ``columns`` names the columns to cluster on; ``label`` names one that is left out, whose
        texts become ``label_``; ``weights`` names one of numbers that stands for ``sample_weight``.
        """
        options = self._options()
        columns, sample_weight = self._read(X, sample_weight, columns, label, weights)
        table = columns.table()
        n_rows = table.shape[0]
        if n_rows == 1:
            raise ValueError("1 sample is too few: clusters are found by comparing rows")
        if not isinstance(self.init, str) and "init_rows" not in options:
            options["init_rows"] = self._start_rows(table)
        views, kinds, quantities = self._settle_columns(table, columns.kinds, columns.categories)
        weights = _weights(sample_weight, n_rows)
        options["column_weights"] = self._column_weights([view["name"] for view in views])
        with Reporter(self.verbose, getattr(self, "callback", None)) as reporter:
            model, info = self._fit_table(table, weights, reporter.hook, options)
        self.labels_ = np.empty(n_rows, np.int32)
        model.labels(self.labels_)
        self._table = table
        self._library = library_of(X)
        self._take_fit(model, info, options["seed"], views, kinds, quantities, columns.named)
        return self

    def _read(self, X, sample_weight, names, label, weights):
        """The columns to cluster on, and the weights."""
        columns = columns_of(X)
        if names is label is weights is None:
            return columns, sample_weight
        if not is_path(X):
            raise ValueError("columns, label and weights are for a path; leave columns out of a table in memory, and pass "
                             "sample_weight")
        if weights is not None and sample_weight is not None:
            raise ValueError("give weights or sample_weight, not both")
        beside = [name for name in (label, weights) if name is not None]
        if names is None:
            table = columns.table()
            columns.read = table
            names = [table.column(c)["name"] for c in range(table.shape[1])]
        kept = columns.select([*(name for name in ([names] if isinstance(names, str) else names) if name not in beside), *beside])
        values = {}
        for name in reversed(beside):
            codes, texts, _, _ = kept.columns.pop()
            kept.kinds.pop()
            kept.names.pop()
            values[name] = np.array([*texts, None], dtype=object)[codes]
        if label is not None:
            self.label_ = values[label]
        if weights is not None:
            try:
                sample_weight = values[weights].astype(np.float64)
            except (TypeError, ValueError):
                raise ValueError(f"column {weights!r} holds other values than numbers, or misses some; a weight is a number") from None
        return kept, sample_weight

    def _start_rows(self, table):
        raise ValueError("init must be the name of a start or the indices of one row for each cluster")

    @staticmethod
    def _fit_table(table, weights, hook, options):
        """One call of the library. More clusters than distinct rows, yet not than rows, are fewer with a warning,
        as scikit-learn's users know it from KMeans."""
        try:
            return _core.fit(table, weights=weights, callback=hook, **options)
        except _core.CoforestError as error:
            given = 0 < options["k"] <= table.shape[0] and "init_rows" not in options
            if table.shape[1] == 1 and error.status != _core.ERR_FEW_ROWS:
                raise retold(error, f"{error} (n_features = 1)") from None
            if error.status != _core.ERR_FEW_ROWS or not given:
                raise
            _warn(f"{error}; as many clusters as distinct rows are made", ConvergenceWarning)
        for k in range(min(options["k"] - 1, table.count_distinct()), 0, -1):
            try:
                return _core.fit(table, weights=weights, callback=hook, **dict(options, k=k))
            except _core.CoforestError as error:
                if error.status != _core.ERR_FEW_ROWS or k == 1:
                    raise

    def _take_model(self, model, kinds):
        if getattr(self, "_model", None) is not model:
            self._memberships = None
        self._model = model
        self._n_features_out = self.n_clusters_ = model.k
        self.cluster_sizes_ = np.array(model.sizes)
        self._kinds = list(kinds)
        self._found = Found(model, self._kinds)
        self.cluster_means_ = {name: np.array(means) for name, means in model.means}

    def _take_info(self, info):
        self.info_ = dict(info)
        if not isinstance(self.init, str):
            self.info_["init"] = "rows"
        self.stop_reason_ = self.info_["stop_reason"]
        self.objective_ = info["objective"]
        self.log_likelihood_ = info["log_likelihood"]
        self.n_iter_ = max(1, info["passes"])
        self.n_rebuilds_ = info["rebuilds"]
        if "gamma" in info:
            self.gamma_ = info["gamma"]

    @property
    def forest_(self):
        """The learned order trees: a ``Forest``, one ``Tree`` a column, by name or place."""
        self._check_fitted()
        return self._found.forest

    @property
    def categories_(self):
        """The values of every column in the order of their ids: one array a column, None for a missing cell."""
        self._check_fitted()
        return self._found.categories

    @property
    def cuts_(self):
        """The edges of every quantity that was cut: ``{name: array}``."""
        self._check_fitted()
        return self._found.cuts

    @property
    def cluster_quartiles_(self):
        """Of every quantity that was cut, an array of clusters by least, first quartile, median, third quartile and
        greatest value; dates count in seconds since 1970."""
        self._check_fitted()
        return self._found.quartiles

    @property
    def cluster_profiles_(self):
        """The share of every value in every cluster: one array a column, clusters by values."""
        self._check_fitted()
        return self._found.profiles

    @property
    def cluster_modes_(self):
        """The commonest value of every column in every cluster: clusters by columns."""
        self._check_fitted()
        return self._found.modes

    @property
    def history_(self):
        """One dict a pass: restart, rebuild, pass, objective, moved. In a start refined by the likelihood the objective
        is minus the logarithm of that of its rows."""
        self._check_fitted()
        return self._model.result("history")

    @property
    def alternatives_(self):
        """Other partitions that are nearly as good and differ clearly, at most two, the best first. One dict for each:
        labels, cluster_sizes, agreement (adjusted Rand index with ``labels_``), log_likelihood, refined_by, restart, and
        keep, the parameter that makes it the result. Empty after pickling or loading."""
        self._check_fitted()
        others = []
        for number, record in enumerate(self._model.result("alternatives")):
            labels = np.empty(len(self.labels_), np.int32)
            sizes = self._model.alternative(number, labels)
            others.append(dict(record, labels=labels, cluster_sizes=np.array(sizes)))
        return others

    @property
    def refined_by_(self):
        """What the kept start was refined by: "coforest", every row is in the nearest cluster along the trees, or
        "likelihood", in its likeliest one (``info_["nearer_other"]`` is the share of rows that lie nearer to another cluster
        along the trees). ``predict``, ``transform`` and ``margins`` go by the same. None for other methods."""
        self._check_fitted()
        return self._model.result("refined_by")

    @property
    def cluster_agreement_(self):
        """How far the starts agree about each cluster: the rows it has in common with its nearest counterpart over the
        rows of either, mean over the other starts that are nearly as likely; None where there were none."""
        self._check_fitted()
        agreement = self._model.result("cluster_agreement")
        return None if agreement is None else np.array(agreement)

    @property
    def k_curve_(self):
        """One dict a number of clusters that was tried: k, log_likelihood, the greatest of its starts, and agreement, that
        of halves of the table, None where it was not measured; None where ``n_clusters`` was a number."""
        self._check_fitted()
        return self._model.result("k_curve") or None

    @property
    def restarts_(self):
        """One dict for every restart: objective, log_likelihood, rebuilds, passes, stop_reason, criterion (larger is
        better), by_likelihood (rows went to the likeliest cluster, not to the nearest) and, with several restarts,
        agreement (adjusted Rand index with the kept restart)."""
        self._check_fitted()
        return self._model.result("restart_records")

    # ---- New rows --------------------------------------------------------------------------------------------

    def __sklearn_is_fitted__(self):
        return hasattr(self, "_model")

    def _check_fitted(self):
        if not hasattr(self, "_model"):
            raise NotFittedError(
                f"This {type(self).__name__} instance is not fitted yet. Call 'fit' with appropriate arguments "
                "before using this estimator."
            )

    def _check_names(self, names):
        fitted = getattr(self, "feature_names_in_", None)
        own = type(self).__name__
        if fitted is None:
            if names is not None:
                _warn(f"X has feature names, but {own} was fitted without feature names")
            return
        if names is None:
            _warn(f"X does not have valid feature names, but {own} was fitted with feature names")
            return
        if list(names) == list(fitted):
            return
        unexpected, missing = sorted(set(names) - set(fitted)), sorted(set(fitted) - set(names))
        message = "The feature names should match those that were passed during fit.\n"
        message += _name_list("Feature names unseen at fit time", unexpected)
        message += _name_list("Feature names seen at fit time, yet now missing", missing)
        if not unexpected and not missing:
            message += "Feature names must be in the same order as they were in fit.\n"
        raise ValueError(message)

    def _new_table(self, X, tell=True):
        self._check_fitted()
        columns = columns_of(X)
        table = None
        names = columns.names
        if names is None:
            columns.read = table = columns.table()
            names = [table.column(c)["name"] for c in range(table.shape[1])]
            if is_path(X) and names != self._columns and set(self._columns) < set(names):  # others were left out by fit, too
                table = columns.select(self._columns).table()
                names = self._columns
        self._check_names(names if columns.named else None)
        if len(names) != self.n_features_in_:
            raise ValueError(
                f"X has {len(names)} features, but {type(self).__name__} is expecting {self.n_features_in_} features "
                "as input."
            )
        table = table if table is not None else columns.table(self._columns)
        if _choice("handle_unknown", self.handle_unknown, _UNKNOWN) != "ignore" and tell:
            self._tell_unseen(table)
        return table

    def _tell_unseen(self, table):
        """Warns of values that ``fit`` never met, or refuses them."""
        sentences = []
        found = {}
        for attribute, text, like, n_rows in self._model.unseen(table):
            found.setdefault(attribute, []).append((text, like, n_rows))
        trees = self.forest_.trees() if found else []
        for attribute, values in found.items():
            examples = ["missing" if text is None else repr(text) + (f" (fitted: {trees[attribute].values[like]!r})"
                        if like >= 0 else "") for text, like, _ in values]
            n_rows = sum(n for _, _, n in values)
            sentences.append(f"column {trees[attribute].name!r} has {n_rows} {'cell' if n_rows == 1 else 'cells'} with values that fit never met: "
                             f"{_few(examples)}")
        if not sentences:
            return
        message = "; ".join(sentences[:_SHOWN_NAMES])
        if len(sentences) > _SHOWN_NAMES:
            message += f"; and {len(sentences) - _SHOWN_NAMES} more columns"
        if self.handle_unknown == "error":
            raise ValueError(f"{message}. handle_unknown='warn' or 'ignore' lets them count for no cluster")
        _warn(f"{message}. They count for no cluster and against none")

    def _predict(self, table):
        labels = np.empty(table.shape[0], np.int32)
        return labels, self._model.predict(table, threads_of(self.n_jobs), labels)

    def predict(self, X):
        """The cluster of every row; a value never met in ``fit`` counts for no cluster and against none."""
        return self._predict(self._new_table(X))[0]

    def count_unseen(self, X):
        """How many cells and rows of X hold values that ``fit`` never met, and how many rows would be dropped."""
        return self._predict(self._new_table(X, tell=False))[1]

    def transform(self, X):
        """Distance of every row to every cluster, rows by clusters: of COForest along the trees, whatever the kept start was
        refined by (``refined_by_``), so that features mean the same in every fold; ``predict_log_proba`` has the logarithms of
        probabilities. Of LCA they are minus the logarithms of joint probabilities."""
        return self._transform(self._new_table(X))

    def _transform(self, table):
        distances = np.empty((table.shape[0], self._model.k))
        self._model.transform(table, threads_of(self.n_jobs), distances)
        if self._model.result("refined_by") == "likelihood" and not self.cluster_means_:
            self._measure_along_trees(table, distances)
        return distances

    def _measure_along_trees(self, table, distances):
        """Replaces what is finite: the mean way from a row's value to those of a cluster's rows, added up over columns."""
        n_clusters = self._model.k
        finite = np.isfinite(distances)
        distances[finite] = 0.0
        weights = self._column_weights(self._columns)
        authors = _core.FIT_OPTIONS["variant"]["words"][self._model.variant] == "authors"
        for r, (tree, profile) in enumerate(zip(self._found.forest.trees(), self._found.profiles)):
            if not tree.used:
                continue
            n = len(tree.values)
            weight = 1.0 if weights is None else weights[self._columns.index(tree.name)]
            scores = np.zeros((n + 1, n_clusters))  # the last is that of a value never met
            scores[:n] = tree.distances() @ np.nan_to_num(profile).T * (weight / (n - 1 if authors else 1))
            distances += scores[self._values(table, r)]

    def margins(self, X=None):
        """How clearly every row that was fitted, or of X, belongs to its cluster: an array with the fields cluster, next
        (the nearest other one, -1 if there is none), distance, next_distance and lead, which is 1 - distance /
        next_distance: 0 on the border, 1 for a row that fits exactly."""
        table = self._fitted_table(X)
        n_rows = table.shape[0]
        labels, following, numbers = np.empty(n_rows, np.int32), np.empty(n_rows, np.int32), np.empty((n_rows, 3))
        if X is None:
            labels = self.labels_
        else:
            self._model.predict(table, threads_of(self.n_jobs), labels)
        self._model.margins(table, threads_of(self.n_jobs), labels, numbers, following)
        fields = [("cluster", "i4"), ("next", "i4"), ("distance", "f8"), ("next_distance", "f8"), ("lead", "f8")]
        margins = np.empty(n_rows, dtype=fields)
        margins["cluster"], margins["next"] = labels, following
        margins["distance"], margins["next_distance"], margins["lead"] = numbers.T
        return margins

    def _rate(self, table):
        """Memberships and log-likelihoods of the rows of a table."""
        n_rows = table.shape[0]
        memberships, log_likelihoods = np.empty((n_rows, self._model.k)), np.empty(n_rows)
        self._model.rate(table, threads_of(self.n_jobs), memberships, log_likelihoods)
        return memberships, log_likelihoods

    @property
    def memberships_(self):
        """Probabilities of every row that was fitted for every cluster, as ``predict_proba`` gives them. A pickle does not keep
        the rows; ``keep_memberships`` makes it keep these."""
        self._check_fitted()
        kept = getattr(self, "_memberships", None)
        return kept if kept is not None else self._rate(self._fitted_table(None))[0]

    def keep_memberships(self):
        """Makes ``memberships_`` a part of this model, so that a pickle has them, too: 8 bytes for each row and cluster. Gives
        the model itself."""
        self._memberships = self.memberships_
        return self

    def predict_proba(self, X):
        """Probability of every cluster for every row, rows by clusters: of the classes of the mixture for LCA and models
        that the likelihood refined, whose largest is the label of ``predict``; otherwise of classes with the smoothed
        profiles of the partition. NaN for a dropped row."""
        return self._rate(self._new_table(X))[0]

    def predict_log_proba(self, X):
        """Natural logarithms of ``predict_proba``; minus infinity for a cluster that is impossible."""
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))

    def score_samples(self, X):
        """Log-likelihood of every row under the same mixture. A value never met in ``fit`` counts what the prior gives to
        one more value. NaN for a dropped row."""
        return self._rate(self._new_table(X))[1]

    def score(self, X, y=None, sample_weight=None):
        """Mean of ``score_samples`` over the rows that are not dropped, weighted by ``sample_weight``: the higher, the
        better the clusters explain the rows. ``y`` is ignored."""
        scores = self.score_samples(X)
        weights = _weights(sample_weight, len(scores))
        kept = ~np.isnan(scores)
        return float(np.average(scores[kept], weights=None if weights is None else weights[kept]))

    def _criterion(self, key, X, sample_weight):
        table = self._new_table(X)
        weights = _weights(sample_weight, table.shape[0])
        return self._model.criteria(table, threads_of(self.n_jobs), weights)[key]

    def bic(self, X, sample_weight=None):
        """Bayesian information criterion of the mixture for the rows of X: ``p * log(n)`` minus twice the log-likelihood,
        with p free parameters: ``k - 1`` class shares and in every class one less than each column has values. Smaller is
        better."""
        return self._criterion("bic", X, sample_weight)

    def aic(self, X, sample_weight=None):
        """Akaike information criterion: as ``bic`` with ``2 * p`` instead of ``p * log(n)``."""
        return self._criterion("aic", X, sample_weight)

    def icl(self, X, sample_weight=None):
        """Integrated completed likelihood: ``bic`` plus twice the entropy of the memberships."""
        return self._criterion("icl", X, sample_weight)

    def get_feature_names_out(self, input_features=None):
        """Names of the columns of ``transform``: coforest0, coforest1 and so on."""
        self._check_fitted()
        prefix = type(self).__name__.lower()
        return np.array([f"{prefix}{j}" for j in range(self._n_features_out)], dtype=object)

    # ---- Keeping ---------------------------------------------------------------------------------------------

    _MADE_FROM_MODEL = ("cluster_sizes_", "cluster_means_", "_found")

    def __getstate__(self):
        """Everything but the encoded table, and what is made from the model again."""
        inherited = getattr(super(), "__getstate__", None)
        state = dict(inherited() if inherited is not None else self.__dict__)
        for name in ("_table", *self._MADE_FROM_MODEL):
            state.pop(name, None)
        return state

    def __setstate__(self, state):
        """Pickles of other versions too: parameters that they do not have are at their defaults."""
        for name, parameter in inspect.signature(type(self).__init__).parameters.items():
            if name != "self":
                self.__dict__.setdefault(name, parameter.default)
        self.__dict__.update((name, value) for name, value in state.items() if name not in self._MADE_FROM_MODEL)
        if "_model" in state:
            self._take_model(self._model, self._kinds)

    def __copy__(self):
        other = type(self).__new__(type(self))
        other.__dict__.update(self.__dict__)
        return other

    def __deepcopy__(self, memo):
        """The model and the rows that were fitted never change, so copies share them."""
        for shared in ("_model", "_table"):
            if hasattr(self, shared):
                memo[id(getattr(self, shared))] = getattr(self, shared)
        other = memo[id(self)] = type(self).__new__(type(self))
        other.__dict__.update(copy.deepcopy(self.__dict__, memo))
        return other

    def _report_table(self, X, y):
        if X is None:
            if y is not None:
                raise ValueError("y needs X beside it: the rows it belongs to")
            return getattr(self, "_table", None)
        if y is None:
            return self._new_table(X)
        columns = columns_of(X)
        if columns.names is None or columns.codes is not None:
            table, cells = columns.table(), np.empty(len(_as_array(y)), np.int32)
            texts = [np.array([*table.codes(c, cells), None], dtype=object)[cells] for c in range(table.shape[1])]
            columns = columns_of(dict(zip(self._columns, texts)))
        columns.add_array(_as_array(y))
        table = columns.table([*self._columns, "class" if "class" not in self._columns else "class (y)"])
        table.set_role(len(self._columns), _core.ROLES["label"])
        return table

    def _fitted_table(self, X):
        """The table that was fitted, or that of X."""
        self._check_fitted()
        table = self._report_table(X, None)
        if table is None:
            raise ValueError("the rows that were fitted are not kept by a pickle or a model file; pass X")
        return table

    def embed(self, X=None):
        """Places of the distinct rows in the plane, by t-SNE of the learned distances: an array with the fields
        row (the first of those that are equal), n_rows, x and y. Beyond 1500 distinct rows it is a sample."""
        table = self._fitted_table(X)
        points = self._model.embed(table, getattr(self, "seed_", 1), threads_of(self.n_jobs))
        return np.array(points, dtype=[("row", "i8"), ("n_rows", "i8"), ("x", "f8"), ("y", "f8")])

    def report(self, path, X=None, y=None, *, source=None):
        """Writes a page to look at, the one of ``coforest fit --report``: one HTML file that needs nothing else.

        It shows the rows that were fitted (not after pickling or loading; then pass X), or those of X, with scores
        against the classes y. ``source`` is what the page calls the table.
        """
        self._check_fitted()
        table = self._report_table(X, y)
        facts = {}
        if hasattr(self, "info_"):  # a model file does not tell
            facts = {"seed": str(self.seed_), "start": self.info_["init"], "restart chosen by": self.info_["select"]}
        texts = [text.encode() for fact in facts.items() for text in fact]
        page = self._model.report(table, source, getattr(self, "seed_", 1),
                                  threads_of(self.n_jobs), texts)
        with open(path, "wb") as file:
            file.write(page)

    def save(self, path):
        """Writes a model file, which ``coforest.load`` and the command line read."""
        self._check_fitted()
        params = {name: value for name, value in self.get_params(deep=False).items() if _model_file.plain(value)}
        note = {"version": _core.version, "class": type(self).__name__, "params": params, "columns": self._columns,
                "kinds": self._kinds, "named": hasattr(self, "feature_names_in_")}
        if hasattr(self, "info_"):
            note.update(seed=self.seed_, info=self.info_)
        _model_file.write(path, _model_file.with_note(self._model.to_bytes(), note))

    if HAVE_SKLEARN:

        def __sklearn_tags__(self):
            tags = super().__sklearn_tags__()
            tags.input_tags.allow_nan = True
            tags.input_tags.categorical = True
            tags.input_tags.string = True
            return tags

        def _more_tags(self):  # scikit-learn before 1.6
            return {"allow_nan": True, "X_types": ["2darray", "categorical", "string"]}


def _labels_new_rows(estimator):
    """Whether the method can: some compare whole rows."""
    model = getattr(estimator, "_model", None)
    if model is not None:
        return model.predicts
    return _core.method_facts(getattr(estimator, "method", estimator._method))["predicts"]


# Here, and not as decorators: scikit-learn wraps the methods when the class is made.
for _name in ("predict", "transform", "margins", "typical_rows", "count_unseen", "fit_transform"):
    setattr(_CategoryClusterer, _name, available_if(_labels_new_rows)(getattr(_CategoryClusterer, _name)))


_SHARED = {
    "n_init": "auto",
    "init": "portfolio",
    "select": "auto",
    "max_iter": 51,
    "missing": "value",
    "ordinal": None,
    "numeric": None,
    "categorical": None,
    "quantities": None,
    "bins": 16,
    "cut": None,
    "column_weights": None,
    "random_state": None,
    "time_limit": None,
    "handle_unknown": "warn",
    "n_jobs": None,
    "verbose": 0,
    "callback": None,
}


def _constructor(**own):
    """An __init__ with the parameters that all estimators have and some of one's own, which does nothing but keep them, as
    scikit-learn wants it; what they may be is checked by fit."""
    defaults = {"n_clusters": 8, **_SHARED, **own}
    Parameter = inspect.Parameter

    def __init__(self, *arguments, **parameters):
        try:
            bound = signature.bind(self, *arguments, **parameters)
        except TypeError as error:
            raise TypeError(f"{type(self).__name__}.__init__() {error}") from None
        bound.apply_defaults()
        for name in defaults:
            setattr(self, name, bound.arguments[name])

    signature = inspect.Signature([
        Parameter("self", Parameter.POSITIONAL_OR_KEYWORD),
        *(Parameter(name, Parameter.POSITIONAL_OR_KEYWORD if name == "n_clusters" else Parameter.KEYWORD_ONLY, default=value)
          for name, value in defaults.items())])
    __init__.__signature__ = signature
    return __init__


class COForest(_CategoryClusterer):
    """Clusters rows of categories with an order tree learned for every column.

    Parameters
    ----------
    n_clusters : int, pair of int or "auto", default=8
        How many clusters to make; "auto" to have the number found, or a pair such as (2, 12) to have the number found
        among these: from the one downward that is likeliest where columns may depend on each other inside clusters,
        the first on which the halves of the table agree nearly as well as on any smaller one. Where 1 is found there
        is no structure.
    n_init : int or "auto", default="auto"
        How many starts to try; the best result is kept. "auto": 10, and of the portfolio more on small tables, up to
        100.
    init : str or array of int, default="portfolio"
        How a start is made: "portfolio" (two alternating kinds; "kmeans" is done where columns are numeric or the
        method is another), "kmeans", "farthest", "random", "modes++", "cao" or "huang"; or the indices of
        ``n_clusters`` rows, the first modes of a single start.
    select : str, default="auto"
        Which start is the best: "balance", both likely and tight, "likelihood", "objective" or "mixture"; "auto"
        takes for the portfolio mixture where quantities were cut, else balance; for other starts objective with lca,
        kmodes and k-prototypes, else likelihood.
    variant : {"paper", "authors"}, default="paper"
        "paper", the equations as printed, or "authors", the scaling of the authors' released program.
    max_iter : int, default=51
        The most passes over the rows for each forest.
    max_rebuilds : int, default=51
        The most forests a start may grow.
    missing : {"value", "ignore", "drop", "error"}, default="value"
        How missing cells are taken: "value", "ignore", "drop" (label -1) or "error".
    ordinal : dict of lists, default=None
        Orders of columns, ``{"size": ["small", "medium", "large"]}``; ordered pandas categories and ordered Arrow
        dictionaries bring their own.
    numeric : name, place or list of them, default=None
        Columns that are quantities although they have few values, by name or place; one, or a list.
    categorical : name, place or list of them, default=None
        Columns that are categories although they look like quantities; pandas categories need no mention.
    quantities : {"cut", "scaled", "values"}, default=None
        What becomes of quantities, columns of many numbers, dates or times: "cut" into bins of equal share, which are
        ordered categories; "scaled" to 0..1 as numbers beside the categories, which have no tree but means
        (``cluster_means_``); "values", every number is a category. None means "scaled" for k-prototypes and
        ek-prototypes, else "cut". ``cuts_`` tells where columns were cut.
    bins : int, default=16
        How many bins a quantity is cut into.
    cut : dict of lists, default=None
        Where to cut instead, ``{"age": [18, 30, 65]}``; a value equal to an edge lies above it.
    column_weights : dict of float, default=None
        How much columns count in distances and in the choice, ``{"age": 0.5, "income": 2}``; others count 1.
    random_state : int, generator or None, default=None
        A whole number gives what the command line's ``--seed`` gives; None draws one.
    keep : int, default=1
        2 or 3 makes the second or third of the partitions that are nearly as good the result (``alternatives_``).
    time_limit : float, default=None
        Seconds after which the fit ends with the best result so far, though not before its first start has ended;
        None: no limit.
    handle_unknown : {"warn", "ignore", "error"}, default="warn"
        What becomes of values of new rows that ``fit`` never met: "warn" names them and goes on, "ignore" goes on,
        "error" refuses them. They count for no cluster and against none.
    n_jobs : int, default=None
        Threads; None means 1 unless within ``joblib.parallel_config``, -1 all cores that the process may use. The
        labels do not depend on it.
    verbose : int, default=0
        1 shows progress (with tqdm where it is installed), 2 every pass.
    callback : callable, default=None
        Called with a ``Progress`` at most once a pass; a true answer ends the fit with what it has.

    Attributes
    ----------
    labels_ : array of int
        The cluster of every row that was fitted; -1 for a dropped one.
    n_clusters_ : int
        How many clusters there are.
    cluster_sizes_ : array of float
        Rows of every cluster, or the sum of their weights.
    cluster_profiles_ : list of arrays
        The share of every value in every cluster: one array a column, clusters by values.
    cluster_modes_ : array
        The commonest value of every column in every cluster.
    cluster_means_ : dict of arrays
        Means of the quantities that stayed numbers.
    cluster_quartiles_ : dict of arrays
        Five numbers of the quantities that were cut.
    cluster_agreement_ : array of float or None
        How far the starts agree about each cluster.
    categories_ : list of arrays
        The values of every column in the order of their ids.
    cuts_ : dict of arrays
        The edges of every quantity that was cut.
    forest_ : Forest
        The learned order trees, one a column.
    objective_ : float
        The sum of the distances between rows and their clusters.
    log_likelihood_ : float
        Logarithm of the likelihood of the partition.
    n_iter_ : int
        Passes over the rows of the start that was kept.
    n_rebuilds_ : int
        Forests of the start that was kept.
    stop_reason_ : str
        Why that start ended.
    refined_by_ : str or None
        What refined the start that was kept, "coforest" or "likelihood".
    restarts_ : list of dict
        One for every start.
    history_ : list of dict
        One for every pass.
    alternatives_ : list of dict
        Other partitions that are nearly as good.
    k_curve_ : list of dict or None
        One for every number of clusters that was tried.
    info_ : dict
        What was done: the "init" and "select" that were taken, and "n_restarts", how many starts were made.
    seed_ : int
        What stands for ``random_state``; the command line takes it as ``--seed``.
    label_ : array of str
        The column that ``fit(path, label=...)`` left out.
    n_features_in_ : int
        Columns of the table.
    feature_names_in_ : array of str
        Their names, if the table has any.

    Examples
    --------
    >>> import coforest
    >>> zoo = coforest.datasets.load_zoo()
    >>> model = coforest.COForest(n_clusters=7, random_state=1).fit(zoo.data)
    >>> model.predict(zoo.data[:3]).tolist() == model.labels_[:3].tolist()
    True
    >>> model.forest_["legs"]
    <Tree 'legs': 6 values, 5 edges>
    """

    __init__ = _constructor(variant="paper", max_rebuilds=51, keep=1)


class Clusterer(_CategoryClusterer):
    """Any method of the library by its name; ``coforest.methods()`` lists them. Otherwise as COForest.

    For quantities beside categories, ``scale`` is "range" (0..1 over the table), "z" (standard deviations from the mean),
    "none" (as they are) or "auto", which is "z" for k-prototypes; ``gamma`` is the weight of a differing category: a number, for k-prototypes
    also "kmodes" or "clustmixtype", estimated as these packages do; None means 0.5, for ek-prototypes 1, for k-prototypes
    with scale "none" as kmodes does.

    >>> import coforest
    >>> labels = coforest.Clusterer(2, method="cof2", random_state=1).fit_predict([["a", "x"], ["a", "x"], ["b", "y"]])
    >>> bool(labels[0] == labels[1] != labels[2])
    True
    """

    __init__ = _constructor(method="coforest", max_iter=None, scale="auto", gamma=None)


class _NamedMethod(_CategoryClusterer):
    """A method of its own class; the parameters are Clusterer's without method."""

    __init__ = _constructor(scale="auto", gamma=None)


_NAMED_DOC = """{title}.

    The parameters are those of ``coforest.Clusterer`` without ``method``, which is {method!r} here.

    >>> from coforest import {name}
    >>> rows = [["red", "round"], ["red", "long"], ["blue", "round"], ["green", "long"], ["red", "round"]] * 5
    >>> {name}(2, random_state=1).fit(rows).labels_.shape
    (25,)
    """


def _named(name, method):
    title = dict(_core.methods())[method]
    doc = _NAMED_DOC.format(title=title[0].upper() + title[1:], name=name, method=method)
    return type(name, (_NamedMethod,), {"_method": method, "__doc__": doc, "__module__": __name__})


LSM = _named("LSM", "lsm")
JDM = _named("JDM", "jdm")
CBDM = _named("CBDM", "cbdm")
OCIL = _named("OCIL", "ocil")
UDM = _named("UDM", "udm")
DLC = _named("DLC", "dlc")
H2H = _named("H2H", "h2h")
HDC = _named("HDC", "hdc")
ADC = _named("ADC", "adc")


def methods():
    """The methods of this build: ``{name: title}``.

    >>> import coforest
    >>> coforest.methods()["kmodes"]
    'k-modes (Huang 1998)'
    """
    return dict(_core.methods())


def _classes(base):
    """Estimators of this package by name."""
    found = {} if base.__name__.startswith("_") else {base.__name__: base}
    for own in base.__subclasses__():
        if own.__module__.startswith("coforest._"):
            found.update(_classes(own))
    return found


def load(path):
    """An estimator from a model file, as ``save`` or ``coforest fit --model-out`` writes it.

    It predicts and shows its forest; labels of the rows it was fitted on are not part of a model file. One that this
    package wrote gives back the same class with the same parameters, but for those that are objects, and values of the
    types they had. From the command line all values are texts.

    >>> import coforest, os, tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "small.cof")
    >>> coforest.COForest(2, random_state=1).fit([[1, None], [1, True], [2, False]]).save(path)
    >>> coforest.load(path).categories_[1].tolist()
    [False, True, None]
    """
    model = _core.model_load(os.fspath(path))
    note = _model_file.read_note(path)
    own = _classes(_CategoryClusterer).get(note.get("class"))
    if own is not None:
        known = set(own._get_param_names())
        estimator = own(**{name: value for name, value in note["params"].items() if name in known})
    elif model.method == "coforest":
        estimator = COForest(model.k, variant=_core.FIT_OPTIONS["variant"]["words"][model.variant],
                             missing=_core.FIT_OPTIONS["missing"]["words"][model.missing])
    else:
        estimator = Clusterer(model.k, method=model.method, missing=_core.FIT_OPTIONS["missing"]["words"][model.missing])
    estimator._take_model(model, note.get("kinds", ["O"] * model.n_attributes))
    estimator._columns = note.get("columns") or [tree.name for tree in estimator.forest_.trees()] + list(estimator.cluster_means_)
    estimator.n_features_in_ = len(estimator._columns)
    if note.get("named", True):
        estimator.feature_names_in_ = np.array(estimator._columns, dtype=object)
    if "info" in note:
        estimator.seed_ = note["seed"]
        estimator._take_info(note["info"])
    return estimator
