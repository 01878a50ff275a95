import pickle
import warnings

import numpy as np
import pytest

import coforest

ROWS = [["red", "small"], ["red", "small"], ["blue", "large"], ["blue", "large"], ["green", "large"], ["red", "medium"]]


@pytest.fixture(scope="module")
def fitted(zoo):
    return coforest.COForest(7, random_state=1).fit(zoo.data)


def test_what_fit_leaves(fitted, zoo):
    assert fitted.labels_.shape == (101,) and set(fitted.labels_) == set(range(7))
    assert fitted.n_features_in_ == 16
    assert list(fitted.feature_names_in_) == zoo.feature_names
    assert fitted.cluster_sizes_.sum() == 101
    assert fitted.n_iter_ >= 1 and fitted.objective_ > 0 and fitted.log_likelihood_ < 0
    assert fitted.stop_reason_ in ("converged", "cycle", "cap")
    assert len(fitted.restarts_) == 100 and fitted.history_[0]["pass"] == 1
    assert fitted.seed_ == 1


def test_the_number_of_clusters_is_found(zoo, tmp_path):
    found = coforest.COForest("auto", random_state=1).fit(zoo.data)
    curve = found.k_curve_
    assert [record["k"] for record in curve] == list(range(1, len(curve) + 1))
    assert found.n_clusters_ == max(curve, key=lambda record: record["log_likelihood"])["k"]
    assert set(found.labels_) == set(range(found.n_clusters_)) and found.transform(zoo.data).shape[1] == found.n_clusters_
    assert (coforest.COForest(found.n_clusters_, random_state=1).fit(zoo.data).labels_ == found.labels_).all()
    found.save(tmp_path / "found.cof")
    assert coforest.load(tmp_path / "found.cof").k_curve_ == curve
    assert pickle.loads(pickle.dumps(found)).k_curve_ == curve
    found.report(tmp_path / "found.html")
    assert 'id="numbers"' in (tmp_path / "found.html").read_text()
    assert coforest.COForest((2, 9), random_state=1).fit(zoo.data).n_clusters_ == 7
    noise = np.random.default_rng(1).integers(0, 3, (200, 8))
    alone = coforest.COForest("auto", random_state=1).fit(noise)
    assert alone.n_clusters_ == 1 and alone.info_["log_likelihood"] == alone.info_["log_likelihood_of_one"]


@pytest.mark.parametrize("wrong", ["some", (4, 2), (2,), (0, 3), [1, 2, 3], (2, "a"), (1.5, 3)])
def test_numbers_of_clusters_that_are_none(wrong):
    with pytest.raises(ValueError, match="n_clusters"):
        coforest.COForest(wrong).fit(ROWS)


def test_a_number_given_has_no_curve(fitted):
    assert fitted.k_curve_ is None and fitted.n_clusters_ == 7


def test_margins(fitted, zoo, tmp_path):
    margins, distances = fitted.margins(), np.sort(fitted.transform(zoo.data), axis=1)
    np.testing.assert_allclose(margins["distance"], distances[:, 0], rtol=1e-6)
    np.testing.assert_allclose(margins["next_distance"], distances[:, 1], rtol=1e-6)
    np.testing.assert_allclose(margins["lead"], 1 - distances[:, 0] / distances[:, 1], atol=1e-6)
    assert (margins["cluster"] == fitted.labels_).all() and (margins["next"] != fitted.labels_).all()
    assert (fitted.margins(zoo.data)["lead"] == margins["lead"]).all()
    again = pickle.loads(pickle.dumps(fitted))
    with pytest.raises(ValueError, match="pass X"):
        again.margins()
    assert (again.margins(zoo.data) == margins).all()
    fitted.save(tmp_path / "zoo.cof")
    assert (coforest.load(tmp_path / "zoo.cof").margins(zoo.data) == margins).all()
    assert (again.cluster_agreement_ == fitted.cluster_agreement_).all()
    assert fitted.cluster_agreement_.shape == (7,) and 0 < fitted.cluster_agreement_.min() <= fitted.cluster_agreement_.max() <= 1
    assert coforest.COForest(7, n_init=1, random_state=1).fit(zoo.data).cluster_agreement_ is None
    alone = coforest.COForest(1).fit(zoo.data).margins()
    assert (alone["next"] == -1).all() and np.isinf(alone["next_distance"]).all() and (alone["lead"] == 1).all()


