"""One table in every shape people have it: always the same labels."""
import numpy as np
import pytest

import coforest
from coforest import _core
from coforest._tables import columns_of

pandas = pytest.importorskip("pandas")


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(7)
    group = rng.integers(0, 3, 300)
    colours = np.array(["red", "green", "blue", "grün"], dtype=object)
    sizes = np.array(["small", "medium", "large"], dtype=object)
    frame = pandas.DataFrame({
        "colour": pandas.Series(colours[(group + (rng.random(300) < 0.2)) % 4], dtype=object),
        "size": pandas.Series(sizes[(group + (rng.random(300) < 0.1)) % 3], dtype=object),
        "legs": (group * 2 + (rng.random(300) < 0.1)).astype(np.int64),
        "tail": rng.random(300) < 0.3 + 0.3 * (group == 1),
    })
    frame.loc[[3, 50], "colour"] = None
    return frame


@pytest.fixture(scope="module")
def labels(rows):
    return coforest.COForest(3, random_state=4).fit_predict(rows)


def check(X, labels, **options):
    model = coforest.COForest(3, random_state=4, **options).fit(X)
    assert (model.labels_ == labels).all()
    assert (model.predict(X) == labels).all()
    return model


def test_pandas_dtypes(rows, labels):
    check(rows.astype("category"), labels)
    check(rows.astype({"colour": "string", "size": "string", "legs": "Int64", "tail": "boolean"}), labels)
    check(rows.astype({"legs": "int8"}), labels)
    check(rows.astype({"legs": "uint64"}), labels)
    check(rows.astype({"legs": "float32"}), labels)
    check(rows.convert_dtypes(), labels)
    check(rows.astype({"colour": "string[python]", "size": "string[python]"}), labels)
    check(rows.iloc[::-1].iloc[::-1], labels)
    missing = rows["colour"].copy()
    missing[3], missing[50] = float("nan"), pandas.NA
    check(rows.assign(colour=missing), labels)


def test_pandas_with_pyarrow(rows, labels):
    pytest.importorskip("pyarrow")
    check(rows.convert_dtypes(dtype_backend="pyarrow"), labels)
    check(rows.astype({"colour": "string[pyarrow]"}), labels)


def test_nullable_integers_with_gaps(rows):
    legs = rows["legs"].astype("Int64")
    legs[5] = pandas.NA
    as_float = rows["legs"].astype(float)
    as_float[5] = np.nan
    one = coforest.COForest(3, random_state=4).fit(rows.assign(legs=legs))
    other = coforest.COForest(3, random_state=4).fit(rows.assign(legs=as_float))
    assert (one.labels_ == other.labels_).all()
    assert one.categories_[2][-1] is None and one.categories_[2][0] == 0


def test_polars(rows, labels):
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame({name: rows[name].tolist() for name in rows})
    model = check(frame, labels)
    assert model.categories_[2].dtype.kind == "i" and list(model.feature_names_in_) == list(rows)
    check(frame.with_columns(polars.col("colour").cast(polars.Categorical)), labels)
    assert (model.predict(rows) == labels).all()
    if hasattr(coforest.COForest, "set_output"):
        wide = coforest.COForest(3, random_state=4).set_output(transform="polars").fit_transform(frame)
        assert wide.columns == ["coforest0", "coforest1", "coforest2"]


def test_polars_enum_keeps_its_order(rows):
    polars = pytest.importorskip("polars")
    order = ["small", "medium", "large"]
    frame = polars.DataFrame({"size": rows["size"].tolist(), "legs": rows["legs"].tolist()})
    model = coforest.COForest(3, random_state=4).fit(frame.with_columns(polars.col("size").cast(polars.Enum(order))))
    assert set(model.categories_[0]) == set(order)


def test_pyarrow(rows, labels):
    pa = pytest.importorskip("pyarrow")
    table = pa.table({name: pa.array(rows[name].tolist()) for name in rows})
    check(table, labels)
    check(table.set_column(0, "colour", table["colour"].dictionary_encode()), labels)
    check(pa.Table.from_batches(table.to_batches(max_chunksize=70)), labels)
    check(table.to_batches()[0], labels)


def test_anything_with_the_capsule(rows, labels):
    pa = pytest.importorskip("pyarrow")
    table = pa.table({name: pa.array(rows[name].tolist()) for name in rows})

    class Producer:
        def __arrow_c_stream__(self, requested_schema=None):
            return table.__arrow_c_stream__(requested_schema)

    check(Producer(), labels)


