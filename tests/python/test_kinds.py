"""One table in fifty kinds (dtype by library): fit, predict, save and load give the same labels, and nothing is unseen."""
import datetime
import decimal
import subprocess
import warnings

import numpy as np
import pytest

import coforest

pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")
pa = pytest.importorskip("pyarrow")

GROUP = np.random.default_rng(3).integers(0, 3, 240)
CODES = (GROUP[:, None] + (np.random.default_rng(4).random((240, 4)) < 0.25)) % 4
NAMES = ["a", "b", "c", "d"]
WORDS = np.array(["blue", "green", "red", "yellow"])
DAYS = np.array(["2024-01-01", "2024-02-29", "2024-03-31", "2025-01-01"], dtype="datetime64[D]")
STAMPS = np.array(["2024-01-01T09:30", "2024-01-01T09:30:01.5", "2024-03-31", "2025-01-01"], dtype="datetime64[ms]")
LENGTHS = np.array([1, 2, 3, 4], dtype="timedelta64[h]")
PRICES = np.array([decimal.Decimal(text) for text in ("1.5", "2.25", "3.75", "4.5")], dtype=object)


def frame(values, dtype=None):
    return pd.DataFrame({name: pd.Series(values[CODES[:, c]], dtype=dtype) for c, name in enumerate(NAMES)})


def columns(values):
    return {name: values[CODES[:, c]].tolist() for c, name in enumerate(NAMES)}


def polars(values, dtype=None):
    return pl.DataFrame({name: pl.Series(cells, dtype=dtype, strict=False) for name, cells in columns(values).items()})


def arrow(values, dtype=None):
    return pa.table({name: pa.array(cells, type=dtype) for name, cells in columns(values).items()})


NUMBERS = np.arange(4)
PYTHON_DAYS = np.array(DAYS.tolist(), dtype=object)
PYTHON_STAMPS = np.array(STAMPS.tolist(), dtype=object)
PYTHON_LENGTHS = np.array(LENGTHS.astype("timedelta64[us]").tolist(), dtype=object)

KINDS = {
    **{f"numpy {dtype}": lambda dtype=dtype: CODES.astype(dtype)
       for dtype in ("i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f2", "f4", "f8", "longdouble", ">i4")},
    "numpy u8 above 2^63": lambda: CODES.astype("u8") + np.uint64(2**63 + 1),
    "numpy fortran": lambda: np.asfortranarray(CODES),
    "numpy str": lambda: WORDS[CODES],
    "numpy bytes": lambda: WORDS[CODES].astype("S6"),
    "numpy object": lambda: WORDS[CODES].astype(object),
    "numpy StringDType": lambda: WORDS[CODES].astype(np.dtypes.StringDType()),
    "numpy datetime64[D]": lambda: DAYS[CODES],
    "numpy datetime64[ms]": lambda: STAMPS[CODES],
    "numpy datetime64[ns]": lambda: STAMPS[CODES].astype("datetime64[ns]"),
    "numpy timedelta64": lambda: LENGTHS[CODES],
    "numpy structured": lambda: np.array([tuple(row) for row in WORDS[CODES]], dtype=[(name, "U6") for name in NAMES]),
    "pandas int64": lambda: frame(NUMBERS),
    "pandas Int64": lambda: frame(NUMBERS, "Int64"),
    "pandas float": lambda: frame(NUMBERS, float),
    "pandas object": lambda: frame(WORDS, object),
    "pandas string": lambda: frame(WORDS, "string[python]"),
    "pandas string[pyarrow]": lambda: frame(WORDS, "string[pyarrow]"),
    "pandas category": lambda: frame(WORDS, "category"),
    "pandas category of numbers": lambda: frame(NUMBERS, "category"),
    "pandas Sparse": lambda: frame(NUMBERS).astype(pd.SparseDtype("int64", 0)),
    "pandas datetime64[ns]": lambda: frame(STAMPS, "datetime64[ns]"),
    "pandas datetime with zone": lambda: frame(STAMPS, "datetime64[us]").apply(lambda c: c.dt.tz_localize("UTC")),
    "pandas timedelta": lambda: frame(LENGTHS, "timedelta64[ns]"),
    "pandas period": lambda: frame(DAYS, "datetime64[s]").apply(lambda c: c.dt.to_period("D")),
    "pandas Arrow int": lambda: frame(NUMBERS, pd.ArrowDtype(pa.int32())),
    "pandas Arrow decimal": lambda: frame(PRICES, pd.ArrowDtype(pa.decimal128(10, 2))),
    "polars Int64": lambda: polars(NUMBERS),
    "polars Float32": lambda: polars(NUMBERS, pl.Float32),
    "polars String": lambda: polars(WORDS),
    "polars Categorical": lambda: polars(WORDS, pl.Categorical),
    "polars Date": lambda: polars(PYTHON_DAYS),
    "polars Datetime": lambda: polars(PYTHON_STAMPS),
    "polars Duration": lambda: polars(PYTHON_LENGTHS),
    "polars Decimal": lambda: polars(PRICES),
    "polars LazyFrame": lambda: polars(WORDS).lazy(),
    "pyarrow int64": lambda: arrow(NUMBERS),
    "pyarrow string": lambda: arrow(WORDS),
    "pyarrow large_string": lambda: arrow(WORDS, pa.large_string()),
    "pyarrow dictionary": lambda: arrow(WORDS, pa.dictionary(pa.int8(), pa.string())),
    "pyarrow date32": lambda: arrow(PYTHON_DAYS, pa.date32()),
    "pyarrow timestamp": lambda: arrow(PYTHON_STAMPS, pa.timestamp("us", "UTC")),
    "pyarrow decimal": lambda: arrow(PRICES),
    "pyarrow batch": lambda: arrow(WORDS).to_batches()[0],
    "list of rows": lambda: WORDS[CODES].tolist(),
    "list of dicts": lambda: frame(WORDS).to_dict("records"),
    "dict of columns": lambda: columns(WORDS),
    "dict of dates": lambda: columns(PYTHON_DAYS),
}


