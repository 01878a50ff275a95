"""Tables of every kind people have, to the library's encoded table.

A column goes over either as numbers or points in time that stand for themselves, or as codes with a list of texts. Numbers,
dates and codes that exist already (pandas categories, booleans) are handed over where they lie; everything else is encoded
once, in C.
"""
import datetime
import decimal
import glob
import numbers
import os
import tempfile

import numpy as np

from . import _core

_INTEGER_LIMIT = 2.0**63
_STAMPS = {"s": "tss:", "ms": "tsm:", "us": "tsu:", "ns": "tsn:", "D": None, "h": None, "m": None}  # units of dates in Arrow


_SECOND = 10**9  # nanoseconds


def _date_text(stamp):
    """A NumPy date as the library writes dates: 2024-03-31, or 2024-03-31 12:59:59.5; the unit does not show."""
    unit = np.datetime_data(stamp.dtype)[0]
    if unit in ("Y", "M", "W", "h", "m"):
        stamp = stamp.astype("datetime64[D]" if unit in "YMW" else "datetime64[s]")
    text = str(stamp).replace("T", " ")
    if "." in text:
        text = text.rstrip("0").rstrip(".")
    return text[:-9] if text.endswith(" 00:00:00") else text


def _number_text(value):
    """The text of a number that is no NumPy or Python integer; None for NaN."""
    if value != value:
        return None
    if isinstance(value, decimal.Decimal):
        return format(value.normalize() if value.is_finite() else value, "f")
    whole = float(value).is_integer() and abs(float(value)) < _INTEGER_LIMIT
    return str(int(value)) if whole else str(value)


def _time_text(value):
    """Dates, times of day and durations (in seconds); None for NaT."""
    if isinstance(value, datetime.time):
        text = value.isoformat()
        return text[:-3] if len(text) == 8 and text.endswith(":00") else text
    if type(value).__name__ == "NaTType":
        return None
    if isinstance(value, (datetime.timedelta, np.timedelta64)):
        length = np.timedelta64(getattr(value, "asm8", value))
        if np.isnat(length):
            return None
        seconds = decimal.Decimal(int(length.astype("timedelta64[ns]").astype(np.int64))) / _SECOND
        return f"{_number_text(seconds)} s"
    if hasattr(value, "to_datetime64"):  # a pandas Timestamp, which counts nanoseconds
        value = value.to_datetime64()
    elif isinstance(value, datetime.datetime) and value.tzinfo is not None:
        value = value.astimezone(datetime.timezone.utc).replace(tzinfo=None)
    stamp = np.datetime64(value)
    return None if np.isnat(stamp) else _date_text(stamp)


def text_of(value):
    """The text that stands for a value, the same from every kind of column; None for a missing one."""
    if isinstance(value, str):
        return str(value)
    if value is None or type(value).__name__ == "NAType":
        return None
    if isinstance(value, (bool, np.bool_)):
        return "true" if value else "false"
    if isinstance(value, (datetime.date, datetime.time, datetime.timedelta, np.datetime64, np.timedelta64)):
        return _time_text(value)
    if isinstance(value, numbers.Integral):
        return str(int(value))
    if isinstance(value, (float, np.floating, decimal.Decimal)):
        return _number_text(value)
    if isinstance(value, bytes):
        return value.decode("utf-8")
    return str(value)


_KINDS = (
    ("b", (bool, np.bool_)),
    ("M", (datetime.date, np.datetime64)),
    ("m", (datetime.timedelta, np.timedelta64)),
    ("i", numbers.Integral),
    ("f", (float, np.floating)),
)


def kind_of(values):
    """What the texts of a column were before: 'b', 'i', 'f', 'M' (dates), 'm' (durations) or 'O'."""
    found = set()
    for value in values:
        if text_of(value) is not None:
            found.add(next((kind for kind, types in _KINDS if isinstance(value, types)), "O"))
    return found.pop() if len(found) == 1 else "f" if found == {"i", "f"} else "O"


def value_of(text, kind):
    """The value a text stood for."""
    if kind == "b" and text in ("true", "false"):
        return text == "true"
    try:
        if kind == "M":
            return np.datetime64(text)
        if kind == "m":
            return np.timedelta64(int(decimal.Decimal(text[:-2]) * _SECOND), "ns")
        return int(text) if kind == "i" else float(text) if kind == "f" else text
    except (ValueError, ArithmeticError):
        return text


