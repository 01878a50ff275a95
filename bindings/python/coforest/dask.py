"""COForest for Dask: the rows stay on the workers, and the labels are those of the same fit on one machine.

    from coforest.dask import COForest
    model = COForest(n_clusters=5, random_state=1).fit(ddf)
    ddf.assign(cluster=model.labels_)
    model.predict(other_ddf)      # a Dask Series, computed when it is asked for

Needs ``pip install coforest[dask]``. A worker that dies is replaced by Dask, and its rows are read again.
"""
import os

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
from dask.distributed import TimeoutError, get_client, get_worker, wait

from . import _estimators, _shards

__all__ = ["COForest"]

_LOOK_S = 2  # after so many seconds without an answer the driver looks whether the workers are alive
_LABELS = pd.Series([], dtype=np.int32, name="cluster")

# ---- On a worker -----------------------------------------------------------------------------------------------


def _read(path):
    if os.fspath(path).endswith((".parquet", ".pq")):
        return pd.read_parquet(path)
    separator = "\t" if os.fspath(path).endswith((".tsv", ".tab")) else ","
    return pd.read_csv(path, sep=separator, dtype=str, keep_default_na=False, na_values=["?", "NA", ""])


def _same(value):
    return value


def _answer(parts, first_rows, schema, request):
    """The sum of the answers of parts that are on one worker, and where that is."""
    worker = get_worker()
    answers = (part.answer(first, schema, request, worker.state.nthreads) for part, first in zip(parts, first_rows))
    return worker.address, sum(answers)


def _label(part, first_row, schema, request):
    labels = part.labels(first_row, schema, request, get_worker().state.nthreads)
    return labels if part.index is None else pd.Series(labels, index=part.index, name=_LABELS.name)


def _predict(frame, model):
    labels = model.predict(frame) if len(frame) > 0 else np.empty(0, np.int32)
    return pd.Series(labels, index=frame.index, name=_LABELS.name)


# ---- On the driver ---------------------------------------------------------------------------------------------


def _frames(X):
    """The partitions as Delayed objects."""
    if isinstance(X, (list, tuple)):
        return [dask.delayed(_read)(path) for path in X]
    if not hasattr(X, "to_delayed"):
        raise TypeError("X must be a Dask DataFrame or a list of paths; coforest.COForest takes tables in memory")
    frames = X.to_delayed()
    # An optimised read of few columns joins partitions.
    return frames if len(frames) == X.npartitions else X.to_delayed(optimize_graph=False)