def test_numpy_lists_and_dicts(rows, labels):
    cells = rows.to_numpy(dtype=object)
    check(cells, labels)
    check(np.asfortranarray(cells), labels)
    check(cells.tolist(), labels)
    check({name: rows[name].tolist() for name in rows}, labels)
    check({name: rows[name].to_numpy() for name in rows}, labels)


def test_numpy_strings(rows):
    cells = rows[["colour", "size"]].fillna("none").to_numpy(dtype=object)
    expected = coforest.COForest(3, random_state=4).fit_predict(cells)
    check(cells.astype(str), expected)
    check(np.asfortranarray(cells.astype(str)), expected)
    check(cells.astype(str)[::-1][::-1], expected)
    check(np.char.encode(cells.astype(str), "utf-8"), expected)


@pytest.mark.parametrize("dtype", ["i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f2", "f4", "f8", ">i4", ">f8", "O"])
def test_numpy_numbers(dtype):
    rng = np.random.default_rng(1)
    cells = rng.integers(0, 6, (200, 5))
    expected = coforest.COForest(3, random_state=4).fit_predict(cells)
    model = check(cells.astype(dtype), expected)
    assert (model.predict(cells) == expected).all()
    check(np.asfortranarray(cells.astype(dtype)), expected)
    check(np.repeat(cells.astype(dtype), 2, axis=1)[:, ::2], expected)


def test_negative_integers_are_values():
    rng = np.random.default_rng(1)
    cells = rng.integers(-3, 3, (100, 4))
    model = coforest.COForest(2, random_state=1).fit(cells)
    assert model.categories_[0].tolist() == [-3, -2, -1, 0, 1, 2]
    big = coforest.COForest(2, random_state=1).fit(cells + 2**40)
    assert (big.labels_ == model.labels_).all() and big.categories_[0][0] == 2**40 - 3


def test_ordered_categories_keep_their_order(rows):
    order = ["small", "medium", "large"]
    frame = rows.astype({"size": pandas.CategoricalDtype(order, ordered=True)})
    model = coforest.COForest(3, random_state=4).fit(frame)
    assert model.categories_[1].tolist() == order and model.forest_["size"].ordinal
    loose = coforest.COForest(3, random_state=4).fit(rows.astype({"size": pandas.CategoricalDtype(order)}))
    assert not loose.forest_["size"].ordinal and loose.categories_[1].tolist() == sorted(order)


def test_unused_categories_do_not_count(rows, labels):
    wide = rows.astype({"size": pandas.CategoricalDtype(["tiny", "small", "medium", "large", "huge"])})
    assert check(wide, labels).categories_[1].tolist() == ["large", "medium", "small"]


def test_many_categories():
    codes = np.arange(1000) % 400
    frame = pandas.DataFrame({"a": pandas.Categorical([f"v{c:03}" for c in codes]), "b": codes % 3})
    assert frame["a"].cat.codes.dtype == np.int16
    table = columns_of(frame).table()
    out = np.empty(1000, np.int32)
    assert len(table.codes(0, out)) == 400 and (out == codes).all()


def test_missing_bits_fall_on_the_right_rows():
    rng = np.random.default_rng(5)
    codes = rng.integers(-1, 4, 1003)
    frame = pandas.DataFrame({"a": pandas.Categorical.from_codes(codes, ["p", "q", "r", "s"])})
    out = np.empty(1003, np.int32)
    columns_of(frame).table().codes(0, out)
    assert (out == codes).all()


def test_encoders_agree_with_numpy():
    rng = np.random.default_rng(2)
    for n_values in (2, 60, 5000):
        numbers = rng.integers(0, n_values, 20000)
        texts = np.array([f"t{x}" for x in numbers], dtype=object)  # equal texts in different objects
        codes = np.empty(20000, np.int32)
        distinct = _core.encode_objects(texts, codes)
        assert (np.array(distinct, dtype=object)[codes] == texts).all() and len(distinct) == len(set(texts))
        for array in (numbers, numbers / 7, texts.astype(str)):
            first = _core.encode_fixed(array, codes)
            assert (array[first][codes] == array).all() and len(first) == len(np.unique(array))


def test_mixed_objects_by_their_text():
    model = coforest.COForest(2, random_state=1).fit([[1, "x"], [1.0, "y"], ["1", "x"], [2.5, "y"], [True, "x"]])
    assert model.categories_[0].tolist() == ["1", "2.5", "true"]