class Columns:
    """A table on its way in: the columns for the library, their names, and what their values were."""

    def __init__(self, n_rows, names, named):
        self.n_rows = n_rows
        self.names = names  # str, one per column
        self.named = named  # the names are the caller's, and strings
        self.columns = []  # (cells, texts or None or a format of Arrow, ordered, missing rows or None)
        self.kinds = []
        self.categories = set()  # places of columns whose type says that they are categories
        self.codes = None  # or all of it as one int32 matrix
        self.capsule = None  # or an Arrow stream
        self.path = None  # or a file for the library to read
        self.read = None  # or a table that is read
        self.arrow = False  # the caller's table is an Arrow one

    def add(self, cells, values, ordered=False, categories=False):
        """Codes and the values that they number; code -1 is a missing cell."""
        if categories:
            self.categories.add(len(self.columns))
        if all(type(value) is str for value in values):  # as most are; a wide table has many
            self.columns.append((cells, values, ordered, None))
            self.kinds.append("O")
            return
        try:
            texts = [text_of(value) for value in values]
        except UnicodeDecodeError:
            raise ValueError(f"column {self.names[len(self.columns)]!r} holds bytes that are not UTF-8; decode them") from None
        self.columns.append((cells, texts, ordered, None))
        self.kinds.append(kind_of(values))

    def _add_points(self, cells, kind, missing, unit=None):
        """Numbers, or points in time in an Arrow format. They are copied only where they do not lie in a row."""
        if missing is not None and not missing.any():
            missing = None
        if missing is not None:
            missing = np.ascontiguousarray(missing)
        self.columns.append((np.require(cells, requirements=["C", "A"]), unit, False, missing))
        self.kinds.append(kind)

    def _add_codes(self, codes, values, missing):
        if missing is not None:
            codes[missing] = -1
        self.add(codes, values)

    def add_array(self, array, missing=None):
        """A one-dimensional NumPy array. `missing`: an array that is true where there is no value; a masked array has one."""
        if isinstance(array, np.ma.MaskedArray):
            array, missing = array.data, np.ma.getmaskarray(array)
        kind = array.dtype.kind
        if kind == "T":  # texts of variable width
            array, kind = array.astype(object), "O"
        if kind not in "OUSV" and not array.dtype.isnative:
            array = array.astype(array.dtype.newbyteorder("="))
        if kind in "iu":
            self._add_points(array, "i", missing)
        elif kind == "f" and array.dtype.itemsize != 2:  # half of a float has a short text of its own
            self._add_points(array if array.dtype.itemsize in (4, 8) else array.astype(np.float64), "f", missing)
        elif kind == "b":
            bits = np.ascontiguousarray(array).view(np.int8)
            self._add_codes(bits if missing is None else bits.copy(), [False, True], missing)
        elif kind == "M" and np.datetime_data(array.dtype)[0] in _STAMPS and np.datetime_data(array.dtype)[1] == 1:
            unit = np.datetime_data(array.dtype)[0]
            nowhere = np.isnat(array)
            missing = nowhere if missing is None else nowhere | missing
            if _STAMPS[unit] is None:
                array, unit = array.astype("datetime64[s]"), "s"
            self._add_points(array.view(np.int64), "M", missing, _STAMPS[unit])
        elif kind == "O":
            codes = np.empty(len(array), np.int32)
            self._add_codes(codes, _core.encode_objects(array, codes), missing)
        elif kind == "c":
            raise ValueError("Complex data not supported: a category is a text or a plain number")
        elif kind in "fUSMm":
            codes = np.empty(len(array), np.int32)
            if not array.flags.aligned:
                array = array.copy()
            first = _core.encode_fixed(array, codes)
            self._add_codes(codes, list(array[first]), missing)
        else:
            raise TypeError(f"a column of dtype {array.dtype} does not hold categories")

    def table(self, names=None):
        """The encoded table; `names` replace the columns' own."""
        try:
            return self._make(self.names if names is None else names)
        except _core.CoforestError as error:
            if self.arrow or self.path is not None:
                raise
            text = str(error).replace("Arrow column", "column").replace("dictionary value", "value")
            raise retold(error, text) from None
        except UnicodeEncodeError as error:
            raise ValueError(f"the value {error.object!r} is no text that can be written: {error.reason}") from None

    def select(self, names):
        """The named columns alone."""
        table = self.table()
        views = [table.column(c) for c in range(table.shape[1])]
        found = {view["name"]: c for c, view in enumerate(views)}
        chosen = Columns(table.shape[0], list(names), True)
        for name in names:
            if name not in found:
                raise ValueError(f"there is no column {name!r}; there are {', '.join(map(repr, found))}")
            codes = np.empty(table.shape[0], np.int32)
            texts = table.codes(found[name], codes)
            chosen.columns.append((codes, texts, views[found[name]]["ordinal"], None))
            chosen.kinds.append("O" if self.kinds is None else self.kinds[found[name]])
        return chosen

    def _make(self, names):
        if self.read is not None:
            return self.read
        if self.path is not None:
            return _core.table_read(self.path)
        if self.capsule is not None:
            capsule, self.capsule = self.capsule, None
            return _core.table_from_stream(capsule)
        if self.codes is not None:
            return _core.table_from_codes(self.codes, names)
        return _core.table_from_columns(self.n_rows, [(name, *column) for name, column in zip(names, self.columns)])