def fit_all(X, tmp_path, model=None):
    """Labels of a fit, which predicting and a loaded model must give too."""
    model = model or coforest.COForest(3, random_state=2, n_init=5)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        labels = model.fit(X).labels_
        model.save(tmp_path / "m.cof")
        again = coforest.load(tmp_path / "m.cof")
        for other in (model, again):
            assert (other.predict(X) == labels).all() and other.count_unseen(X)["n_unseen_cells"] == 0
        assert again.score(X) == model.score(X)
        assert [c.tolist() for c in again.categories_] == [c.tolist() for c in model.categories_]
    return labels


@pytest.fixture(scope="module")
def labels():
    return coforest.COForest(3, random_state=2, n_init=5).fit(CODES).labels_


@pytest.mark.parametrize("kind", KINDS)
def test_same_labels(kind, labels, tmp_path):
    assert (fit_all(KINDS[kind](), tmp_path) == labels).all()


def test_there_are_enough_kinds():
    assert len(KINDS) >= 40


@pytest.mark.parametrize("kind", ["numpy", "pandas", "pandas boolean", "polars", "pyarrow"])
def test_booleans(kind, tmp_path):
    cells = CODES % 2 == 0
    X = {"numpy": lambda: cells, "pandas": lambda: pd.DataFrame(cells, columns=NAMES),
         "pandas boolean": lambda: pd.DataFrame(cells, columns=NAMES).astype("boolean"),
         "polars": lambda: pl.DataFrame(cells, schema=NAMES), "pyarrow": lambda: pa.table(list(cells.T), NAMES)}[kind]()
    expected = coforest.COForest(3, random_state=2, n_init=5).fit_predict(cells.astype(int))
    assert (fit_all(X, tmp_path) == expected).all()


@pytest.mark.parametrize("kind", ["pandas", "polars", "pyarrow"])
def test_orders(kind, tmp_path):
    order = ["yellow", "red", "blue", "green"]
    X = {"pandas": lambda: frame(WORDS, pd.CategoricalDtype(order, ordered=True)), "polars": lambda: polars(WORDS, pl.Enum(order)),
         "pyarrow": lambda: pa.table({n: pa.DictionaryArray.from_arrays([order.index(w) for w in cells], order, ordered=True)
                                      for n, cells in columns(WORDS).items()})}[kind]()
    model = coforest.COForest(3, random_state=2, n_init=5)
    expected = coforest.COForest(3, random_state=2, n_init=5, ordinal={name: order for name in NAMES}).fit_predict(frame(WORDS))
    assert (fit_all(X, tmp_path, model) == expected).all() and model.categories_[0].tolist() == order
    with pytest.warns(UserWarning, match="LCA makes no use of the order of a, b, c, d; COForest does"):
        coforest.LCA(3, random_state=2, n_init=1).fit(X)


