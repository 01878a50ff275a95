import pickle

import numpy as np
import pytest

import coforest


@pytest.fixture(scope="module")
def model():
    return coforest.COForest(7, random_state=1).fit(coforest.datasets.load_zoo().data)


def test_a_tree_has_one_edge_less_than_values(model):
    for tree in model.forest_.trees():
        assert len(tree.edges) == len(tree.values) - 1
        assert (tree.lengths >= 0).all() and (tree.lengths <= np.sqrt(2) + 1e-12).all()


def test_distance_is_the_sum_along_the_path(model):
    networkx = pytest.importorskip("networkx")
    tree = model.forest_["legs"]
    graph = tree.to_networkx()
    assert networkx.is_tree(graph)
    for u in tree.values:
        for v in tree.values:
            along = networkx.shortest_path_length(graph, u, v, weight="length")
            assert tree.distance(u, v) == pytest.approx(along, abs=1e-12)
    np.testing.assert_allclose(tree.distances(), tree.distances().T)


def test_by_name_and_by_place(model):
    assert model.forest_["legs"] is model.forest_[12]
    assert len(model.forest_) == 16 and "legs" in model.forest_ and list(model.forest_)[0] == "hair"
    with pytest.raises(KeyError):
        model.forest_["wings"]
    with pytest.raises(KeyError, match="legs"):
        model.forest_["legs"].distance(4, 3)


def test_drawings(model):
    tree = model.forest_["legs"]
    assert "legs: 6 values" in tree.to_text()
    assert "graph" in tree.to_dot() and tree._repr_svg_().lstrip().startswith("<")
    assert '"length"' in tree.to_json()


def test_embed(model):
    points = model.embed()
    assert points["n_rows"].sum() == 101 and np.isfinite(points["x"]).all()
    again = pickle.loads(pickle.dumps(model))
    with pytest.raises(ValueError, match="pass X"):
        again.embed()
    assert (again.embed(coforest.datasets.load_zoo().data) == points).all()


def test_plots(model):
    pytest.importorskip("matplotlib")
    from matplotlib import pyplot

    zoo = coforest.datasets.load_zoo()
    apart = coforest.COForest(8, random_state=1).fit(zoo.data)
    texts = [t.get_text() for t in apart.forest_["legs"].plot().texts]
    assert {"0", "2", "4", "5", "6", "8"} <= set(texts)
    ten = coforest.COForest(7, n_init=10, init="kmeans", random_state=1).fit(zoo.data)
    assert ten.forest_["legs"].distance(5, 8) == 0
    texts = [t.get_text() for t in ten.forest_["legs"].plot().texts]
    assert {"0", "2", "4", "5, 8", "6"} <= set(texts)
    assert sum(len(points.get_offsets()) for points in coforest.plots.plot_map(model).collections) == 59
    assert coforest.plots.plot_map(model, zoo.data, y=zoo.target) is not None
    assert len(coforest.plots.plot_profiles(model).get_yticklabels()) == 36
    assert len(coforest.plots.plot_convergence(ten).lines) == 10
    likely = coforest.COForest(10, random_state=1).fit(zoo.data)
    for portfolio, label in ((model, "objective"), (likely, "minus log-likelihood")):
        ax = coforest.plots.plot_convergence(portfolio, ax=pyplot.subplots()[1])
        assert len(ax.lines) == 50 and ax.get_ylabel() == label  # the starts of the kept one's kind
    figure, ax = pyplot.subplots()
    assert coforest.stats.plot_cd_diagram([1.5, 2.5, 2.0], ["a", "b", "c"], 0.8, ax=ax) is ax
    for number in pyplot.get_fignums():
        pyplot.figure(number).canvas.draw()
    pyplot.close("all")


def test_a_constant_column_has_no_tree():
    model = coforest.COForest(2, random_state=1).fit([["a", "x"], ["b", "x"], ["a", "x"]])
    tree = model.forest_[1]
    assert not tree.used and tree.edges == [] and tree._repr_svg_() is None
    tree.plot()


def test_pictures_hold_long_names_and_many_values():
    """Every name of forty lies within the figure, and no two on the same line."""
    pytest.importorskip("matplotlib")
    from matplotlib import pyplot

    rng = np.random.default_rng(1)
    group = rng.integers(0, 4, 800)
    names = np.array([f"a value with quite a long name, number {i:02}, of {40}" for i in range(40)])
    table = {"name": names[(group * 10 + rng.integers(0, 12, 800)) % 40], "age": group * 10 + rng.normal(30, 4, 800),
             "colour": np.array(["red", "blue"])[group % 2]}
    model = coforest.COForest((2, 6), random_state=1).fit(table)
    axes = coforest.plots.plot_tree(model.forest_["name"])
    axes.figure.canvas.draw()
    frame = axes.figure.bbox
    boxes = [text.get_window_extent() for text in axes.texts if "value" in text.get_text()]
    assert boxes and all(0 <= box.x0 and box.x1 <= frame.x1 for box in boxes)
    lines = sorted(round(box.y0) for box in boxes)
    assert all(low + 8 < high for low, high in zip(lines, lines[1:]))
    axes = coforest.plots.plot_profiles(model)
    axes.figure.canvas.draw()
    assert all(label.get_window_extent().x0 >= 0 for label in axes.get_yticklabels())
    legend = coforest.plots.plot_map(model).get_legend()
    assert [text.get_text() for text in legend.get_texts()] == [str(j) for j in range(model.n_clusters_)]
    assert len(coforest.plots.plot_quantity(model, "age").lines) == model.n_clusters_
    assert list(coforest.plots.plot_k_curve(model).lines[0].get_xdata()) == [2, 3, 4, 5, 6]
    with pytest.raises(ValueError, match="no quantity"):
        coforest.plots.plot_quantity(model, "colour")
    with pytest.raises(ValueError, match="no curve"):
        coforest.plots.plot_k_curve(coforest.COForest(2, random_state=1, n_init=1).fit(table))
    pyplot.close("all")


def test_alternatives_are_counted():
    pytest.importorskip("matplotlib")
    model = coforest.COForest(7, random_state=1).fit(coforest.datasets.load_zoo().data)
    axes = coforest.plots.plot_alternatives(model)
    assert sum(int(text.get_text()) for text in axes.texts) == 101
