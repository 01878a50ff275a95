"""COForest for Spark: the rows stay on the executors, and the labels are those of the same fit on one machine.

    from coforest.spark import COForest
    model = COForest(n_clusters=5, random_state=1, order_by="id").fit(df)
    model.transform(df)           # df with a column "cluster"

Needs ``pip install coforest[spark]`` on the driver and the executors. Every request is one job of plain tasks. A partition
is kept as an encoded file in the executor's own folder, so a Python worker that dies costs little; what an executor
took with it is made again by Spark.
"""
import inspect
import os
import pickle
import tempfile
import threading
import uuid

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyspark import SparkFiles
from pyspark.sql import SparkSession
from pyspark.sql.types import IntegerType, StructType

from . import _core, _encode, _estimators, _shards
from ._tables import columns_of

__all__ = ["COForest"]

_RECORD = "n_rows bigint, path string"
_TRIES = 4  # of a request whose partitions are not where Spark asked for them


# ---- On an executor --------------------------------------------------------------------------------------------


def _new_path():
    try:
        folder = SparkFiles.getRootDirectory()
    except Exception:
        folder = tempfile.gettempdir()
    return os.path.join(folder, f"coforest-{uuid.uuid4().hex}.cofe")


def _check_no_ties(batch, last, order_by):
    """Rows that compare equal have no order, and may come in another one when a partition is made again."""
    keys = pa.Table.from_batches(([] if last is None else [last]) + [batch]).select(order_by).combine_chunks()
    same = None
    for column in keys.columns:
        column = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
        one, other = column.slice(1), column.slice(0, len(column) - 1)
        equal = pc.coalesce(pc.equal(one, other), pc.and_(one.is_null(), other.is_null()))
        same = equal if same is None else pc.and_(same, equal)
    if len(keys) > 1 and pc.any(same).as_py():
        raise ValueError(f"several rows have the same value of {', '.join(order_by)}, so they have no order; "
                         "order_by needs columns that tell every two rows apart")


def _store(order_by):
    """A function for mapInArrow: writes the rows of a partition, and gives one record about the file."""

    def tables(batches, n_rows):
        last = None
        for batch in batches:
            if batch.num_rows == 0:
                continue
            _check_no_ties(batch, last, order_by)
            last = batch.slice(batch.num_rows - 1)
            n_rows[0] += batch.num_rows
            yield columns_of(pa.Table.from_batches([batch]).drop_columns(order_by)).table()

    def store(batches):
        n_rows, path = [0], _new_path()
        filled = tables(batches, n_rows)
        first = next(filled, None)
        if first is not None:
            _core.encode_tables(path, _chain(first, filled))
        yield pa.RecordBatch.from_pydict({"n_rows": [n_rows[0]], "path": [path if first is not None else ""]})

    return store


def _chain(first, rest):
    yield first
    yield from rest


_parts = {}  # path of an encoded file -> Part, in this Python worker, as long as the file is there
_lock = threading.Lock()


def _drop_gone_parts():
    for path in [path for path in _parts if not os.path.exists(path)]:
        del _parts[path]


def _part(path):
    """Every fit has files of its own, so fits do not disturb each other."""
    with _lock:
        if path not in _parts:
            _drop_gone_parts()
            _parts[path] = _shards.Part(path)
        return _parts[path]


def _store_file(source):
    path = _new_path()
    _encode.encode(source, path)
    return _core.table_read(path).shape[0], path


def _on_parts(function, arguments):
    """A function for mapPartitionsWithIndex: [(part, result)], or the result None if the file is not here."""

    def run(part, records):
        for record in records:
            missing = record[1] != "" and not os.path.exists(record[1])
            yield part, None if missing else function(record[1], *arguments(part))

    return run


def _remove(records):
    for _, path in records:
        if os.path.exists(path):
            os.remove(path)
    with _lock:
        _drop_gone_parts()


def _labeller(model, names):
    """A function for mapInArrow that adds the column "cluster"."""

    def label(batches):
        fitted = pickle.loads(model.value)
        for batch in batches:
            rows = pa.Table.from_batches([batch]).select(names)
            labels = fitted.predict(rows) if batch.num_rows > 0 else np.empty(0, np.int32)
            yield pa.RecordBatch.from_arrays([*batch.columns, pa.array(labels, pa.int32())],
                                             names=[*batch.schema.names, "cluster"])

    return label


# ---- On the driver ---------------------------------------------------------------------------------------------


