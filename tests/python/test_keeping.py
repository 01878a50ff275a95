"""What a model knows survives: files, pickles, copies; and a value is the same value however it is written."""
import copy
import datetime
import decimal
import pathlib
import pickle
import warnings

import numpy as np
import pytest

import coforest
from coforest._tables import text_of

pandas = pytest.importorskip("pandas")


@pytest.fixture(scope="module")
def typed():
    """Every kind of value, with holes."""
    days = ["2020-01-01", "2020-01-02 10:30:00.25", "2020-01-03", None]
    return pandas.DataFrame({
        "float": [0.0, 1.0, 2.5, None] * 20,
        "whole": [0.0, 1.0, 2.0, None] * 20,
        "bool": [True, False, True, True] * 20,
        "int": np.array([3, -1, 3, 2**40] * 20),
        "day": pandas.to_datetime(pandas.Series(days * 20), format="ISO8601"),
        "length": pandas.to_timedelta(["1D", "2h", "3ms", "3ms"] * 20),
        "text": ["a", "1", "true", None] * 20,
    })


@pytest.fixture(scope="module")
def fitted(typed):
    return coforest.COForest(2, random_state=1, missing="value", bins=7).fit(typed)


def same(one, other):
    """Arrays of equal values of equal types."""
    return one.dtype == other.dtype and [type(v) for v in one] == [type(v) for v in other] and (
        one.tolist() == other.tolist())


@pytest.mark.parametrize("keep", ["save", "pickle", "deepcopy", "copy"])
def test_types_and_missing_values_survive(fitted, typed, keep, tmp_path):
    if keep == "save":
        fitted.save(tmp_path / "m.cof")
        again = coforest.load(tmp_path / "m.cof")
    else:
        again = {"pickle": lambda m: pickle.loads(pickle.dumps(m)), "deepcopy": copy.deepcopy, "copy": copy.copy}[keep](fitted)
    assert type(again) is coforest.COForest and again.get_params() == fitted.get_params()
    for one, other in zip(fitted.categories_, again.categories_):
        assert same(one, other), (one, other)
    assert fitted.categories_[1].tolist() == [0.0, 1.0, 2.0, None] and fitted.categories_[2].dtype == bool
    assert fitted.categories_[4].tolist()[-1] is None and fitted.categories_[5].dtype.kind == "m"
    assert again.score(typed) == fitted.score(typed) and (again.predict(typed) == fitted.labels_).all()
    assert (again.transform(typed) == fitted.transform(typed)).all()
    assert again.seed_ == fitted.seed_ and again.info_ == fitted.info_ and again.objective_ == fitted.objective_
    assert again.forest_["day"].distance(None, datetime.date(2020, 1, 1)) == fitted.forest_["day"].distance(
        None, np.datetime64("2020-01-01T00", "h"))
    if keep in ("deepcopy", "copy"):
        assert (again.margins() == fitted.margins()).all() and again.history_ == fitted.history_


def test_every_class_comes_back_as_itself(tmp_path):
    rows = np.random.default_rng(1).integers(0, 3, (60, 4))
    for model in (coforest.KModes(2, n_init=3, random_state=1), coforest.Clusterer(2, method="cof2", random_state=1)):
        model.fit(rows).save(tmp_path / "m.cof")
        again = coforest.load(tmp_path / "m.cof")
        assert type(again) is type(model) and again.get_params() == model.get_params()
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # neither has names of columns
            assert (again.predict(rows) == model.predict(rows)).all()


def test_quantities_stay_where_they_were(tmp_path):
    rng = np.random.default_rng(1)
    table = {"height": rng.random(200), "colour": rng.choice(["red", "blue"], 200), "age": rng.random(200)}
    model = coforest.KPrototypes(2, random_state=1).fit(table)
    model.save(tmp_path / "m.cof")
    again = coforest.load(tmp_path / "m.cof")
    assert list(again.feature_names_in_) == list(table) and (again.predict(table) == model.predict(table)).all()


def test_a_file_is_written_whole_or_not_at_all(fitted, tmp_path):
    path = tmp_path / "m.cof"
    path.write_text("before")
    with pytest.raises(coforest.CoforestIOError, match="cannot write"):
        fitted.save(path / "inside a file")
    assert path.read_text() == "before"
    fitted.save(path)
    assert [p.name for p in tmp_path.iterdir()] == ["m.cof"] and coforest.load(path).n_clusters_ == 2


