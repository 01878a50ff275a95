"""What the engines share: parts of a table become shards on the workers, and one driver asks them.

An engine gives a way to call a function on every part and to get the results in the order of the parts. Everything
else is here: schemas are merged, the driver's requests go out, and the answers are added up.
"""
import contextlib
import os
import tempfile
import threading

import numpy as np

from . import _core, _estimators
from ._progress import Reporter
from ._tables import columns_of

# ---- On a worker -----------------------------------------------------------------------------------------------


class Part:
    """The rows of one part of one fit, encoded once. Who holds the object decides how long it lives: it goes with the fit.

    ``rows`` is a frame, or the path of an encoded table. The shard is opened by the first request. It is not part of a pickle,
    because it saves time only.
    """

    def __init__(self, rows):
        self._table = self._described = None
        self.n_rows = 0
        self.index = rows.index if hasattr(rows, "iloc") else None
        if len(rows) > 0:
            columns = columns_of(rows)
            self._table = columns.table()
            self.n_rows = self._table.shape[0]
            orders = {c: texts for c, (_, texts, ordered, _) in enumerate(columns.columns) if ordered}
            self._described = columns.kinds, sorted(columns.categories), orders, columns.named
        self._unopened()

    def _unopened(self):
        self._shard, self._lock = None, threading.Lock()

    def __len__(self):
        return self.n_rows

    def describe(self, first_row):
        """What the driver must know: the schema as bytes, kinds, categories and stated orders of columns, and whether their
        names are the caller's."""
        return (_core.schema_of(self._table, first_row).to_bytes(), *self._described)

    def _open(self, first_row, schema, threads):
        with self._lock:
            if self._shard is None:
                self._shard = _core.shard_open(self._table, _core.schema_read(schema), first_row, threads)
            return self._shard

    def answer(self, first_row, schema, request, threads=0):
        """The part's answer to a request. threads: 0 stands for all cores."""
        words = np.zeros(_core.request_words(request), np.uint64)
        self._open(first_row, schema, threads).answer(request, words)
        return words

    def labels(self, first_row, schema, request, threads=0):
        """The labels of the part's rows."""
        labels = np.empty(self.n_rows, np.int32)
        self._open(first_row, schema, threads).labels(request, labels)
        return labels

    def __sizeof__(self):  # Dask reckons with it; an encoded cell takes 1 to 4 bytes
        return object.__sizeof__(self) + (2 * self.n_rows * self._table.shape[1] if self.n_rows > 0 else 0)

    def __getstate__(self):
        """For an engine that moves the part or writes it to disk: the table as the bytes of an encoded file."""
        encoded = None
        if self._table is not None:
            with _temporary_path() as path:
                _core.encode_tables(path, [self._table])
                with open(path, "rb") as file:
                    encoded = file.read()
        return encoded, self._described, self.n_rows, self.index

    def __setstate__(self, state):
        encoded, self._described, self.n_rows, self.index = state
        self._table = None
        if encoded is not None:
            with _temporary_path() as path:
                with open(path, "wb") as file:
                    file.write(encoded)
                self._table = _core.table_read(path)  # mapped, so that the file may go
        self._unopened()


@contextlib.contextmanager
def _temporary_path():
    with tempfile.TemporaryDirectory(prefix="coforest-") as folder:
        yield os.path.join(folder, "part.cofe")


# ---- On the driver ---------------------------------------------------------------------------------------------


_SHARD_LABELS = 1 << 25  # COF_SHARD_LABELS: as many restarts advance together as the fullest worker keeps the labels of


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

    def _fit_parts(self, descriptions, ask, most_rows=0):
        """`descriptions` of the parts with rows, in the order of the rows. `ask(schema, request)` gives the answers of all
        parts, or sums of them. `most_rows` of one worker: by default those of the largest part. Returns the schema and the
        request for labels."""
        if not descriptions:
            raise ValueError("Found array with 0 sample(s) while a minimum of 1 is required.")
        options = self._options()
        schemas, kinds, categories, orders, named = zip(*descriptions)
        parts = [_core.schema_read(part) for part in schemas]
        most_rows = max(most_rows, *(part.shape[0] for part in parts))
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
            model, info = _core.fit(schema, ask=add_up, together=max(1, _SHARD_LABELS // (most_rows + 1)),
                                    callback=reporter.hook, **options)
        self._take_fit(model, info, options["seed"], views, kinds, quantities, all(named))
        return whole, model.label_request()