@pytest.mark.parametrize("kind", ["csv", "tsv", "parquet", "feather", "cofe", "dataset"])
def test_files(kind, labels, tmp_path, command):
    path = tmp_path / f"table.{'parquet' if kind == 'dataset' else kind}"
    if kind in ("csv", "tsv"):
        frame(WORDS).to_csv(path, index=False, sep="\t" if kind == "tsv" else ",")
    elif kind == "cofe":
        frame(WORDS).to_csv(tmp_path / "table.csv", index=False)
        subprocess.run([command, "encode", tmp_path / "table.csv", "--out", path], check=True, capture_output=True)
    elif kind == "feather":
        frame(WORDS).to_feather(path)
    else:
        frame(WORDS).to_parquet(path)
    X = path
    if kind == "dataset":
        X = pytest.importorskip("pyarrow.dataset").dataset(path)
    assert (fit_all(X, tmp_path) == labels).all()
    assert (coforest.COForest(3, random_state=2, n_init=5).fit_predict(str(path)) == labels).all()
    with pytest.raises(OSError):
        coforest.COForest(3).fit(tmp_path / "nothing.csv")


def test_holes(tmp_path):
    holes = CODES.astype(float)
    holes[::7, 0] = np.nan
    words = frame(WORDS, object)
    words.loc[::7, "a"] = None
    tables = [holes, words, words.astype("category"), words.astype("string[pyarrow]"), pl.from_pandas(words),
              pa.Table.from_pandas(words, preserve_index=False), words.to_dict("records"),
              [{name: value for name, value in row.items() if value is not None} for row in words.to_dict("records")]]
    found = [fit_all(X, tmp_path) for X in tables[:-1]]
    assert all((labels == found[0]).all() for labels in found)
    assert (coforest.COForest(3, random_state=2, n_init=5).fit_predict([{"a": None, **row} for row in tables[-1]]) == found[0]).all()


@pytest.mark.parametrize("X", [
    pd.DataFrame({"a": ["x\0", "y"], "b": ["x", "y"]}),
    pl.DataFrame({"a": [[1], [2]], "b": ["x", "y"]}), [["\ud800", "a"], ["b", "c"]], {"a": [b"\xff", b"y"]}])
def test_errors_speak_of_the_callers_table(X):
    with pytest.raises(ValueError, match="column|value") as told:
        coforest.COForest(2).fit(X)
    assert "Arrow" not in str(told.value) and "dictionary" not in str(told.value)


def test_methods_that_cannot_predict_do_not_pretend():
    for model in (coforest.JDM(3, random_state=1), coforest.CBDM(3), coforest.Clusterer(3, method="jdm")):
        able = coforest._core.method_facts(getattr(model, "method", model._method))["predicts"]
        for name in ("predict", "transform", "margins", "fit_transform", "count_unseen"):
            assert hasattr(model, name) == able
    fitted = coforest.JDM(3, random_state=1, n_init=1).fit(CODES)
    assert not hasattr(fitted, "predict") and fitted.predict_proba(CODES).shape == (240, 3)


def test_n_jobs_as_in_scikit_learn():
    joblib = pytest.importorskip("joblib")
    threads_of = coforest._estimators.threads_of
    cores = coforest._core.n_cores()
    assert threads_of(None) == 1 and threads_of(3) == 3 and threads_of(-1) in (0, cores)
    assert threads_of(-2) == max(1, cores - 1)
    with joblib.parallel_config(backend="threading", n_jobs=2):
        assert threads_of(None) == min(2, cores)
    for wrong in (0, True, 1.5, "2"):
        with pytest.raises(ValueError, match="n_jobs"):
            threads_of(wrong)
