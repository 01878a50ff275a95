"""Every refusal is a Python exception with a sentence."""
import random
import struct
import zlib

import numpy as np
import pytest

import coforest

ROWS = [["a", "x"], ["b", "y"], ["a", "y"], ["c", "x"]]


def test_the_librarys_sentence():
    with pytest.raises(coforest.CoforestError, match="9 clusters were asked for, but only 4 rows differ") as caught:
        coforest.COForest(9).fit(ROWS)
    assert isinstance(caught.value, ValueError) and caught.value.status == -20
    with pytest.raises(coforest.CoforestError, match="same value in every row"):
        coforest.COForest(2).fit([["a"], ["a"]])
    assert coforest.COForest(1).fit([["a"], ["a"]]).labels_.tolist() == [0, 0]


def test_fewer_distinct_rows_than_clusters():
    rows = [["a", "x"], ["b", "y"], ["a", "x"], ["b", "y"]]
    with pytest.warns(UserWarning, match="only 2 rows differ"):
        model = coforest.COForest(4, random_state=1).fit(rows)
    assert model.labels_.tolist() in ([0, 1, 0, 1], [1, 0, 1, 0]) and model.transform(rows).shape == (4, 2)
    with pytest.warns(UserWarning, match="made"):
        assert coforest.COForest(3).fit([*rows, ["c", "z"]], sample_weight=[1, 1, 1, 1, 0]).transform(rows).shape == (4, 2)


@pytest.mark.parametrize("options", [
    {"n_clusters": 0}, {"n_clusters": -1}, {"n_clusters": 2.5}, {"n_clusters": "two"}, {"n_init": 0}, {"n_init": "some"}, {"init": "best"},
    {"select": "luck"}, {"variant": "mine"}, {"missing": "guess"}, {"max_iter": 0}, {"n_jobs": 0}, {"random_state": -1},
    {"random_state": "seed"}, {"max_rebuilds": -3}, {"init": [0, 1, 2]}, {"init": [0, 99]},
    {"ordinal": {"x0": ["a", "b"]}}])
def test_bad_options(options):
    with pytest.raises(ValueError):
        coforest.COForest(**{"n_clusters": 2, **options}).fit(ROWS)


@pytest.mark.parametrize("X", [
    [], [[]], [["a"], ["a", "b"]], ["a", "b"], "text", 5, None, np.zeros((2, 2, 2)), np.zeros((0, 3)), np.zeros((3, 0)),
    [["a", "x"]], [["a\0b"], ["c"]], {}, {"a": [1, 2], "b": [1]}, np.array([[1j], [2j]])])
def test_bad_tables(X):
    with pytest.raises(ValueError):
        coforest.COForest(2).fit(X)


def test_values_that_are_no_categories():
    with pytest.raises(TypeError, match="string or a number"):
        coforest.COForest(2).fit(np.array([[{}], [1], ["a"]], dtype=object))
    with pytest.raises(TypeError, match="does not hold categories"):
        coforest.COForest(2).fit({"a": np.zeros(3, dtype="V4")})


def test_sparse():
    sparse = pytest.importorskip("scipy.sparse")
    with pytest.raises(TypeError, match="dense"):
        coforest.COForest(2).fit(sparse.eye(4).tocsr())


def test_arrow_columns_that_are_no_categories():
    pa = pytest.importorskip("pyarrow")
    with pytest.raises(coforest.CoforestError, match="not categories"):
        coforest.COForest(2).fit(pa.table({"a": [[0.5], [1.5], [2.5]]}))


def test_rules_for_columns():
    X = {"a": list(range(30)), "b": ["x", "y"] * 15}
    for options, part in [({"numeric": ["a"], "categorical": ["a"]}, "two rules"), ({"cut": {"c": [1]}}, "does not have"),
                          ({"cut": {"a": [2, 1]}}, "ascend"), ({"numeric": ["b"]}, "cannot be cut"),
                          ({"quantities": "bins"}, "quantities must be"), ({"bins": 1}, "bins must be")]:
        with pytest.raises(ValueError, match=part):
            coforest.COForest(2, **options).fit(X)


