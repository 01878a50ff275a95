"""Encoded tables: files that later fits map into memory instead of reading them."""
import os

from . import _core
from ._tables import columns_of

_BATCH_ROWS = 1 << 20


def batches_of(path):
    """The record batches of a Parquet or Arrow file, or None if it is neither by its name."""
    name = os.fspath(path)
    if name.lower().endswith((".parquet", ".pq")):
        import pyarrow.parquet

        return pyarrow.parquet.ParquetFile(name).iter_batches(_BATCH_ROWS)
    if name.lower().endswith((".arrow", ".feather", ".ipc")):
        import pyarrow.ipc

        file = pyarrow.ipc.open_file(name)
        return (file.get_batch(i) for i in range(file.num_record_batches))
    return None


def tables_of(source):
    """Tables and paths in the order of their rows. What comes in batches is never in memory as a whole."""
    if isinstance(source, (str, os.PathLike)):
        batches = batches_of(source)
        if batches is None:
            yield source
    elif isinstance(source, (list, tuple)) and all(isinstance(item, (str, os.PathLike)) for item in source):
        for path in source:
            yield from tables_of(path)
        return
    else:
        batches = source if hasattr(source, "read_next_batch") else None
        if batches is None:
            yield columns_of(source).table()
    if batches is not None:
        import pyarrow

        for batch in batches:
            if batch.num_rows > 0:
                yield columns_of(pyarrow.Table.from_batches([batch])).table()


def encode(source, path):
    """Writes a table as an encoded one, for ``coforest fit path`` and ``mpirun coforest-mpi fit path``.

    ``source`` is a table as ``fit`` takes it (pandas, polars, Arrow, NumPy, a dict of columns), a
    ``pyarrow.RecordBatchReader``, a path, or a list of paths, whose rows follow each other. CSV and TSV, also with gzip
    or zstd, are read by the library; Parquet (``.parquet``) and Arrow files (``.arrow``, ``.feather``) need pyarrow and
    are read batch by batch. The file appears when it is complete.
    """
    _core.encode_tables(path, tables_of(source))
