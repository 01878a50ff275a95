"""The command line of the same wheel gives the same labels, and reads the same models."""
import csv
import io
import subprocess
import sys

import numpy as np
import pytest

import coforest

pandas = pytest.importorskip("pandas")


def labels_of(command, *arguments):
    out = subprocess.run([command, *arguments, "--labels-out", "-", "--quiet"], check=True, capture_output=True, text=True)
    return [int(row["cluster"]) - 1 for row in csv.DictReader(io.StringIO(out.stdout))]


def table(root, name):
    return pandas.read_csv(root / "data" / name, na_values="?", keep_default_na=False)


@pytest.mark.parametrize("name, k, drop", [("zoo.csv", 7, ["animal"]), ("voting.csv", 2, []), ("lenses.csv", 3, [])])
@pytest.mark.parametrize("seed", [1, 2, 77, 2**63 + 5])
def test_same_labels(command, root, name, k, drop, seed):
    X = table(root, name).drop(columns=["class", *drop])
    ours = coforest.COForest(k, random_state=seed).fit_predict(X)
    theirs = labels_of(command, "fit", str(root / "data" / name), "-k", str(k), "--label", "class", "--seed", str(seed))
    assert ours.tolist() == theirs


@pytest.mark.parametrize("options, flags", [
    ({"n_init": 10, "init": "kmeans"}, ["--restarts", "10", "--init", "kmeans"]),
    ({"n_init": 5, "select": "likelihood"}, ["--restarts", "5", "--select", "likelihood"]),
    ({"n_init": 3, "init": "farthest"}, ["--restarts", "3", "--init", "farthest"]),
    ({"n_init": 4, "init": "random", "select": "objective"},
     ["--restarts", "4", "--init", "random", "--select", "objective"]),
    ({"variant": "authors", "init": "modes++"}, ["--variant", "authors", "--init", "modes++"]),
    ({"init": "cao"}, ["--init", "cao"]),
    ({"missing": "ignore"}, ["--missing", "ignore"]),
    ({"missing": "drop"}, ["--missing", "drop"]),
    ({"max_iter": 2, "max_rebuilds": 2}, ["--max-passes", "2", "--max-rebuilds", "2"]),
    ({"init": [19, 0, 6]}, ["--init-rows", "20,1,7"]),
])
def test_same_labels_under_options(command, root, options, flags):
    X = table(root, "voting.csv").drop(columns="class")
    ours = coforest.COForest(3, random_state=3, **options).fit_predict(X)
    out = subprocess.run([command, "fit", str(root / "data/voting.csv"), "-k", "3", "--label", "class", "--seed", "3",
                          "--labels-out", "-", "--quiet", *flags], check=True, capture_output=True, text=True)
    theirs = [int(row["cluster"] or 0) - 1 for row in csv.DictReader(io.StringIO(out.stdout))]
    assert ours.tolist() == theirs


def test_ordinal(command, root):
    X = table(root, "zoo.csv").drop(columns=["class", "animal"])
    ours = coforest.COForest(7, random_state=1, ordinal={"legs": [8, 6, 5, 4, 2, 0]}).fit_predict(X)
    theirs = labels_of(command, "fit", str(root / "data/zoo.csv"), "-k", "7", "--label", "class", "--ordinal",
                       "legs=8<6<5<4<2<0")
    assert ours.tolist() == theirs


def test_models_travel(command, root, tmp_path):
    X = table(root, "voting.csv").drop(columns="class")
    model = coforest.COForest(2, random_state=1).fit(X)
    model.save(tmp_path / "ours.model")
    theirs = subprocess.run([command, "predict", str(tmp_path / "ours.model"), str(root / "data/voting.csv"),
                             "--labels-out", "-", "--quiet"], check=True, capture_output=True, text=True)
    assert [int(r["cluster"]) - 1 for r in csv.DictReader(io.StringIO(theirs.stdout))] == model.labels_.tolist()
    subprocess.run([command, "fit", str(root / "data/voting.csv"), "-k", "2", "--label", "class", "--quiet", "--model-out",
                    str(tmp_path / "theirs.model")], check=True)
    assert (coforest.load(tmp_path / "theirs.model").predict(X) == model.labels_).all()


@pytest.mark.parametrize("method", ["kmodes", "lsm", "ocil", "lca", "hdc", "cof2"])
def test_same_labels_for_other_methods(command, root, method):
    X = table(root, "voting.csv").drop(columns="class")
    ours = coforest.Clusterer(2, method=method, random_state=5).fit_predict(X)
    theirs = labels_of(command, "fit", str(root / "data/voting.csv"), "-k", "2", "--label", "class", "--seed", "5",
                       "--method", method)
    assert ours.tolist() == theirs


@pytest.mark.parametrize("method", ["coforest", "k-prototypes", "ek-prototypes"])
def test_same_labels_with_quantities(command, tmp_path, method):
    rng = np.random.default_rng(0)
    group = np.repeat([0, 1, 2], 50)
    X = pandas.DataFrame({"colour": np.array(["red", "green", "blue"], dtype=object)[(group + (rng.random(150) < 0.2)) % 3],
                          "size": np.array(["s", "m", "l"], dtype=object)[(group + (rng.random(150) < 0.3)) % 3],
                          "height": (group * 3 + rng.normal(size=150)).round(2), "age": rng.integers(20, 30, 150)})
    X.to_csv(tmp_path / "mixed.csv", index=False)
    ours = coforest.Clusterer(3, method=method, numeric=["height", "age"], random_state=2).fit_predict(X)
    theirs = labels_of(command, "fit", str(tmp_path / "mixed.csv"), "-k", "3", "--numeric", "height,age", "--seed", "2",
                       "--method", method)
    assert ours.tolist() == theirs


def test_same_report(command, root, tmp_path):
    path = tmp_path / "animals.csv"
    table(root, "zoo.csv").drop(columns=["class", "animal"]).to_csv(path, index=False)
    subprocess.run([command, "fit", str(path), "-k", "7", "--seed", "1", "--quiet", "--report", str(tmp_path / "a.html")],
                   check=True)
    model = coforest.COForest(7, random_state=1).fit(pandas.read_csv(path))
    model.report(tmp_path / "b.html", source=str(path))
    assert (tmp_path / "a.html").read_bytes() == (tmp_path / "b.html").read_bytes()


def test_version(command):
    out = subprocess.run([command, "--version"], check=True, capture_output=True, text=True).stdout
    assert coforest.__version__ in out


def test_as_a_module(command):
    run = [subprocess.run(how, capture_output=True, text=True) for how in
           ([command, "--version"], [sys.executable, "-m", "coforest", "--version"], [sys.executable, "-m", "coforest", "no"])]
    assert run[0].stdout == run[1].stdout != "" and run[1].returncode == 0 and run[2].returncode != 0