def test_array_interface_is_checked():
    codes = np.empty(3, np.int32)
    with pytest.raises(TypeError):
        _core.encode_objects(np.array([1, 2, 3]), codes)
    with pytest.raises(TypeError):
        _core.encode_fixed(np.array([1, 2, 3]), np.empty(3, np.int64))
    read_only = np.empty(3, np.int32)
    read_only.flags.writeable = False
    with pytest.raises(TypeError, match="read-only"):
        _core.encode_fixed(np.array([1, 2, 3]), read_only)
    with pytest.raises((MemoryError, ValueError)):
        _core.encode_fixed(np.array([1, 2, 3]), np.empty(2, np.int32))
    with pytest.raises(TypeError):
        _core.Table()
    with pytest.raises(TypeError):
        _core.Model()


def texts_of(X, c=0):
    """What the library has for every row of a column; None for a missing cell."""
    table = columns_of(X).table()
    codes = np.empty(table.shape[0], np.int32)
    return [*table.codes(c, codes), None], codes


@pytest.mark.parametrize("array", [
    np.random.default_rng(1).normal(size=500), np.random.default_rng(1).normal(size=500).astype(np.float32),
    np.random.default_rng(2).normal(size=500).astype(np.float16), np.array([0.1, -0.0, 0.0, 1e300, 123456789.25, 1e15]),
    np.array([1e15, 16777217.0, 1e-7, 0.3], np.float32), np.array([np.nan, np.inf, -np.inf, 7.0]),
    np.random.default_rng(3).integers(-2**62, 2**62, 100), np.array([2**63 + 1, 2**64 - 1, 3], np.uint64),
    *(np.array(["2024-03-31T12:30", "NaT", "1969-12-31T23:59", "2024-03-31T00:00"], f"datetime64[{unit}]")
      for unit in ("Y", "M", "D", "h", "m", "s", "ms", "us", "ns")),
    np.array(["2024-03-31T12:30:00.123456"], "datetime64[us]")], ids=lambda array: str(array.dtype))
def test_numbers_and_dates_are_the_texts_that_they_would_be_as_objects(array):
    wanted, codes = texts_of({"a": np.array([*array, *array], dtype=object)})  # np.float64 and so on, one by one
    wanted = [wanted[code] for code in codes]
    both = np.concatenate([array, array])
    strided, swapped = np.repeat(both, 2)[::2], both.astype(both.dtype.newbyteorder())
    packed = np.zeros(len(both), [("odd", "i1"), ("a", both.dtype)])
    packed["a"] = both  # not aligned
    shapes = [{"a": both}, {"a": strided}, {"a": swapped}, packed[["a"]], pandas.DataFrame({"a": both})]
    if array.dtype.kind in "iuf":
        shapes += [both[:, None], np.repeat(both[:, None], 2, axis=1)[:, :1]]
    for X in shapes:
        if array.dtype.kind == "M" and X is shapes[-1] and np.datetime_data(array.dtype)[0] not in ("s", "ms", "us", "ns"):
            continue  # pandas has no such unit
        found, codes = texts_of(X)
        assert [found[code] for code in codes] == wanted


@pytest.mark.parametrize("kind", ["i8", "f8", "bool", "U3", "object", "M8[s]"])
def test_masked_cells_are_missing(kind):
    plain = np.array([0, 1, 1, 0, 1, 0, 1, 0] if kind != "U3" else list("abbababa")).astype(kind)
    mask = np.array([0, 0, 1, 1, 0, 0, 0, 0], bool)
    masked = np.ma.MaskedArray(plain, mask)
    expected = plain.astype(object)
    expected[mask] = None
    found = [texts_of(X) for X in ({"a": expected}, {"a": masked}, masked[:, None])]
    for texts, codes in found[1:]:
        assert [texts[code] for code in codes] == [found[0][0][code] for code in found[0][1]] and (codes == -1).sum() == 2
    other = {"b": ["u", "v"] * 4}
    model = coforest.COForest(2, random_state=1).fit({"a": masked, **other})
    assert None in model.categories_[0] and (model.labels_ == coforest.COForest(2, random_state=1).fit_predict(
        {"a": expected, **other})).all()


def test_large_integers_keep_their_values():
    large = [2**53 + 1, 2**53 + 2, 2**63 + 1, 2**64 - 1]
    for X in ({"a": np.array(large * 5, np.uint64)}, {"a": large * 5}, [[value] for value in large * 5],
              pandas.DataFrame({"a": pandas.array([*large * 5, None], dtype="UInt64")})):
        model = coforest.COForest(2, random_state=1, categorical=[0]).fit(X)
        values = [value for value in model.categories_[0].tolist() if value is not None]
        assert values == large and all(type(value) is int for value in values)