def test_portfolio(zoo, fitted):
    model = coforest.COForest(7, n_init=100, init="portfolio", select="balance", random_state=1).fit(zoo.data)
    assert (model.labels_ == fitted.labels_).all()  # it is the default
    kinds = [record["by_likelihood"] for record in model.restarts_]
    assert kinds == [False, True] * 50
    best = max(record["criterion"] for record in model.restarts_)
    assert model.restarts_[model.info_["best_restart"]]["criterion"] == pytest.approx(best)
    assert (model.predict(zoo.data) == model.labels_).all()


def test_what_was_done_is_told(zoo):
    def done(**options):
        info = coforest.Clusterer(3, random_state=1, **options).fit(zoo.data).info_
        return info["init"], info["select"], info["n_restarts"]

    assert done() == ("portfolio", "balance", 100)
    assert done(n_init=3, select="likelihood") == ("portfolio", "likelihood", 3)
    assert done(init="kmeans") == ("kmeans", "likelihood", 10)
    assert done(init="kmeans", select="balance") == ("kmeans", "balance", 10)
    assert done(init="cao") == ("cao", "likelihood", 1)
    assert done(init=[0, 2, 11]) == ("rows", "likelihood", 1)
    assert done(method="kmodes") == ("kmeans", "objective", 10)
    many = np.random.default_rng(1).integers(0, 50, (200000, 10))
    starts = [coforest.COForest(2, random_state=1).fit(many[:n]).info_["n_restarts"] for n in (1000, 3000, 4096, 4097, 200000)]
    assert starts == [100, 2**21 // (3000 * 10 * 2), 2**21 // (4096 * 10 * 2), 10, 10]


def test_a_start_refined_by_the_likelihood(zoo, tmp_path):
    model = coforest.COForest(10, random_state=1).fit(zoo.data)
    assert model.restarts_[model.info_["best_restart"]]["by_likelihood"]
    assert model.refined_by_ == "likelihood" and 0 <= model.info_["nearer_other"] <= 1
    sizes = model.cluster_sizes_
    expected = np.tile(-np.log((sizes + 0.5) / (101 + 10 / 2)), (101, 1))
    for r, name in enumerate(zoo.feature_names):
        values, shares = model.categories_[r].tolist(), model.cluster_profiles_[r]
        counts = shares * sizes[:, None]
        codes = [values.index(value) for value in zoo.data[name]]
        expected -= np.log((counts + 0.5) / (sizes[:, None] + len(values) / 2)).T[codes]
    np.testing.assert_allclose(model.predict_log_proba(zoo.data), -expected - np.log(np.exp(-expected).sum(axis=1))[:, None],
                               rtol=1e-6, atol=1e-9)
    assert model.score(zoo.data) == pytest.approx(np.log(np.exp(-expected).sum(axis=1)).mean())
    distances = sum(model.forest_[name].distances()[[model.categories_[r].tolist().index(value) for value in zoo.data[name]]]
                    @ model.cluster_profiles_[r].T for r, name in enumerate(zoo.feature_names))
    model.save(tmp_path / "likely.cof")
    for other in (model, pickle.loads(pickle.dumps(model)), coforest.load(tmp_path / "likely.cof")):
        assert (other.predict(zoo.data) == model.labels_).all()
        np.testing.assert_allclose(other.transform(zoo.data), distances, rtol=1e-6)
        assert (other.predict_log_proba(zoo.data).argmax(axis=1) == model.labels_).all()
        assert (other.margins(zoo.data)["lead"] >= 0).all()


@pytest.mark.parametrize("variant", ["paper", "authors"])
@pytest.mark.parametrize("missing", ["value", "ignore", "drop"])
def test_transform_measures_along_the_trees_whatever_the_start_was_refined_by(variant, missing):
    """What Python measures for starts refined by the likelihood is what the library measures for the others."""
    X = coforest.datasets.load_voting().data
    for weights in (None, {0: 2.0, 3: 0.5}):
        model = coforest.COForest(4, init="kmeans", variant=variant, missing=missing, column_weights=weights, random_state=1).fit(X)
        distances = model.transform(X)
        again = distances.copy()
        model._measure_along_trees(model._new_table(X), again)
        np.testing.assert_allclose(again, distances, rtol=1e-12)


def test_warnings_name_the_line_that_called(zoo):
    identifiers = {"id": [f"r{i}" for i in range(40)], "a": ["x", "y"] * 20, "b": ["u", "u", "v", "w"] * 10}
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        model = coforest.COForest(2, random_state=1).fit(identifiers)
        model.fit_predict(identifiers)
        coforest.KPrototypes(2, random_state=1).fit(identifiers)
        model.predict({**identifiers, "a": ["new"] * 40})
        coforest.KModes(3, random_state=1).fit([["a", "x"], ["a", "x"], ["b", "y"], ["b", "y"]])
        model.predict(np.array(list(identifiers.values()), dtype=object).T)
    assert len(seen) >= 6 and {warning.filename for warning in seen} == {__file__}


def test_memberships_are_kept_by_a_pickle_on_request(zoo):
    model = coforest.COForest(7, n_init=1, random_state=1).fit(zoo.data)
    memberships = model.memberships_
    with pytest.raises(ValueError, match="pass X"):
        pickle.loads(pickle.dumps(model)).memberships_
    assert model.keep_memberships() is model
    assert (pickle.loads(pickle.dumps(model)).memberships_ == memberships).all()
    assert model.fit(zoo.data.head(50)).memberships_.shape == (50, 7)


@pytest.mark.parametrize("options, words", [
    ({"ordinal": ["size"]}, "the values of each column in their order"), ({"ordinal": "size"}, "of each column in their order"),
    ({"ordinal": {"size": "small"}}, "must list the values of 'size'")])
def test_orders_that_are_none_say_what_to_write(options, words):
    with pytest.raises(ValueError, match=words):
        coforest.COForest(2, **options).fit({"size": ["small", "large"] * 5, "b": ["u", "v", "w", "u", "v"] * 2})


def test_one_column_needs_no_list(zoo):
    one = coforest.COForest(7, n_init=1, numeric="legs", random_state=1).fit(zoo.data)
    assert list(one.cuts_) == ["legs"]
    assert list(coforest.COForest(7, n_init=1, numeric=zoo.feature_names.index("legs"), random_state=1).fit(zoo.data).cuts_) == ["legs"]
    assert coforest.COForest(7, n_init=1, categorical="legs", random_state=1).fit(zoo.data).cuts_ == {}


def test_the_objective_is_the_sum_of_distances():
    voting = coforest.datasets.load_voting()
    for variant in ("paper", "authors"):
        for missing in ("value", "ignore", "drop"):
            model = coforest.COForest(4, init="kmeans", variant=variant, missing=missing, random_state=1).fit(voting.data)
            assert np.nansum(model.transform(voting.data).min(axis=1)) == pytest.approx(model.objective_)


def test_profiles_are_shares(fitted):
    assert [len(c) for c in fitted.categories_] == [p.shape[1] for p in fitted.cluster_profiles_]
    for profile in fitted.cluster_profiles_:
        np.testing.assert_allclose(profile.sum(axis=1), 1)


def test_modes_are_the_commonest_values(fitted, zoo):
    for j in range(7):
        for r, name in enumerate(zoo.feature_names):
            counts = zoo.data[name][fitted.labels_ == j].value_counts()
            assert counts[fitted.cluster_modes_[j, r]] == counts.max()


def test_categories_keep_their_type(fitted):
    legs = list(fitted.feature_names_in_).index("legs")
    assert fitted.categories_[legs].tolist() == [0, 2, 4, 5, 6, 8]
    assert fitted.categories_[0].tolist() == ["no", "yes"]


def test_predict_gives_the_labels_back(fitted, zoo):
    assert (fitted.predict(zoo.data) == fitted.labels_).all()
    assert (fitted.transform(zoo.data).argmin(axis=1) == fitted.labels_).all()
    assert fitted.score(zoo.data) == pytest.approx(fitted.score_samples(zoo.data).mean())
    assert (coforest.COForest(7, random_state=1).fit_predict(zoo.data) == fitted.labels_).all()


def test_unseen_values_count_for_nobody(fitted, zoo):
    rows = zoo.data.head(3).copy()
    rows["legs"] = 17
    assert (fitted.predict(rows) == fitted.labels_[:3]).all()
    assert fitted.count_unseen(rows) == {"n_unseen_cells": 3, "n_unseen_rows": 3, "n_dropped": 0}


def test_seeds(zoo):
    labels = coforest.COForest(7, n_init=1, random_state=5).fit_predict(zoo.data)
    for _ in range(2):
        assert (coforest.COForest(7, n_init=1, random_state=5).fit_predict(zoo.data) == labels).all()
    for make in (np.random.RandomState, np.random.default_rng):
        first, second = (coforest.COForest(3, n_init=1, random_state=make(3)).fit(zoo.data) for _ in range(2))
        assert first.seed_ == second.seed_ and (first.labels_ == second.labels_).all()
    drawn = {coforest.COForest(3, n_init=1).fit(zoo.data).seed_ for _ in range(5)}
    assert len(drawn) > 1
    assert coforest.COForest(3, n_init=1, random_state=2**64 - 1).fit(zoo.data).seed_ == 2**64 - 1


def test_threads_do_not_change_labels(zoo):
    labels = [coforest.COForest(7, random_state=1, n_jobs=n).fit_predict(zoo.data) for n in (None, -1, 1, 2, 7)]
    assert all((labels[0] == other).all() for other in labels)


def test_weights_count_rows(zoo):
    weights = np.ones(101)
    weights[:10] = 3
    model = coforest.COForest(7, random_state=1).fit(zoo.data, sample_weight=weights)
    assert model.cluster_sizes_.sum() == 121
    assert model.score(zoo.data, sample_weight=weights) == pytest.approx(
        np.average(model.score_samples(zoo.data), weights=weights))


def test_init_rows_are_the_first_modes(zoo):
    model = coforest.COForest(3, init=[0, 2, 11]).fit(zoo.data)
    assert len(model.restarts_) == 1
    assert [model.labels_[i] for i in (0, 2, 11)] == [0, 1, 2]


def test_missing_cells():
    rows = [list(row) for row in ROWS] + [[None, "small"]]
    model = coforest.COForest(2, random_state=1).fit(rows)
    assert model.categories_[0].tolist() == ["blue", "green", "red", None]
    assert model.forest_[0].distance(None, None) == 0
    assert coforest.COForest(2, missing="drop", random_state=1).fit(rows).labels_[-1] == -1
    assert coforest.COForest(2, missing="ignore", random_state=1).fit(rows).categories_[0].tolist() == [
        "blue", "green", "red"]
    with pytest.raises(coforest.CoforestError, match="missing"):
        coforest.COForest(2, missing="error").fit(rows)


def test_ordinal_columns():
    order = ["small", "medium", "large"]
    model = coforest.COForest(2, ordinal={"x1": order}, random_state=1).fit(ROWS)
    assert model.categories_[1].tolist() == order and model.forest_[1].ordinal
    assert coforest.COForest(2, ordinal={1: order}).fit(ROWS).categories_[1].tolist() == order
    with pytest.raises(ValueError, match="does not have"):
        coforest.COForest(2, ordinal={"size": order}).fit(ROWS)


def test_pickle_keeps_everything_but_the_memory(fitted, zoo):
    again = pickle.loads(pickle.dumps(fitted))
    assert (again.predict(zoo.data) == fitted.labels_).all() and (again.labels_ == fitted.labels_).all()
    assert again.forest_["legs"].edges == fitted.forest_["legs"].edges
    assert again.history_ == fitted.history_


def test_what_was_found_is_made_when_it_is_asked_for(zoo):
    model = coforest.COForest(3, n_init=1, random_state=1).fit(zoo.data)
    model.predict(zoo.data)
    assert "forest" not in vars(model._found), "a fit of a wide table would take half as long again"
    for name in ("forest_", "categories_", "cuts_", "cluster_quartiles_", "cluster_profiles_", "cluster_modes_"):
        assert getattr(model, name) is getattr(model, name)
        assert not hasattr(coforest.COForest(3), name)


def test_save_and_load(fitted, zoo, tmp_path):
    path = tmp_path / "zoo.model"
    fitted.save(path)
    again = coforest.load(path)
    assert again.n_clusters == 7 and list(again.feature_names_in_) == zoo.feature_names
    assert (again.predict(zoo.data) == fitted.labels_).all()


def test_not_fitted():
    with pytest.raises(ValueError, match="not fitted"):
        coforest.COForest(2).predict(ROWS)


def test_identifiers_are_named(zoo):
    with pytest.warns(UserWarning, match="animal"):
        coforest.COForest(7, n_init=1).fit(zoo.data.reset_index())


def test_callback_sees_progress_and_may_stop(zoo):
    seen = []
    model = coforest.COForest(7, random_state=1, callback=seen.append).fit(zoo.data)
    assert {p.restart for p in seen} == set(range(1, 101)) and seen[-1].phase == "fit"
    assert model.stop_reason_ != "stopped"
    stopped = coforest.COForest(7, random_state=1, callback=lambda p: p.restart >= 3).fit(zoo.data)
    assert stopped.stop_reason_ == "stopped" and len(stopped.restarts_) <= 3


def test_verbose_shows_something(zoo, capsys):
    coforest.COForest(7, random_state=1, n_init=2, verbose=1).fit(zoo.data)
    assert "start" in capsys.readouterr().err


def test_every_method_by_name(zoo):
    for method in coforest.methods():
        model = coforest.Clusterer(3, method=method, n_init=2, random_state=1)
        try:
            labels = model.fit_predict(zoo.data)
        except coforest.CoforestError as error:
            assert "-prototypes" in method, (method, error)  # they want a quantity
            continue
        assert labels.shape == (101,) and labels.max() <= 2, method
    assert (coforest.Clusterer(7, random_state=1).fit_predict(zoo.data)
            == coforest.COForest(7, random_state=1).fit_predict(zoo.data)).all()
    with pytest.raises(coforest.CoforestError, match="magic"):
        coforest.Clusterer(2, method="magic").fit(zoo.data)


@pytest.mark.parametrize("name", ["KModes", "LSM", "JDM", "CBDM", "OCIL", "UDM", "DLC", "H2H", "HDC", "ADC", "LCA"])
def test_named_methods(zoo, name):
    model = getattr(coforest, name)(7, random_state=1, n_init=2)
    assert model._method in coforest.methods()
    labels = model.fit_predict(zoo.data)
    assert (coforest.Clusterer(7, method=model._method, random_state=1, n_init=2).fit_predict(zoo.data) == labels).all()
    assert pickle.loads(pickle.dumps(model)).labels_.tolist() == labels.tolist()


def two_groups(seed, sizes=(200, 200)):
    """Two coin-flip columns and two that lie 10 and 5 standard deviations apart by group."""
    rng = np.random.default_rng(seed)
    group, n = np.repeat([0, 1], sizes), sum(sizes)
    coins = [np.array(["head", "tail"], dtype=object)[rng.integers(0, 2, n)] for _ in range(2)]
    return group, {"a": coins[0], "b": coins[1], "x": rng.normal(size=n) + 10 * group, "y": rng.normal(size=n) + 5 * group}


def test_quantities_are_cut_from_every_kind_of_table():
    pandas, polars, pa = (pytest.importorskip(name) for name in ("pandas", "polars", "pyarrow"))
    for seed in range(5):
        group, X = two_groups(seed)
        frame = pandas.DataFrame(X)
        labels = []
        for table in (X, frame, polars.from_pandas(frame), pa.Table.from_pandas(frame)):
            model = coforest.COForest(2, random_state=1).fit(table)
            labels.append(model.labels_)
            assert set(model.cuts_) == {"x", "y"} and len(model.cuts_["x"]) == 15
            assert (model.predict(table) == model.labels_).all() or model.stop_reason_ != "converged"
        assert all((other == labels[0]).all() for other in labels)
        assert coforest.metrics.adjusted_rand(labels[0], group) >= 0.97
        quartiles = model.cluster_quartiles_["x"]
        assert quartiles.shape == (2, 5) and abs(abs(quartiles[0, 2] - quartiles[1, 2]) - 10) < 0.5
        assert (model.predict_proba(X).max(axis=1) > 0.5).all()


def test_load_restores_cuts(tmp_path):
    _, X = two_groups(1)
    X["x"][::9] = np.nan
    fitted = coforest.COForest(2, random_state=1).fit(X)
    fitted.save(tmp_path / "cut.cof")
    loaded = coforest.load(tmp_path / "cut.cof")
    assert list(loaded.cuts_) == list(fitted.cuts_) == ["x", "y"]
    for name, edges in fitted.cuts_.items():
        assert loaded.cuts_[name].tolist() == edges.tolist()
        assert loaded.cluster_quartiles_[name].tolist() == fitted.cluster_quartiles_[name].tolist()
    assert (loaded.predict(X) == fitted.predict(X)).all()
    outside = {"a": ["head"], "b": ["tail"], "x": [1e9], "y": [-1e9]}
    assert loaded.predict(outside) == fitted.predict(outside)


def test_k_prototypes_by_their_own_objective():
    for seed in range(5):
        group, X = two_groups(seed)
        for options in ({}, {"gamma": "kmodes"}, {"gamma": 0.4, "scale": "z"}):
            model = coforest.KPrototypes(2, random_state=1, **options).fit(X)
            assert coforest.metrics.adjusted_rand(model.labels_, group) == 1, (seed, options)
            assert model.info_["select"] == "objective"
    for options in ({"gamma": 0}, {"gamma": "best"}, {"scale": "log"}):
        with pytest.raises(ValueError, match="gamma|scale"):
            coforest.KPrototypes(2, **options).fit(X)


def test_unequal_groups_and_every_kind_of_table():
    pandas, polars, pa = (pytest.importorskip(name) for name in ("pandas", "polars", "pyarrow"))
    for seed in range(5):
        group, X = two_groups(seed, (120, 280))
        frame = pandas.DataFrame(X)
        for table in (X, frame, polars.from_pandas(frame), pa.Table.from_pandas(frame)):
            cut = coforest.COForest(2, random_state=1).fit(table)
            assert coforest.metrics.adjusted_rand(cut.labels_, group) >= 0.94
            prototypes = coforest.KPrototypes(2, random_state=1).fit(table)
            assert coforest.metrics.adjusted_rand(prototypes.labels_, group) == 1
            assert (prototypes.predict(table) == prototypes.labels_).all()


def test_column_weights():
    rng = np.random.default_rng(2)
    group = np.repeat([0, 1], 100)
    X = {"told": np.where(rng.random(200) < 0.9, group, 1 - group).astype(str), "again": group.astype(str),
         **{f"noise{c}": rng.integers(0, 3, 200).astype(str) for c in range(6)}}
    fit = lambda **options: coforest.COForest(2, random_state=1, **options).fit(X)
    weighed = fit(column_weights={f"noise{c}": 0 for c in range(6)})
    alone = coforest.COForest(2, random_state=1).fit({name: X[name] for name in ("told", "again")})
    assert coforest.metrics.adjusted_rand(weighed.labels_, alone.labels_) == 1
    assert (weighed.predict(X) == weighed.labels_).all()
    for wrong, part in [({"nothing": 1}, "does not have"), ({"told": -1}, "weight"), ({"told": "much"}, "weight"),
                        ({"told": float("nan")}, "weight")]:
        with pytest.raises(ValueError, match=part):
            fit(column_weights=wrong)


def test_what_is_cut_and_what_is_not():
    pandas = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    frame = pandas.DataFrame({"n": rng.integers(0, 50, 200), "few": rng.integers(0, 5, 200), "text": rng.integers(0, 50, 200),
                              "kept": rng.integers(0, 50, 200), "day": pandas.date_range("2024-01-01", periods=200)})
    frame["text"], frame["kept"] = frame["text"].astype(str), frame["kept"].astype("category")
    fit = lambda **options: set(coforest.COForest(2, n_init=1, random_state=1, **options).fit(frame).cuts_)
    assert fit() == {"n", "text", "day"}
    assert fit(numeric=["few"], categorical=["n"]) == {"few", "text", "day"}
    assert fit(quantities="values") == set() and fit(quantities="values", cut={"n": [25]}) == {"n"}
    model = coforest.COForest(2, n_init=1, random_state=1, cut={"n": [25]}, categorical=["text", "day"]).fit(frame)
    assert model.cuts_["n"].tolist() == [25] and model.categories_[0].tolist() == ["0..24", "25..49"]


@pytest.mark.parametrize("estimator", [coforest.COForest, coforest.KPrototypes, coforest.EKPrototypes])
def test_quantities_beside_categories(estimator, tmp_path):
    rng = np.random.default_rng(0)
    group = np.repeat([0, 1, 2], 40)
    X = {"colour": np.array(["red", "green", "blue"], dtype=object)[(group + (rng.random(120) < 0.2)) % 3],
         "weight": group * 5 + rng.normal(size=120), "height": group * -3.5 + rng.normal(size=120)}
    model = estimator(3, quantities="scaled", random_state=1).fit(X)
    assert coforest.metrics.adjusted_rand(model.labels_, group) > 0.3
    assert model.n_features_in_ == 3 and list(model.forest_) == ["colour"]
    assert (model.predict(X) == model.labels_).all()
    assert model.transform(X).shape == (120, 3)
    assert sorted(model.cluster_means_) == ["height", "weight"]
    for j in range(3):
        assert abs(model.cluster_means_["weight"][j] - X["weight"][model.labels_ == j].mean()) < 1e-6
    path = tmp_path / "mixed.cof"
    model.save(path)
    again = coforest.load(path)
    assert (again.predict(X) == model.labels_).all()
    assert {name: means.tolist() for name, means in again.cluster_means_.items()} == {
        name: means.tolist() for name, means in model.cluster_means_.items()}
    with pytest.raises(ValueError, match="numeric"):
        estimator(3, numeric=["age"]).fit(X)


def test_report(fitted, zoo, tmp_path):
    fitted.report(tmp_path / "a.html", source="zoo.csv")
    page = (tmp_path / "a.html").read_text(encoding="utf-8")
    assert "<html" in page and "zoo.csv" in page and "legs" in page
    fitted.report(tmp_path / "b.html", zoo.data, zoo.target)
    assert "mammal" in (tmp_path / "b.html").read_text(encoding="utf-8")
    pickle.loads(pickle.dumps(fitted)).report(tmp_path / "c.html")
    assert (tmp_path / "c.html").stat().st_size > 1000
    assert "restart chosen by" in page and "portfolio" in page and "balance" in page
    fitted.save(tmp_path / "zoo.cof")
    coforest.load(tmp_path / "zoo.cof").report(tmp_path / "e.html")
    assert "restart chosen by" in (tmp_path / "e.html").read_text(encoding="utf-8")
    with pytest.raises(ValueError, match="X"):
        fitted.report(tmp_path / "d.html", y=zoo.target)
