"""COForest for Dask: the rows stay on the workers, and the labels are those of the same fit on one machine.

    from coforest.dask import COForest
    model = COForest(n_clusters=5, random_state=1).fit(ddf)
    model.labels_                 # a Dask array
    model.predict(other_ddf)      # a Dask array

Needs ``pip install coforest[dask]``. A worker that dies is replaced by Dask, and its rows are read again.
"""
import os
import uuid

import dask
import dask.array as da
import numpy as np
from dask.distributed import get_client

from . import _estimators, _shards

__all__ = ["COForest"]


def _read(path):
    import pandas as pd

    if os.fspath(path).endswith(".parquet"):
        return pd.read_parquet(path)
    separator = "\t" if os.fspath(path).endswith((".tsv", ".tab")) else ","
    return pd.read_csv(path, sep=separator, dtype=str, keep_default_na=False, na_values=["?", "NA", ""])


def _same(value):
    return value


def _predict(frame, model):
    return model.predict(frame) if len(frame) > 0 else np.empty(0, np.int32)


def _parts(X, client):
    """One future for every part of the rows, in their order: about one part for each worker."""
    if isinstance(X, (list, tuple)):
        return [client.submit(_read, path, pure=False) for path in X]
    if not hasattr(X, "to_delayed"):
        raise TypeError("X must be a Dask DataFrame or a list of paths; coforest.COForest takes tables in memory")
    n_workers = max(1, len(client.scheduler_info()["workers"]))
    if X.npartitions > n_workers:
        X = X.repartition(npartitions=n_workers)
    return client.compute(X.to_delayed())


class COForest(_shards.ShardedFit, _estimators.COForest):
    """coforest.COForest on a Dask DataFrame or a list of paths (CSV, TSV, Parquet), with the same parameters.

    A Dask client must be open. ``labels_`` and the result of ``predict`` are Dask arrays. What needs whole rows on one
    machine is refused: quantities as ``"scaled"`` and ``sample_weight``.
    """

    def fit(self, X, y=None, sample_weight=None):
        """Clusters the rows of X, in the order of its partitions."""
        if sample_weight is not None:
            raise ValueError("sample_weight is not supported over Dask; repeat rows instead")
        client = get_client()
        parts = _parts(X, client)
        lengths = client.gather(client.map(len, parts, pure=False))
        first_rows = [int(n) for n in np.cumsum([0, *lengths])[:-1]]
        keys = [(uuid.uuid4().hex, i) for i in range(len(parts))]
        filled = [i for i, n in enumerate(lengths) if n > 0]
        descriptions = client.gather([
            client.submit(_shards.describe, parts[i], first_rows[i], pure=False) for i in filled])
        sent = {}  # the schema is the same for all requests, so it goes to the workers once

        def every(function, schema, request):
            if schema not in sent:
                sent[schema] = client.submit(_same, schema, pure=False)
            question = request if len(request) < 1 << 16 else client.submit(_same, request, pure=False)
            return [client.submit(function, part, key, first, sent[schema], question, pure=False)
                    for part, key, first in zip(parts, keys, first_rows)]

        def ask(schema, request):
            answers = every(_shards.answer, schema, request)
            try:
                return client.gather(answers)
            except BaseException:
                client.cancel(answers)
                raise

        schema, request = self._fit_parts(descriptions, ask)
        labels = every(_shards.label, schema, request)
        self.labels_ = da.concatenate([
            da.from_delayed(dask.delayed(part), shape=(n,), dtype=np.int32) for part, n in zip(labels, lengths)])
        return self

    def predict(self, X):
        """The cluster of every row of a Dask DataFrame, as a Dask array."""
        self._check_fitted()
        model = self._local()
        parts = [da.from_delayed(dask.delayed(_predict)(part, model), shape=(np.nan,), dtype=np.int32)
                 for part in X.to_delayed()]
        return da.concatenate(parts)