def retold(error, text):
    """The same error of the library in other words."""
    told = type(error)(text)
    told.status = error.status
    return told


def _check_shape(n_rows, n_columns):
    if n_columns == 0:
        raise ValueError(f"Found array with 0 feature(s) (shape=({n_rows}, 0)) while a minimum of 1 is required.")
    if n_rows == 0:
        raise ValueError(f"Found array with 0 sample(s) (shape=(0, {n_columns})) while a minimum of 1 is required.")


def _add_pandas(columns, series):
    dtype = series.dtype
    if hasattr(dtype, "categories"):
        texts = dtype.categories.to_numpy(dtype=object).tolist()  # a third of what Index.tolist takes on texts
        columns.add(np.ascontiguousarray(series.array.codes), texts, bool(dtype.ordered), True)
    elif isinstance(dtype, np.dtype):
        columns.add_array(series.to_numpy())
    elif type(dtype).__name__ == "SparseDtype":
        columns.add_array(np.asarray(series))
    elif getattr(dtype, "storage", "") == "pyarrow" or type(dtype).__name__ == "ArrowDtype":
        _add_pyarrow(columns, series.array.__arrow_array__())
    elif getattr(dtype, "kind", "O") in "iubf" and hasattr(dtype, "numpy_dtype"):  # nullable numbers and booleans
        missing = series.isna().to_numpy()
        columns.add_array(series.to_numpy(dtype=dtype.numpy_dtype, na_value=0), missing if missing.any() else None)
    else:
        columns.add_array(series.to_numpy(dtype=object))


def _add_pyarrow(columns, array):
    import pyarrow as pa

    if not pa.types.is_dictionary(array.type):
        array = array.dictionary_encode()
    if isinstance(array, pa.ChunkedArray):
        array = array.combine_chunks() if array.num_chunks != 1 else array.chunk(0)
    if isinstance(array, pa.ChunkedArray):  # an empty one, or one whose chunks did not unify
        array = pa.concat_arrays(array.unify_dictionaries().chunks)
    indices = array.indices.fill_null(-1) if array.indices.null_count else array.indices
    columns.add(indices.to_numpy(zero_copy_only=False), array.dictionary.to_pylist(), bool(array.type.ordered))


def _unique(names):
    """Names that occur again get a number: a, a.1, a.2."""
    seen, unique = set(names), []
    for name in names:
        number, own = 0, name
        while own in unique or (number > 0 and own in seen):
            number += 1
            own = f"{name}.{number}"
        unique.append(own)
    return unique if len(seen) < len(names) else list(names)


def _from_pandas(frame):
    n_rows, n_columns = frame.shape
    _check_shape(n_rows, n_columns)
    names = frame.columns.tolist()
    columns = Columns(n_rows, _unique([str(name) for name in names]), all(isinstance(name, str) for name in names))
    for _, series in frame.items():
        _add_pandas(columns, series)
    return columns


def _from_mapping(mapping):
    arrays = {str(name): _as_array(cells) for name, cells in mapping.items()}
    n_rows = len(next(iter(arrays.values()))) if arrays else 0
    _check_shape(n_rows, len(arrays))
    columns = Columns(n_rows, list(arrays), True)
    for name, array in arrays.items():
        if array.ndim != 1 or len(array) != n_rows:
            raise ValueError(f"column {name!r} must be a list of {n_rows} values, as the first one is")
        columns.add_array(array)
    return columns


