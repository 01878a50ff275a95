#!/usr/bin/env python3
"""Tables from what real Arrow producers export: pyarrow, and polars and pandas where they are installed.

    python3 test_arrow_producers.py path/to/libcoforest.so

Every table is imported through the C data interface and compared, cell by cell and value id by value id,
with what plain Python makes of the same column. Exit code 77 means skipped.
"""
import ctypes
import random
import sys

try:
    import pyarrow as pa
except ImportError:
    print("SKIP: pyarrow is not installed; pip install pyarrow polars pandas to run this test")
    sys.exit(77)


class Column(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("role", ctypes.c_int32), ("ordinal", ctypes.c_int32),
                ("n_values", ctypes.c_uint32), ("n_missing", ctypes.c_uint64),
                ("missing_text", ctypes.c_char_p)]


def load(path):
    lib = ctypes.CDLL(path)
    pointer, size = ctypes.c_void_p, ctypes.c_size_t
    lib.cof_table_from_arrow.argtypes = [pointer] * 5
    lib.cof_table_from_arrow_stream.argtypes = [pointer] * 4
    lib.cof_table_free.argtypes = [pointer]
    lib.cof_table_n_rows.argtypes = lib.cof_table_n_columns.argtypes = [pointer]
    lib.cof_table_n_rows.restype = lib.cof_table_n_columns.restype = size
    lib.cof_table_column.argtypes = [pointer, size, ctypes.POINTER(Column)]
    lib.cof_table_value.argtypes = [pointer, size, ctypes.c_uint32]
    lib.cof_table_value.restype = ctypes.c_char_p
    lib.cof_table_code.argtypes = [pointer, size, size]
    lib.cof_table_code.restype = ctypes.c_uint32
    return lib


def capsule_pointer(capsule, name):
    get = ctypes.pythonapi.PyCapsule_GetPointer
    get.restype, get.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    return get(capsule, name)


class Failed(Exception):
    pass


def read(lib, data, as_stream):
    """A list of (name, ordinal, values, codes), straight from the library."""
    table, err = ctypes.c_void_p(), ctypes.create_string_buffer(512)
    if as_stream:
        stream = data.__arrow_c_stream__()
        status = lib.cof_table_from_arrow_stream(None, capsule_pointer(stream, b"arrow_array_stream"),
                                                 ctypes.byref(table), err)
    else:
        schema, array = data.__arrow_c_array__()
        status = lib.cof_table_from_arrow(None, capsule_pointer(schema, b"arrow_schema"),
                                          capsule_pointer(array, b"arrow_array"), ctypes.byref(table), err)
    if status != 0:
        raise Failed(f"{status}: {err.value.decode()}")
    columns = []
    for c in range(lib.cof_table_n_columns(table)):
        view = Column()
        assert lib.cof_table_column(table, c, ctypes.byref(view)) == 0
        values = [lib.cof_table_value(table, c, v).decode() for v in range(view.n_values)]
        codes = [lib.cof_table_code(table, i, c) for i in range(lib.cof_table_n_rows(table))]
        assert sum(code == view.n_values for code in codes) == view.n_missing
        columns.append((view.name.decode(), bool(view.ordinal), values, codes))
    lib.cof_table_free(table)
    return columns


def text(cell):
    if cell is None:
        return None
    if isinstance(cell, bool):
        return "true" if cell else "false"
    return cell.decode() if isinstance(cell, bytes) else str(cell)


def expected(cells, order=None):
    """Values and codes of a list of Python cells; `order` is the producer's, for ordered dictionaries."""
    cells = [text(cell) for cell in cells]
    used = {cell for cell in cells if cell is not None}

    def is_integer(t):
        return t.lstrip("+-").isdigit() and t.isascii()

    if order is not None:
        values = [v for v in order if v in used]
    elif used and all(map(is_integer, used)):
        values = sorted(used, key=int)
    else:
        values = sorted(used, key=lambda t: t.encode())
    number = {v: i for i, v in enumerate(values)}
    return values, [len(values) if cell is None else number[cell] for cell in cells]


def check(lib, what, data, columns, as_stream=True, orders={}):
    got = read(lib, data, as_stream)
    assert [name for name, *_ in got] == list(columns), f"{what}: column names differ"
    for (name, ordinal, values, codes), cells in zip(got, columns.values()):
        wanted = expected(cells, orders.get(name))
        assert (values, codes) == wanted, f"{what}, column {name}:\n{values} {codes}\n{wanted}"
        assert ordinal == (name in orders), f"{what}, column {name}: ordinal is {ordinal}"
    print(f"ok: {what}, {len(codes)} rows, {len(got)} columns")


def check_fails(lib, what, data, part):
    try:
        read(lib, data, True)
    except Failed as failure:
        assert part in str(failure), f"{what}: {failure}"
        print(f"ok: {what}: {failure}")
    else:
        raise AssertionError(f"{what} was not refused")


def draw(rng, choices, n, missing=0.2):
    return [None if rng.random() < missing else rng.choice(choices) for _ in range(n)]