class _Parts:
    """The encoded parts, which Dask keeps on its workers as long as this object lives. A request is one task for each worker.

    The tasks are bound to the worker that has the parts: one that Dask moves to an idle worker would open the shards anew. If
    the worker is gone, Dask makes its parts again elsewhere, and the tasks follow them.
    """

    def __init__(self, X, client):
        self.client = client
        self.parts = client.compute([dask.delayed(_shards.Part, pure=False)(frame) for frame in _frames(X)])
        try:
            wait(self.parts)
        except BaseException:
            client.cancel(self.parts)
            raise
        holders = client.who_has(self.parts)
        places = [next(iter(holders.get(part.key) or ()), None) for part in self.parts]
        self.lengths = self._gather([(len, address, part) for address, part in zip(places, self.parts)])
        self.first_rows = [int(n) for n in np.cumsum([0, *self.lengths])[:-1]]
        self.places = {address: [i for i, place in enumerate(places) if place == address] for address in places}
        self.sent = {}  # the schema is the same for all requests, so it goes to the workers once

    def _submit(self, function, address, *arguments):
        return self.client.submit(function, *arguments, pure=False, workers=None if address is None else [address])

    def _wait(self, calls):
        """Futures of calls (function, address or None, arguments...) that are done."""
        futures = [self._submit(*call) for call in calls]
        try:
            while True:
                try:
                    wait(futures, timeout=_LOOK_S)
                    return futures
                except TimeoutError:
                    alive = self.client.nthreads()
                for i, (function, address, *arguments) in enumerate(calls):
                    if address is not None and address not in alive and not futures[i].done():
                        self.client.cancel([futures[i]])
                        futures[i] = self._submit(function, None, *arguments)
                calls = [call if call[1] in alive else (call[0], None, *call[2:]) for call in calls]
        except BaseException:
            self.client.cancel(futures)
            raise

    def _gather(self, calls):
        return self.client.gather(self._wait(calls))

    def _futures_of(self, schema, request):
        if schema not in self.sent:
            self.sent[schema] = self.client.submit(_same, schema, pure=False)
        return self.sent[schema], request if len(request) < 1 << 16 else self.client.submit(_same, request, pure=False)

    def _on_each(self, function, *arguments):
        """Calls for the single parts, in their order."""
        address_of = {i: address for address, numbers in self.places.items() for i in numbers}
        return [(function, address_of[i], part, first, *arguments)
                for i, (part, first) in enumerate(zip(self.parts, self.first_rows))]

    def describe(self):
        """Descriptions of the parts that have rows."""
        calls = self._on_each(_shards.Part.describe)
        return self._gather([call for call, n in zip(calls, self.lengths) if n > 0])

    def most_rows(self):
        """Rows of the fullest worker."""
        return max(sum(self.lengths[i] for i in numbers) for numbers in self.places.values())

    def ask(self, schema, request):
        """Sums of the answers, one for each worker."""
        sent, groups = self._futures_of(schema, request), list(self.places.items())
        answers = self._gather([
            (_answer, address, [self.parts[i] for i in numbers], [self.first_rows[i] for i in numbers], *sent)
            for address, numbers in groups])
        self.places = {}
        for (_, numbers), (address, _) in zip(groups, answers):
            self.places.setdefault(address, []).extend(numbers)
        return [words for _, words in answers]

    def labels(self, schema, request):
        """A future for the labels of every part. All are done."""
        labels = self._wait(self._on_each(_label, *self._futures_of(schema, request)))
        for failed in [part for part in labels if part.status != "finished"]:
            failed.result()  # raises
        return labels


class COForest(_shards.ShardedFit, _estimators.COForest):
    """coforest.COForest on a Dask DataFrame or a list of paths (CSV, TSV, Parquet), with the same parameters.

    A Dask client must be open. ``labels_`` and the result of ``predict`` are Dask Series with the partitions and the index of
    the DataFrame; of paths they are Dask arrays. What needs whole rows on one machine is refused: quantities as
    ``"scaled"`` and ``sample_weight``.
    """

    def fit(self, X, y=None, sample_weight=None):
        """Clusters the rows of X, in the order of its partitions."""
        if sample_weight is not None:
            raise ValueError("sample_weight is not supported over Dask; repeat rows instead")
        parts = _Parts(X, get_client())
        schema, request = self._fit_parts(parts.describe(), parts.ask, parts.most_rows())
        labels = parts.labels(schema, request)
        if isinstance(X, (list, tuple)):
            self.labels_ = da.concatenate([da.from_delayed(dask.delayed(part), shape=(n,), dtype=np.int32)
                                           for part, n in zip(labels, parts.lengths)])
        else:
            self.labels_ = dd.from_delayed(labels, meta=_LABELS, divisions=X.divisions, verify_meta=False)
        return self

    def predict(self, X):
        """The cluster of every row of a Dask DataFrame or of a list of paths. Nothing is computed yet."""
        self._check_fitted()
        model = dask.delayed(self._local(), pure=False)
        labels = [dask.delayed(_predict)(frame, model) for frame in _frames(X)]
        if not isinstance(X, (list, tuple)):
            return dd.from_delayed(labels, meta=_LABELS, divisions=X.divisions, verify_meta=False)
        return da.concatenate([da.from_delayed(part, shape=(np.nan,), dtype=np.int32) for part in labels])