class _Parts:
    """The partitions as an RDD of records that Spark keeps, asked by jobs of one task for each."""

    def __init__(self, context, records):
        self.context, self.records = context, records.persist()
        self.group = f"coforest-{uuid.uuid4().hex}"
        self.made = False  # there are files to be removed

    def run(self, function, arguments=lambda part: ()):
        """Results of function(path, *arguments(part)) in the order of the partitions."""
        job = _on_parts(function, arguments)
        for _ in range(_TRIES):
            try:
                self.context.setJobGroup(self.group, "coforest", True)
                found = dict(self.records.mapPartitionsWithIndex(job).collect())
            except BaseException:
                self.context.cancelJobGroup(self.group)
                raise
            self.made = True
            if all(result is not None for result in found.values()):
                return [found[part] for part in sorted(found)]
            self.records.unpersist(True)  # a task ran on a machine without the file: the partitions are made again
            self.records.persist()
        raise RuntimeError("the partitions are not on the executors that Spark asks for them; raise spark.locality.wait")

    def close(self):
        if self.made:
            self.records.foreachPartition(_remove)
        self.records.unpersist()


def _length(path):
    return len(_part(path))


def _describer(first_rows):
    return lambda part: (first_rows[part],)


def _describe(path, first_row):
    return _part(path).describe(first_row) if path else ()


def _answer(path, *question):
    return _part(path).answer(*question)


def _label(path, *question):
    return _part(path).labels(*question)


def _questions(first_rows, schema, request):
    return lambda part: (first_rows[part], schema.value, request, 1)


class COForest(_shards.ShardedFit, _estimators.COForest):
    """coforest.COForest on a Spark DataFrame or a list of paths (CSV, TSV, Parquet, Arrow), with the same parameters.

    ``order_by`` is a column, or a list of columns, that orders the rows of a DataFrame without ties; it is not clustered on.
    A list of paths needs none: the rows are in the order of the paths, every path is a partition, and the executors must
    find the files. ``labels_`` is a NumPy array on the driver. What needs whole rows on one machine is refused:
    quantities as ``"scaled"`` and ``sample_weight``.
    """

    def __init__(self, n_clusters=8, *, order_by=None, **parameters):
        super().__init__(n_clusters, **parameters)
        self.order_by = order_by

    _parameters = inspect.signature(_estimators.COForest.__init__)
    __init__.__signature__ = _parameters.replace(parameters=[
        *_parameters.parameters.values(), inspect.Parameter("order_by", inspect.Parameter.KEYWORD_ONLY, default=None)])

    def _records(self, X, context):
        """An RDD of one record for each partition, in the order of the rows."""
        if isinstance(X, (list, tuple)):
            paths = [os.fspath(path) for path in X]
            return context.parallelize(paths, max(1, len(paths))).map(_store_file)
        if not hasattr(X, "mapInArrow"):
            raise TypeError("X must be a Spark DataFrame or a list of paths; coforest.COForest takes tables in memory")
        if self.order_by is None:
            raise ValueError("a Spark DataFrame has no order of its rows; give order_by=COLUMN, a column or a list of "
                             "columns that order them")
        order_by = [self.order_by] if isinstance(self.order_by, str) else list(self.order_by)
        ordered = X.repartitionByRange(context.defaultParallelism, *order_by).sortWithinPartitions(*order_by)
        return ordered.mapInArrow(_store(order_by), _RECORD).rdd.map(tuple)

    def fit(self, X, y=None, sample_weight=None):
        """Clusters the rows of X."""
        if sample_weight is not None:
            raise ValueError("sample_weight is not supported over Spark; repeat rows instead")
        context = SparkSession.builder.getOrCreate().sparkContext
        parts = _Parts(context, self._records(X, context))
        sent = {}
        try:
            lengths = parts.run(_length)
            first_rows = [int(n) for n in np.cumsum([0, *lengths])[:-1]]

            def every(function, schema, request):
                if schema not in sent:
                    sent[schema] = context.broadcast(schema)
                return parts.run(function, _questions(first_rows, sent[schema], request))

            descriptions = [found for found in parts.run(_describe, _describer(first_rows)) if found]
            schema, request = self._fit_parts(descriptions, lambda *asked: every(_answer, *asked))
            self.labels_ = np.concatenate(every(_label, schema, request))
        finally:
            parts.close()
            for broadcast in sent.values():
                broadcast.destroy()
        return self

    def transform(self, X):
        """The Spark DataFrame with a column ``cluster``: the cluster of every row, from 0 on."""
        self._check_fitted()
        if "cluster" in X.columns:
            raise ValueError('the DataFrame has a column "cluster" already; rename it first')
        model = X.sparkSession.sparkContext.broadcast(pickle.dumps(self._local()))
        schema = StructType([*X.schema.fields]).add("cluster", IntegerType())
        return X.mapInArrow(_labeller(model, list(self._columns)), schema)

    def predict(self, X):
        """``transform`` is for DataFrames; a table in memory gets its labels as an array."""
        return self._local().predict(X)
