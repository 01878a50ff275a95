"""Notebook lines written for the package kmodes run with only the import changed: 16 of KModes, 8 of KPrototypes."""
import numpy as np
import pytest

import coforest

pandas = pytest.importorskip("pandas")

# One line each, run one after another in one namespace; every line stands for one that notebooks have.
KMODES = """
km = KModes(n_clusters=4, init='Huang', n_init=5, verbose=0)
clusters = km.fit_predict(df)
km = KModes(n_clusters=4, init='Cao', n_init=1, random_state=42).fit(df.to_numpy())
centroids = pd.DataFrame(km.cluster_centroids_, columns=df.columns)
assert centroids.shape == (4, df.shape[1])
cost = [KModes(n_clusters=k, init='random', n_init=3, random_state=1).fit(df).cost_ for k in range(1, 6)]
assert all(a >= b for a, b in zip(cost, cost[1:]))
assert len(km.epoch_costs_) >= km.n_iter_ > 0 and km.epoch_costs_[-1] == km.cost_
counts = pd.Series(km.labels_).value_counts().sort_index()
df2 = df.assign(cluster=km.fit_predict(df))
modes = df2.groupby('cluster').agg(lambda column: column.mode()[0])
again = KModes(n_clusters=4, init=km.cluster_centroids_, n_init=1, max_iter=100).fit(df)
new = km.predict(df.iloc[:5])
weighted = KModes(n_clusters=4, init='Huang', n_init=2).fit(df, sample_weight=[1] * len(df))
km = KModes(n_clusters=3, init='Huang', n_init=5, n_jobs=-1, random_state=1).fit(df.astype('category'))
params = KModes(n_clusters=3).set_params(init='Cao').get_params()['init']
"""
KPROTOTYPES = """
kp = KPrototypes(n_clusters=3, init='Cao', verbose=0)
clusters = kp.fit_predict(mixed.to_numpy(), categorical=[1, 3])
kp = KPrototypes(n_clusters=3, init='Huang', n_init=3, gamma=0.5, max_iter=100, random_state=1).fit(mixed.values, categorical=[1, 3])
assert kp.cluster_centroids_.shape == (3, 4) and kp.cost_ > 0
new = kp.predict(mixed.values[:10], categorical=[1, 3])
costs = [KPrototypes(n_clusters=k, init='Cao', random_state=1).fit(mixed.values, categorical=[1, 3]).cost_ for k in range(2, 5)]
start = [kp.cluster_centroids_[:, :2], kp.cluster_centroids_[:, 2:]]
again = KPrototypes(n_clusters=3, init=start, n_init=1).fit(mixed.values, categorical=[1, 3])
"""


def lines(text):
    return text.strip().splitlines()


def tables():
    rng = np.random.default_rng(5)
    group = rng.integers(0, 4, 300)
    words = np.array(["low", "mid", "high", "top"])
    cells = words[(group[:, None] + (rng.random((300, 6)) < 0.1)) % 4]
    df = pandas.DataFrame(cells, columns=list("abcdef"))
    third = rng.integers(0, 3, 300)
    mixed = pandas.DataFrame({"age": third * 20 + rng.normal(40, 4, 300), "colour": words[third],
                              "height": third * 9.5 + rng.normal(170, 4, 300), "size": words[(third + 1) % 3]})
    return df, group, mixed, third


def run(text, **names):
    np.random.seed(1)  # for the lines without random_state
    for line in lines(text):
        exec(compile(line, line, "exec"), names)
    return names


def test_there_are_as_many_lines_as_said():
    assert len(lines(KMODES)) == 16 and len(lines(KPROTOTYPES)) == 8


def test_kmodes_lines():
    df, group, _, _ = tables()
    names = run(KMODES, KModes=coforest.KModes, pd=pandas, df=df)
    assert coforest.metrics.adjusted_rand(names["clusters"], group) > 0.8
    assert coforest.metrics.adjusted_rand(names["again"].labels_, group) > 0.8


def test_kprototypes_lines():
    _, _, mixed, third = tables()
    names = run(KPROTOTYPES, KPrototypes=coforest.KPrototypes, mixed=mixed)
    for labels in (names["clusters"], names["kp"].labels_, names["again"].labels_):
        assert coforest.metrics.adjusted_rand(labels, third) > 0.9
    assert (names["new"] == names["kp"].labels_[:10]).all()


def test_like_quality_as_the_package():
    kmodes = pytest.importorskip("kmodes.kmodes")
    from kmodes.kprototypes import KPrototypes

    df, group, mixed, third = tables()
    theirs = kmodes.KModes(n_clusters=4, init="Huang", n_init=5, random_state=1).fit(df)
    ours = coforest.KModes(n_clusters=4, init="Huang", n_init=5, random_state=1).fit(df)
    assert ours.cost_ <= 1.02 * theirs.cost_
    other = KPrototypes(n_clusters=3, init="Cao", n_init=2, random_state=1).fit_predict(mixed.values, categorical=[1, 3])
    own = coforest.KPrototypes(n_clusters=3, init="Cao", n_init=2, random_state=1).fit_predict(mixed.values, categorical=[1, 3])
    rand = coforest.metrics.adjusted_rand
    assert rand(own, third) >= rand(other, third) - 0.02


def test_cost_is_the_number_of_differing_cells():
    df = tables()[0]
    model = coforest.KModes(n_clusters=4, random_state=1).fit(df)
    assert model.cost_ == (df.to_numpy() != model.cluster_centroids_[model.labels_]).sum()


def test_centroids_to_start_from():
    rows = [["a", "x"], ["a", "y"], ["b", "x"], ["b", "z"]]
    model = coforest.KModes(2, init=[["b", "z"], ["a", "x"]]).fit(rows)
    assert model.labels_.tolist() == [1, 1, 0, 0] and model.info_["init"] == "rows"
    assert coforest.KModes(2, init=[3, 0]).fit(rows).labels_.tolist() == [1, 1, 0, 0]
    with pytest.raises(ValueError, match="2 clusters by 2 columns"):
        coforest.KModes(2, init=[["b"], ["a"]]).fit(rows)
    with pytest.raises(ValueError, match="indices of one row"):
        coforest.COForest(2, init=[["b", "z"], ["a", "x"]]).fit(rows)


def test_categories_by_name_and_by_place():
    mixed = tables()[2]
    one = coforest.KPrototypes(3, random_state=1).fit(mixed, categorical=["colour", "size"])
    other = coforest.KPrototypes(3, random_state=1).fit(mixed, categorical=(1, 3))
    assert (one.labels_ == other.labels_).all() and list(one.cluster_means_) == ["age", "height"]
    few = mixed.assign(age=mixed["age"] > 60)  # two values, yet a quantity, because it is not named
    with pytest.raises(ValueError):
        coforest.KPrototypes(3, random_state=1).fit(few, categorical=["no such column"])
    assert list(coforest.KPrototypes(3, random_state=1).fit(few.assign(age=few["age"].astype(int)), categorical=[1, 3]).cluster_means_) == ["age", "height"]
