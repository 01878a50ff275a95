"""The result as tables, and distances between values and between rows."""
import pickle

import numpy as np
import pytest

import coforest

pandas = pytest.importorskip("pandas")


@pytest.fixture(scope="module")
def model(zoo):
    return coforest.COForest(7, random_state=1).fit(zoo.data)


def test_profiles_are_shares(model, zoo):
    table = model.profiles_
    sums = table.groupby("column")[[f"cluster_{j}" for j in range(7)]].sum()
    np.testing.assert_allclose(sums, 1.0)
    j = model.labels_[0]
    mine = zoo.data[model.labels_ == j]
    share = table[(table["column"] == "legs") & (table["value"] == 4)][f"cluster_{j}"].item()
    assert share == pytest.approx((mine["legs"] == 4).mean())


def test_modes_and_importance(model, zoo):
    assert list(model.modes_.columns) == ["cluster", *zoo.feature_names] and len(model.modes_) == 7
    assert (model.modes_[zoo.feature_names].to_numpy() == model.cluster_modes_).all()
    importance = model.importance_
    assert importance["importance"].is_monotonic_decreasing and set(importance["column"]) == set(zoo.feature_names)
    assert importance["importance"].between(0, 1).all()


def test_traits_count_rows(model, zoo):
    traits = model.traits_
    assert set(traits["side"]) == {"more", "less"} and traits["cluster"].is_monotonic_increasing
    for trait in traits.itertuples():
        mine = zoo.data[model.labels_ == trait.cluster][trait.column].astype(str)
        assert (mine == trait.value).sum() == trait.rows and trait.share == pytest.approx(trait.rows / len(mine))
        assert (trait.share > trait.share_anywhere) == (trait.side == "more")


def test_typical_rows_are_the_nearest(model, zoo):
    found = model.typical_rows(2)
    margins = model.margins()
    for j in range(7):
        own = margins["distance"][model.labels_ == j]
        assert found[found["cluster"] == j]["distance"].tolist() == sorted(own)[:2]
    assert model.typical_rows(1, zoo.data).equals(model.typical_rows(1))


def test_quantities():
    rng = np.random.default_rng(1)
    table = {"height": rng.normal(170, 10, 200), "colour": rng.choice(["red", "blue"], 200)}
    cut = coforest.COForest(2, random_state=1).fit(table)
    found = cut.quantities_
    assert found["column"].tolist() == ["height"] * 2 and found["mean"].isna().all()
    for j in range(2):
        mine = table["height"][cut.labels_ == j]
        assert found["least"][j] == pytest.approx(mine.min()) and found["most"][j] == pytest.approx(mine.max())
    kept = coforest.KPrototypes(2, random_state=1).fit(table)
    np.testing.assert_allclose(kept.quantities_["mean"], [table["height"][kept.labels_ == j].mean() for j in range(2)])
    np.testing.assert_allclose(kept.modes_["height"], kept.quantities_["mean"])
    with pytest.raises(ValueError, match="quantities='cut'"):
        kept.pairwise_distances()


def test_lists_become_tables(model):
    assert len(model.to_frame("margins")) == 101 and len(model.to_frame("restarts")) == len(model.restarts_)
    assert model.to_frame("alternatives")["keep"].tolist() == [other["keep"] for other in model.alternatives_]
    assert model.to_frame("history")["pass"].tolist() == [record["pass"] for record in model.history_]
    np.testing.assert_array_equal(model.to_frame("memberships"), model.memberships_)
    with pytest.raises(ValueError, match="no table of 'labels'"):
        model.to_frame("labels")


def test_tables_are_of_the_library_that_was_given(zoo):
    polars = pytest.importorskip("polars")
    mixed = polars.DataFrame({"a": ["x", "y", None] * 20, "n": [1, 2, 3] * 20})
    model = coforest.COForest(2, random_state=1).fit(mixed)
    for table in (model.profiles_, model.modes_, model.traits_, model.importance_, model.quantities_, model.typical_rows(),
                  model.to_frame("margins"), model.value_distances("a")):
        assert isinstance(table, polars.DataFrame)
    assert isinstance(coforest.COForest(2, random_state=1).fit(zoo.data.to_numpy()).profiles_, pandas.DataFrame)
    assert isinstance(pickle.loads(pickle.dumps(model)).profiles_, polars.DataFrame)


def test_value_distances_are_those_of_the_tree(model):
    table = model.value_distances("legs")
    tree = model.trees_["legs"]
    assert [str(value) for value in tree.values] == list(table.columns) == list(table.index)
    for u, one in enumerate(tree.values):
        for v, other in enumerate(tree.values):
            assert table.iloc[u, v] == pytest.approx(tree.distance(one, other), abs=1e-12)


def test_pairwise_distances(model, zoo):
    metrics = pytest.importorskip("sklearn.metrics")
    d = model.pairwise_distances()
    assert d.shape == (101, 101) and (np.diag(d) == 0).all() and np.allclose(d, d.T)
    slow = sum(model.forest_[name].distance(zoo.data[name].iloc[3], zoo.data[name].iloc[50]) for name in zoo.feature_names)
    assert d[3, 50] == pytest.approx(slow)
    assert 0.2 < metrics.silhouette_score(d, model.labels_, metric="precomputed") < 1
    np.testing.assert_allclose(model.pairwise_distances(zoo.data[:5], zoo.data[7:9]), d[:5, 7:9])
    heavy = coforest.COForest(7, random_state=1, column_weights={"legs": 0.0}).fit(zoo.data)
    same = zoo.data.assign(legs=[0, 2] * 50 + [0])
    np.testing.assert_allclose(heavy.pairwise_distances(same), heavy.pairwise_distances(zoo.data))
    kmodes = coforest.KModes(3, random_state=1).fit(zoo.data)
    cells = zoo.data.to_numpy()
    np.testing.assert_array_equal(kmodes.pairwise_distances(), (cells[:, None] != cells[None]).sum(axis=2))


def test_graphs(model):
    networkx = pytest.importorskip("networkx")
    graphs = model.forest_.to_networkx()
    assert list(graphs) == list(model.forest_) and all(networkx.is_tree(graph) for graph in graphs.values())
    assert graphs["legs"].number_of_nodes() == 6