def test_pickles_of_an_earlier_version():
    data = (pathlib.Path(__file__).parent / "data" / "before-0.2.0.pickle").read_bytes()
    again = pickle.loads(data)
    assert again.handle_unknown == "warn" and again.categories_[0].tolist() == [0.0, 1.0, None]
    assert (again.predict([[0.0, "a"], [1.0, "b"], [0.0, "a"], [None, "b"]]) == again.labels_).all()


STAMP = datetime.datetime(2024, 3, 31, 12, 59, 59, 500000)


@pytest.mark.parametrize("text, values", [
    ("2024-03-31", [datetime.date(2024, 3, 31), datetime.datetime(2024, 3, 31), np.datetime64("2024-03-31", "ns"),
                    np.datetime64("2024-03-31", "h"), pandas.Timestamp("2024-03-31")]),
    ("2024-03-01", [np.datetime64("2024-03", "M")]),
    ("2024-03-31 12:59:59.5", [STAMP, np.datetime64(STAMP, "ms"), np.datetime64(STAMP, "ns"), pandas.Timestamp(STAMP),
                               STAMP.replace(tzinfo=datetime.timezone.utc), pandas.Timestamp(STAMP, tz="UTC"),
                               pandas.Timestamp("2024-03-31 14:59:59.5", tz="Europe/Berlin")]),
    ("90 s", [datetime.timedelta(seconds=90), np.timedelta64(90_000, "ms"), pandas.Timedelta("90s")]),
    ("0.5 s", [datetime.timedelta(milliseconds=500), np.timedelta64(500, "ms")]),
    ("09:30", [datetime.time(9, 30)]),
    ("09:30:15", [datetime.time(9, 30, 15)]),
    ("3", [3, 3.0, np.int8(3), np.uint64(3), np.float16(3), decimal.Decimal("3.00"), "3", b"3"]),
    ("0.1", [0.1, np.float32(0.1), decimal.Decimal("0.10")]),
    ("18446744073709551615", [2**64 - 1, np.uint64(2**64 - 1)]),
    ("true", [True, np.True_]),
    (None, [None, float("nan"), np.float32("nan"), pandas.NA, pandas.NaT, np.datetime64("NaT"), np.timedelta64("NaT"),
            decimal.Decimal("nan")]),
])
def test_one_text_for_one_value(text, values):
    assert [text_of(value) for value in values] == [text] * len(values)


def test_representation_does_not_matter(fitted, typed):
    other = typed.assign(
        whole=typed["whole"].astype("Int64"), bool=typed["bool"].astype(int), int=typed["int"].astype(float),
        day=typed["day"].astype("datetime64[ns]"), length=typed["length"].astype("timedelta64[ns]"))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert fitted.score(other) == fitted.score(typed)
        assert fitted.score(other.assign(bool=typed["bool"].map({True: "True", False: "False"}))) == fitted.score(typed)


def test_booleans_from_zeros_and_ones():
    zeros = np.array([[0, 1], [1, 0], [0, 0], [1, 1]] * 5)
    for one, other in ((zeros, zeros.astype(bool)), (zeros.astype(bool), zeros.astype(np.float32))):
        model = coforest.COForest(2, random_state=1).fit(one)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert (model.predict(other) == model.labels_).all()


def test_unseen_values_are_told(fitted, typed):
    other = typed.copy()
    other.loc[[0, 4, 8], "float"] = [7.0, 7.0, 9.0]
    other.loc[2, "text"] = "TRUE "
    with pytest.warns(UserWarning, match=r"column 'float' has 3 cells .*'7', '9'; column 'text' has 1 cell.*fitted: 'true'"):
        labels = fitted.predict(other)
    for ask in (fitted.transform, fitted.predict_proba, fitted.score_samples, fitted.score, fitted.bic, fitted.margins):
        with pytest.warns(UserWarning, match="column 'float'"):
            ask(other)
    strict = copy.copy(fitted).set_params(handle_unknown="error")
    with pytest.raises(ValueError, match="column 'float' has 3 cells .*handle_unknown"):
        strict.predict(other)
    silent = copy.copy(fitted).set_params(handle_unknown="ignore")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert (silent.predict(other) == labels).all() and strict.count_unseen(other)["n_unseen_cells"] == 4
    with pytest.raises(ValueError, match="handle_unknown must be one of"):
        copy.copy(fitted).set_params(handle_unknown="use_encoded_value").predict(typed)
    gaps = typed.assign(bool=[None] * 80)
    with pytest.warns(UserWarning, match="column 'bool' has 80 cells .* missing"):
        fitted.predict(gaps)