def _as_array(X):
    """Lists as they are meant: numbers as numbers, anything else as objects, so that None stays None."""
    if isinstance(X, np.ma.MaskedArray):
        return X
    if hasattr(X, "__array__") or hasattr(X, "__array_interface__"):
        return np.asarray(X)
    try:
        array = np.asarray(X)
    except ValueError:
        array = None
    if array is None or array.dtype.kind in "USO" or array.dtype.kind == "f" and (np.abs(array) >= _INTEGER_LIMIT).any():
        try:  # integers beyond 2**63 beside others are floats to NumPy
            array = np.array(X, dtype=object)
        except ValueError:
            raise ValueError("setting an array element with a sequence: the rows have different lengths") from None
    return array


def _from_array(X):
    array = _as_array(X)
    if array.ndim != 2:
        what = "scalar array" if array.ndim == 0 else f"{array.ndim}D array"
        raise ValueError(
            f"Expected 2D array, got {what} instead. Reshape your data either using array.reshape(-1, 1) if it "
            "has a single column or array.reshape(1, -1) if it is a single row."
        )
    n_rows, n_columns = array.shape
    _check_shape(n_rows, n_columns)
    columns = Columns(n_rows, [f"x{c}" for c in range(n_columns)], False)
    masked = isinstance(array, np.ma.MaskedArray)
    if array.dtype.kind in "iu" and array.dtype.isnative and not masked:
        if array.min() >= 0 and array.max() < 2**31 and not array.flags.f_contiguous:
            columns.codes = np.require(array, np.int32, ["C", "A"])
            columns.kinds = ["i"] * n_columns
            return columns
    if array.dtype.kind in "iuf" and not masked:
        array = np.asfortranarray(array)
    for c in range(n_columns):
        columns.add_array(array[:, c])
    return columns


def _arrow_kind(dtype):
    """The kind of a column by the name of its type in polars or pyarrow."""
    name = str(getattr(dtype, "value_type", dtype)).lower()
    kinds = {"int": "i", "uint": "i", "bool": "b", "float": "f", "double": "f", "half": "f", "date": "M", "timestamp": "M"}
    return next((kind for start, kind in kinds.items() if name.startswith(start)), "O")


def _types(X):
    """Types of the columns of an Arrow producer, or None."""
    dtypes = getattr(X, "dtypes", None)
    if dtypes is None:
        dtypes = getattr(getattr(X, "schema", None), "types", None)
    return list(dtypes) if isinstance(dtypes, (list, tuple)) else None


def _with_texts(X, dtypes):
    """A polars or pyarrow table with its durations and decimal numbers as the texts that stand for them."""
    if hasattr(X, "rename_columns") and hasattr(X, "column_names") and len(set(X.column_names)) < len(X.column_names):
        X = X.rename_columns(_unique(X.column_names))
    for c, dtype in enumerate(dtypes):
        if str(dtype).startswith("run_end_encoded") and hasattr(X, "set_column"):
            import pyarrow.compute

            plain = [pyarrow.compute.run_end_decode(chunk) for chunk in getattr(X.column(c), "chunks", [X.column(c)])]
            X = X.set_column(c, X.schema.field(c).name, pyarrow.chunked_array(plain) if len(plain) != 1 else plain[0])
        if not str(dtype).lower().startswith(("duration", "decimal")):
            continue
        if hasattr(X, "set_column"):
            X = X.set_column(c, X.schema.field(c).name, [[text_of(value) for value in X.column(c).to_pylist()]])
        elif hasattr(X, "with_columns"):
            series = X.to_series(c)
            X = X.with_columns(type(series)(series.name, [text_of(value) for value in series.to_list()]))
    return X


def _from_stream(X):
    """polars, pyarrow and every other Arrow producer; names and rows are known once the stream is read."""
    columns = Columns(None, None, True)
    dtypes = _types(X)
    columns.arrow = not hasattr(X, "with_columns")
    if dtypes is not None:
        columns.kinds = ["m" if str(dtype).lower().startswith("duration") else _arrow_kind(dtype) for dtype in dtypes]
        X = _with_texts(X, dtypes)
    else:
        columns.kinds = None
    shape = getattr(X, "shape", None)
    if isinstance(shape, tuple) and len(shape) == 2:
        _check_shape(*shape)
    columns.capsule = X.__arrow_c_stream__()
    return columns


