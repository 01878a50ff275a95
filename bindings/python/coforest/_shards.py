"""What the engines share: parts of a table become shards on the workers, and one driver asks them.

An engine gives a way to call a function on every part and to get the results in the order of the parts. Everything
else is here: schemas are merged, the driver's requests go out, and the answers are added up.
"""
import threading

import numpy as np

from . import _core, _estimators
from ._progress import Reporter
from ._tables import columns_of

# ---- On a worker -----------------------------------------------------------------------------------------------

_open = {}  # (fit, part) -> Shard: saves time only; a new process opens its shards again
_lock = threading.Lock()


def describe(part, first_row):
    """What the driver must know about a part, a frame or the path of an encoded table: its schema as bytes, kinds,
    categories and stated orders of columns."""
    columns = columns_of(part)
    table = columns.table()
    orders = {c: texts for c, (_, texts, ordered) in enumerate(columns.columns) if ordered}
    return _core.schema_of(table, first_row).to_bytes(), columns.kinds, sorted(columns.categories), orders, columns.named


def _shard(part, key, first_row, schema, threads):
    with _lock:
        if key not in _open:
            for old in [other for other in _open if other[0] != key[0]]:
                del _open[old]  # a fit that has ended
            table = columns_of(part).table() if len(part) > 0 else None
            shard = _core.shard_open(table, _core.schema_read(schema), first_row, threads)
            _open[key] = shard, 0 if table is None else table.shape[0]
        return _open[key]


def answer(part, key, first_row, schema, request, threads=0):
    """The part's answer to a request. threads: 0 stands for all cores."""
    words = np.zeros(_core.request_words(request), np.uint64)
    _shard(part, key, first_row, schema, threads)[0].answer(request, words)
    return words


def label(part, key, first_row, schema, request, threads=0):
    """The labels of the part's rows."""
    shard, n_rows = _shard(part, key, first_row, schema, threads)
    labels = np.empty(n_rows, np.int32)
    shard.labels(request, labels)
    return labels


# ---- On the driver ---------------------------------------------------------------------------------------------


_SHARD_LABELS = 1 << 25  # COF_SHARD_LABELS: as many restarts advance together as the largest part keeps the labels of


def _join_kinds(kinds):
    """One kind for a column whose parts may have been read as different ones."""
    found = set(kinds)
    return found.pop() if len(found) == 1 else "f" if found == {"i", "f"} else "O"


class ShardedFit:
    """Mixed into an estimator: a fit whose rows are reached through an engine."""

    def _local(self):
        """The same model for tables in memory, which workers can be sent."""
        model = _estimators.COForest()
        model.__dict__.update({name: value for name, value in self.__dict__.items() if name != "labels_"})
        model.callback = None
        return model

    def _fit_parts(self, descriptions, ask):
        """`descriptions` of the parts with rows, in the order of the rows. `ask(schema, request)` gives the answers of all
        parts. Returns the schema and the request for labels."""
        if not descriptions:
            raise ValueError("Found array with 0 sample(s) while a minimum of 1 is required.")
        options = self._options()
        schemas, kinds, categories, orders, named = zip(*descriptions)
        parts = [_core.schema_read(part) for part in schemas]
        largest = max(part.shape[0] for part in parts)
        schema = parts[0]
        for part in parts[1:]:
            schema.merge(part)
        for column, texts in orders[0].items():
            schema.set_order(column, texts)
        kinds = None if kinds[0] is None else [_join_kinds(column) for column in zip(*kinds)]
        views, kinds, quantities = self._settle_columns(schema, kinds, set.union(*map(set, categories)))
        options["column_weights"] = self._column_weights([view["name"] for view in views])
        whole = schema.to_bytes()

        def add_up(request, words):
            total = np.frombuffer(words, np.uint64)
            for part in ask(whole, request):
                total += part

        with Reporter(self.verbose, getattr(self, "callback", None)) as reporter:
            model, info = _core.fit(schema, ask=add_up, together=max(1, _SHARD_LABELS // (largest + 1)),
                                    callback=reporter.hook, **options)
        self._take_fit(model, info, options["seed"], views, kinds, quantities, all(named))
        return whole, model.label_request()