def test_weights():
    for weights in ([1, 2], [[1], [1], [1], [1]], [1, 1, 1, -1], [1, 1, 1, float("nan")], [0, 0, 0, 0]):
        with pytest.raises(ValueError):
            coforest.COForest(2).fit(ROWS, sample_weight=weights)


def test_model_files(tmp_path):
    model = coforest.COForest(2, random_state=1).fit(ROWS)
    with pytest.raises(OSError) as caught:
        model.save(tmp_path / "no such folder" / "m")
    assert isinstance(caught.value, coforest.CoforestError)
    with pytest.raises(coforest.CoforestIOError):
        coforest.load(tmp_path / "nothing")
    (tmp_path / "bad").write_bytes(b"not a model")
    with pytest.raises(coforest.CoforestError):
        coforest.load(tmp_path / "bad")
    whole = model._model.to_bytes()
    from coforest import _core

    for n in range(0, len(whole), 7):
        with pytest.raises(coforest.CoforestError):
            _core.model_from_bytes(whole[:n])


def test_predict_with_other_columns():
    pandas = pytest.importorskip("pandas")
    model = coforest.COForest(2, random_state=1).fit(pandas.DataFrame(ROWS, columns=["p", "q"]))
    with pytest.raises(ValueError, match="now missing"):
        model.predict(pandas.DataFrame(ROWS, columns=["p", "r"]))
    with pytest.raises(ValueError, match="same order"):
        model.predict(pandas.DataFrame(ROWS, columns=["q", "p"]))
    with pytest.warns(UserWarning, match="valid feature names"):
        model.predict(ROWS)


def test_a_callback_that_fails():
    def fail(progress):
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        coforest.COForest(2, callback=fail).fit(ROWS)


@pytest.mark.parametrize("path", [b"/no/\xff\xfe.cof", "/no/\udcff.cof", b"/no/" + 150 * b"\xc3", "/no/" + 200 * "é"])
def test_paths_that_are_not_utf8(path):
    """The sentence quotes the path, whatever its bytes."""
    with pytest.raises(coforest.CoforestIOError, match="cannot open"):
        coforest.load(path)


def sealed(sections):
    """A model file of these sections, with the right length and checksum."""
    body = b"".join(sections)
    whole = b"COFOREST" + struct.pack("<IIQ", 1, 0, len(body)) + body
    return whole + struct.pack("<I", zlib.crc32(whole))


def use_or_refuse(path, content):
    """Whether the model was taken; then everything that it tells can be asked for."""
    path.write_bytes(content)
    try:
        model = coforest.load(path)
    except coforest.CoforestError:
        return False
    for name in ("history_", "refined_by_", "cluster_agreement_", "k_curve_", "restarts_", "cluster_modes_"):
        repr(getattr(model, name, None))  # as far as a loaded model has it
    repr(model), repr(model.forest_.trees())
    model.report(path.with_suffix(".html"))
    try:
        model.predict(ROWS)
    except coforest.CoforestError:  # names and number of its columns may differ
        pass
    return True


def test_changed_models_with_a_right_checksum(tmp_path):
    """A model without some of its sections, or with a variant that does not exist, ended in a KeyError."""
    whole = coforest.COForest(2, random_state=1).fit(ROWS)._model.to_bytes()
    sections, at = [], 24
    while at < len(whole) - 4:
        n = 12 + struct.unpack_from("<Q", whole, at + 4)[0]
        sections.append(whole[at:at + n])
        at += n
    assert use_or_refuse(tmp_path / "m", sealed(sections))
    for gone in [{section[0]} for section in sections] + [{4, 7, 8}, {4, 5, 7, 8, 10}]:
        use_or_refuse(tmp_path / "m", sealed(s for s in sections if s[0] not in gone))
    chance, n_taken = random.Random(1), 0
    for _ in range(300):
        body = bytearray(b"".join(sections))
        new = chance.choice([bytes([chance.randrange(256)]), struct.pack("<I", chance.choice([0, 1, 7, 2**32 - 1])),
                             struct.pack("<d", chance.choice([-1, 1e300, float("nan")]))])
        at = chance.randrange(len(body) - len(new) + 1)
        body[at:at + len(new)] = new
        n_taken += use_or_refuse(tmp_path / "m", sealed([bytes(body)]))
    assert 0 < n_taken < 300
