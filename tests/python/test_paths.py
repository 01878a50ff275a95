"""Fits from files, folders and patterns, with columns that are left out, classes and weights."""
import numpy as np
import pytest

import coforest

pandas = pytest.importorskip("pandas")


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(3)
    group = rng.integers(0, 3, 240)
    frame = pandas.DataFrame({f"c{j}": np.where(rng.random(240) < 0.8, (group + j) % 4, rng.integers(0, 4, 240)).astype(str)
                              for j in range(4)})
    return frame.assign(kind=np.array(["x", "y", "z"])[group], times=rng.integers(1, 4, 240), note=np.arange(240).astype(str))


def fit(X, **how):
    return coforest.COForest(3, random_state=1, n_init=2).fit(X, **how)


CATEGORIES = ["c0", "c1", "c2", "c3"]


@pytest.mark.parametrize("suffix", [".csv", ".parquet", ".pq", ".ipc", ".feather", ".cofe"])
def test_columns_classes_and_weights_of_a_file(rows, tmp_path, suffix):
    path = tmp_path / ("table" + suffix)
    if suffix == ".csv":
        rows.to_csv(path, index=False)
    elif suffix == ".cofe":
        coforest.encode(rows, path)
    else:
        pytest.importorskip("pyarrow")
        rows.to_parquet(path) if suffix in (".parquet", ".pq") else rows.to_feather(path)
    expected = fit(rows[CATEGORIES], sample_weight=rows["times"])
    for how in ({"columns": CATEGORIES}, {"columns": [*CATEGORIES, "times", "kind"]}):
        model = fit(path, label="kind", weights="times", **how)
        assert (model.labels_ == expected.labels_).all() and model.objective_ == expected.objective_
        assert model.label_.tolist() == rows["kind"].tolist() and list(model.feature_names_in_) == CATEGORIES
        assert (model.predict(path) == model.labels_).all()  # the other columns are left out there too
    alone = fit(path, columns="c1")
    assert alone.n_features_in_ == 1


def test_several_files(rows, tmp_path):
    pytest.importorskip("pyarrow")
    expected = fit(rows[CATEGORIES])
    (tmp_path / "csv").mkdir(), (tmp_path / "pq").mkdir()
    paths = []
    for part in range(3):
        some = rows[CATEGORIES].iloc[part * 80:(part + 1) * 80]
        some.to_csv(tmp_path / "csv" / f"{part}.csv", index=False)
        some.to_parquet(tmp_path / "pq" / f"{part}.pq")
        paths.append(tmp_path / ("csv" if part == 1 else "pq") / f"{part}.{'csv' if part == 1 else 'pq'}")
    (tmp_path / "csv" / "README").write_text("not a table")
    for X in (tmp_path / "csv", str(tmp_path / "pq"), tmp_path / "csv" / "*.csv", paths, [str(path) for path in paths]):
        model = fit(X)
        assert (model.labels_ == expected.labels_).all() and (model.predict(X) == expected.labels_).all()


def test_what_is_wrong_is_said(rows, tmp_path):
    rows.to_csv(tmp_path / "t.csv", index=False)
    with pytest.raises(ValueError, match="no column 'c9'; there are 'c0'"):
        fit(tmp_path / "t.csv", columns=["c9"])
    with pytest.raises(ValueError, match="other values than numbers"):
        fit(tmp_path / "t.csv", weights="kind")
    with pytest.raises(ValueError, match="not both"):
        fit(tmp_path / "t.csv", weights="times", sample_weight=rows["times"])
    with pytest.raises(ValueError, match="are for a path"):
        fit(rows, label="kind")
    with pytest.raises(FileNotFoundError, match="no file fits"):
        fit(tmp_path / "*.parquet")
    (tmp_path / "empty").mkdir()
    with pytest.raises(ValueError, match="holds no tables"):
        fit(tmp_path / "empty")


def test_names_that_occur_twice_get_a_number(rows):
    twice = rows[["c0", "c1", "c1", "c2"]]
    model = fit(twice)
    assert list(model.feature_names_in_) == ["c0", "c1", "c1.1", "c2"] and (model.predict(twice) == model.labels_).all()
    pyarrow = pytest.importorskip("pyarrow")
    table = pyarrow.Table.from_arrays([pyarrow.array(twice.iloc[:, c]) for c in range(4)], names=["c0", "c1", "c1", "c2"])
    assert (fit(table).labels_ == model.labels_).all()


def test_run_end_encoded_columns(rows):
    pyarrow = pytest.importorskip("pyarrow")
    import pyarrow.compute

    plain = pyarrow.table({name: rows[name].to_numpy(dtype=object) for name in CATEGORIES})
    encoded = plain.set_column(1, "c1", pyarrow.compute.run_end_encode(plain.column(1)))
    assert (fit(encoded).labels_ == fit(plain).labels_).all()
