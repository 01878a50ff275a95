"""coforest.encode: every source gives the encoded table that the library gives for the same rows."""
import pathlib
import subprocess
import sys

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import pytest

import coforest
from coforest import _core


def frame(n=3000, seed=1):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame({"a": rng.choice(["x", "y", "z"], n), "b": rng.integers(0, 300, n), "c": rng.random(n) < 0.5})
    X.loc[rng.random(n) < 0.1, "a"] = None
    return X


def cells(path):
    """Names and cells of an encoded table."""
    table = _core.table_read(path)
    out = {}
    for c in range(table.shape[1]):
        codes = np.empty(table.shape[0], np.int32)
        values = np.array([*table.codes(c, codes), None], dtype=object)
        out[table.column(c)["name"]] = values[codes].tolist()
    return out


def expected(X):
    texts = {True: "true", False: "false"}
    return {"a": [None if value is None or value != value else value for value in X["a"]],
            "b": [str(value) for value in X["b"]], "c": [texts[value] for value in X["c"]]}


def sources(X, folder):
    table = pa.Table.from_pandas(X, preserve_index=False)
    pyarrow.parquet.write_table(table, folder / "t.parquet", row_group_size=700)
    pyarrow.feather.write_feather(table, folder / "t.feather", compression="uncompressed", chunksize=900)
    X.assign(c=X["c"].map({True: "true", False: "false"})).to_csv(folder / "t.csv", index=False, na_rep="?")
    half = len(X) // 2
    pyarrow.parquet.write_table(table.slice(0, half), folder / "h0.parquet")
    X.iloc[half:].assign(c=X["c"].map({True: "true", False: "false"})).to_csv(folder / "h1.csv", index=False)
    return {"pandas": X, "polars": pl.from_pandas(X), "arrow": table, "reader": table.to_reader(500),
            "dict": {name: X[name].tolist() for name in X}, "parquet": folder / "t.parquet",
            "feather": str(folder / "t.feather"), "csv": folder / "t.csv",
            "paths": [folder / "h0.parquet", folder / "h1.csv"]}


@pytest.mark.parametrize("kind", ["pandas", "polars", "arrow", "reader", "dict", "parquet", "feather", "csv", "paths"])
def test_every_source_gives_the_same_rows(tmp_path, kind):
    X = frame()
    coforest.encode(sources(X, tmp_path)[kind], tmp_path / "t.cofe")
    assert cells(tmp_path / "t.cofe") == expected(X)


def test_the_program_fits_it(tmp_path):
    X = coforest.datasets.load_zoo().data
    coforest.encode(X, tmp_path / "zoo.cofe")
    program = pathlib.Path(sys.executable).parent / "coforest"
    out = subprocess.run([program, "fit", tmp_path / "zoo.cofe", "-k", "7", "--quantities", "values", "--labels-out", "-",
                          "--quiet"], capture_output=True, text=True, check=True).stdout.split()
    whole = coforest.COForest(7, random_state=1, quantities="values").fit(X)
    assert [int(line.split(",")[1]) - 1 for line in out[1:]] == whole.labels_.tolist()


def test_failures_leave_no_file(tmp_path):
    def refused(source, error, match):
        with pytest.raises(error, match=match):
            coforest.encode(source, tmp_path / "t.cofe")
        assert not (tmp_path / "t.cofe").exists()

    (tmp_path / "other.csv").write_text("q\n1\n")
    frame(50).to_csv(tmp_path / "t.csv", index=False)
    refused(tmp_path / "none.csv", OSError, "none.csv")
    refused([tmp_path / "t.csv", tmp_path / "other.csv"], coforest.CoforestError, "column")
    refused([], coforest.CoforestError, "")
    refused(frame(0), ValueError, "0 sample")
    with pytest.raises(OSError):
        coforest.encode(frame(50), tmp_path / "no" / "such" / "t.cofe")