_ARROW_FILES = (".parquet", ".pq", ".feather", ".arrow", ".ipc")
_TABLE_FILES = (*_ARROW_FILES, ".csv", ".tsv", ".tab", ".txt", ".cofe", ".gz", ".zst")


def is_path(X):
    """A path, or a list of paths whose rows follow each other. A list of other texts is a column."""
    if isinstance(X, (list, tuple)):
        return len(X) > 0 and all(isinstance(item, os.PathLike) or isinstance(item, str)
                                  and (item.lower().endswith(_TABLE_FILES) or os.path.exists(item)) for item in X)
    return isinstance(X, (str, os.PathLike))


def _files_of(path):
    """The files that a path names: itself, all tables of a folder in the order of their names, or what fits "*.csv"."""
    if isinstance(path, (list, tuple)):
        return [file for item in path for file in _files_of(item)]
    path = os.fspath(path)
    if os.path.isdir(path):
        files = sorted(entry.path for entry in os.scandir(path) if entry.name.lower().endswith(_TABLE_FILES))
        if not files:
            raise ValueError(f"the folder {path} holds no tables ({', '.join(_TABLE_FILES)})")
        return files
    if os.path.exists(path) or not glob.has_magic(path):
        return [path]
    files = sorted(glob.glob(path, recursive=True))
    if not files:
        raise FileNotFoundError(f"no file fits {path}")
    return files


def _read_arrow(path):
    try:
        from pyarrow import feather, parquet
    except ImportError:
        raise ImportError(f"pyarrow reads {os.path.splitext(path)[1]} files, and is not installed: pip install pyarrow") from None
    return (parquet.read_table if path.lower().endswith((".parquet", ".pq")) else feather.read_table)(path)


def _from_path(path):
    """CSV, TSV and encoded tables by the library, Parquet and Arrow files by pyarrow."""
    files = _files_of(path)
    if all(file.lower().endswith(_ARROW_FILES) for file in files):
        tables = [_read_arrow(file) for file in files]
        if len(tables) > 1:
            import pyarrow

            tables = [pyarrow.concat_tables(tables)]
        return _from_stream(tables[0])
    columns = Columns(None, None, True)
    columns.kinds = None
    if len(files) == 1:
        columns.path = files[0]
        return columns
    from ._encode import tables_of

    with tempfile.TemporaryDirectory(prefix="coforest-") as folder:  # the table is mapped, so that its file may go
        columns.path = os.path.join(folder, "all.cofe")
        _core.encode_tables(columns.path, tables_of(files))
        columns.read = _core.table_read(columns.path)
    return columns


def _from_records(rows):
    """A list of dicts; a key that a row lacks is missing."""
    names = dict.fromkeys(name for row in rows for name in row)
    return _from_mapping({name: [row.get(name) for row in rows] for name in names})


def is_pandas(X):
    return type(X).__module__.split(".")[0] == "pandas" and hasattr(X, "iloc")


def columns_of(X):
    """Columns of a pandas, polars or pyarrow table, a NumPy array, a list of rows or of dicts, a dict of columns, or the
    path of a file."""
    if hasattr(X, "tocsr"):
        raise TypeError("Sparse data was passed, but a table of categories is dense: pass X.toarray()")
    if is_path(X):
        return _from_path(X)
    if is_pandas(X):
        if X.ndim == 1:
            raise ValueError(
                "Expected 2D array, got 1D array instead. Reshape your data: Series.to_frame() makes a table of it."
            )
        return _from_pandas(X)
    if isinstance(X, dict):
        return _from_mapping(X)
    if isinstance(X, (list, tuple)) and len(X) > 0 and all(isinstance(row, dict) for row in X):
        return _from_records(X)
    module = type(X).__module__.split(".")[0]
    if module == "polars" and hasattr(X, "collect"):  # a LazyFrame
        X = X.collect()
    elif module == "pyarrow" and hasattr(X, "scanner"):  # a Dataset
        X = X.to_table()
    if hasattr(X, "__arrow_c_stream__") and not hasattr(X, "__array_interface__"):
        return _from_stream(X)
    if getattr(getattr(X, "dtype", None), "names", None):
        return _from_mapping({name: X[name] for name in X.dtype.names})
    return _from_array(X)