def pyarrow_columns(rng, n):
    words = ["b", "a", "", "é", "a much longer value than twelve bytes", "Ω", "10", "9"]
    columns = {"null": pa.nulls(n), "bool": pa.array(draw(rng, [True, False], n), pa.bool_())}
    for bits in (8, 16, 32, 64):
        top = 2 ** (bits - 1)
        columns[f"int{bits}"] = pa.array(draw(rng, [-top, top - 1, 0, 5, -1], n), f"int{bits}")
        columns[f"uint{bits}"] = pa.array(draw(rng, [0, 2 * top - 1, 7, 30], n), f"uint{bits}")
        for sign in ("", "u"):
            index = getattr(pa, f"{sign}int{bits}")()
            dictionary = pa.array(draw(rng, words, n), pa.string()).dictionary_encode().cast(
                pa.dictionary(index, pa.string()))
            columns[f"dictionary {index}"] = dictionary
    for kind in ("string", "large_string", "string_view", "binary", "large_binary", "binary_view"):
        if hasattr(pa, kind):
            columns[kind] = pa.array(draw(rng, words, n), getattr(pa, kind)())
    columns["dictionary of int"] = pa.array(draw(rng, [5, -7, 100], n), pa.int64()).dictionary_encode()
    columns["dictionary with null"] = pa.DictionaryArray.from_arrays(
        pa.array([rng.randrange(3) for _ in range(n)], pa.int8()), pa.array(["z", None, "y"]))
    return columns


def check_pyarrow(lib, rng):
    columns = pyarrow_columns(rng, 200)
    plain = {name: column.to_pylist() for name, column in columns.items()}
    batch = pa.RecordBatch.from_arrays(list(columns.values()), list(columns))
    check(lib, "pyarrow record batch", batch, plain, as_stream=False)
    for start, length in ((1, 150), (13, 7), (199, 1)):
        part = {name: cells[start:start + length] for name, cells in plain.items()}
        check(lib, f"pyarrow batch sliced at {start}", batch.slice(start, length), part, as_stream=False)
        outer = pa.StructArray.from_arrays(list(columns.values()), list(columns)).slice(start, length)
        check(lib, f"pyarrow struct sliced at {start}", outer, part, as_stream=False)
    hidden = [rng.random() < 0.3 for _ in range(200)]
    struct = pa.StructArray.from_arrays(list(columns.values()), list(columns), mask=pa.array(hidden))
    masked = {name: [None if h else cell for h, cell in zip(hidden, cells)] for name, cells in plain.items()}
    check(lib, "pyarrow struct with nulls", struct, masked, as_stream=False)
    cut = {name: cells[9:] for name, cells in masked.items()}
    check(lib, "pyarrow struct with nulls, sliced", struct.slice(9), cut, as_stream=False)
    more = pa.RecordBatch.from_arrays(list(pyarrow_columns(rng, 50).values()), list(columns))
    table = pa.Table.from_batches([batch.slice(3), more, batch.slice(0, 0)])
    check(lib, "pyarrow table of several batches", table, table.to_pydict())

    levels = ["low", "mid", "high"]
    cells = draw(rng, levels, 40)
    array = pa.DictionaryArray.from_arrays([None if c is None else levels.index(c) for c in cells], levels,
                                           ordered=True)
    check(lib, "pyarrow ordered dictionary", pa.table({"level": array}), {"level": cells},
          orders={"level": levels})
    check_fails(lib, "pyarrow durations", pa.table({"wait": pa.array([1], pa.duration("s"))}), "durations")
    check_fails(lib, "pyarrow lists", pa.table({"l": [[1]]}), "nested")
    check_fails(lib, "pyarrow no rows", pa.table({"x": pa.array([], pa.string())}), "no rows")
    bad = pa.table({"raw": pa.array([b"fine", b"\xff"], pa.binary())})
    check_fails(lib, "pyarrow binary", bad, "row 1 (from 0) is not valid UTF-8")


def check_polars(lib, rng):
    try:
        import polars as pl
    except ImportError:
        print("SKIP: polars is not installed")
        return
    words = ["b", "a", "", "é", "a much longer value than twelve bytes"]
    plain = {"s": draw(rng, words, 100), "i": draw(rng, [-5, 3, 10], 100), "b": draw(rng, [True, False], 100),
             "c": draw(rng, words, 100), "e": draw(rng, words, 100), "n": [None] * 100}
    frame = pl.DataFrame(plain, schema={"s": pl.String, "i": pl.Int16, "b": pl.Boolean, "c": pl.Categorical,
                                        "e": pl.Enum(words), "n": pl.Null})
    got = {name: ordinal for name, ordinal, *_ in read(lib, frame, True)}
    print(f"   polars exports as ordered: {[name for name in got if got[name]]}")
    orders = {name: words for name in ("c", "e") if got[name]}
    if got["c"]:  # a Categorical's order is that of its physical codes, which belong to the process
        orders["c"] = frame["c"].cat.get_categories().to_list()
    check(lib, "polars frame", frame, plain, orders=orders)
    both = {name: cells + cells[20:60] for name, cells in plain.items()}
    check(lib, "polars frame of two chunks", pl.concat([frame, frame[20:60]], rechunk=False), both,
          orders=orders)


def check_pandas(lib, rng):
    try:
        import pandas as pd
        pd.DataFrame.__arrow_c_stream__
    except (ImportError, AttributeError):
        print("SKIP: pandas with Arrow export (2.2 or later) is not installed")
        return
    levels = ["small", "large", "huge"]
    plain = {"s": draw(rng, ["x", "w"], 60), "c": draw(rng, ["q", "p"], 60), "o": draw(rng, levels, 60),
             "i": draw(rng, [4, 1], 60, missing=0), "b": draw(rng, [True, False], 60, missing=0)}
    frame = pd.DataFrame(plain)
    frame["c"] = frame["c"].astype("category")
    frame["o"] = pd.Categorical(frame["o"], categories=levels, ordered=True)
    check(lib, "pandas frame", frame, plain, orders={"o": levels})


def main():
    if len(sys.argv) != 2:
        sys.exit(f"usage: {sys.argv[0]} path/to/libcoforest.so")
    lib, rng = load(sys.argv[1]), random.Random(1)
    check_pyarrow(lib, rng)
    check_polars(lib, rng)
    check_pandas(lib, rng)


main()
