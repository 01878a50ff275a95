"""Memberships, log-likelihoods of rows, and BIC, AIC and ICL."""
import pickle

import numpy as np
import pytest

import coforest


def class_table(seed, n=400, k=3, n_columns=6, n_values=4):
    """Rows of a latent class model, and their classes."""
    rng = np.random.default_rng(seed)
    theta = rng.dirichlet(np.ones(n_values), (k, n_columns))
    classes = rng.integers(0, k, n)
    return np.array([[rng.choice(n_values, p=theta[c, r]) for r in range(n_columns)] for c in classes]), classes


def parameters(model, n_columns, n_values):
    """Class shares, and probabilities as classes x columns x values, read off rows of which all but one value is unknown."""
    unknown = np.full((1, n_columns), 99)
    shares = -model.transform(unknown)[0]
    theta = np.empty((len(shares), n_columns, n_values))
    for r in range(n_columns):
        for v in range(n_values):
            row = unknown.copy()
            row[0, r] = v
            theta[:, r, v] = -model.transform(row)[0] - shares
    return np.exp(shares), np.exp(theta)


def posterior(X, shares, theta):
    joint = np.tile(shares, (len(X), 1))
    for r in range(X.shape[1]):
        joint *= theta[:, r, X[:, r]].T
    return joint / joint.sum(axis=1, keepdims=True), np.log(joint.sum(axis=1))


@pytest.mark.parametrize("seed", range(3))
def test_lca_gives_the_posterior_of_its_mixture(seed):
    X, _ = class_table(seed)
    model = coforest.LCA(3, random_state=1).fit(X)
    shares, theta = parameters(model, 6, 4)
    np.testing.assert_allclose(theta.sum(axis=2), 1)
    memberships, log_likelihoods = posterior(X, shares, theta)
    np.testing.assert_allclose(model.predict_proba(X), memberships, atol=1e-9)
    np.testing.assert_allclose(model.score_samples(X), log_likelihoods)
    assert model.score(X) * len(X) == pytest.approx(model.info_["mixture_log_likelihood"])
    assert model.bic(X) == pytest.approx(model.info_["bic"]) and model.aic(X) == pytest.approx(model.info_["aic"])
    assert (model.predict_proba(X).argmax(axis=1) == model.predict(X)).all()


def test_stepmix_has_the_same_posteriors_with_the_same_parameters():
    stepmix = pytest.importorskip("stepmix", reason="stepmix is not installed, so its posteriors are not compared")
    for seed in range(3):
        X, _ = class_table(seed)
        model = coforest.LCA(3, random_state=1).fit(X)
        other = stepmix.StepMix(n_components=3, measurement="categorical", max_iter=1, random_state=1, verbose=0,
                                progress_bar=0).fit(X)
        shares, theta = parameters(model, 6, 4)
        set_to = other.get_parameters()
        set_to["weights"], set_to["measurement"]["pis"] = shares, theta.reshape(3, 24)
        other.set_parameters(set_to)
        assert np.abs(model.predict_proba(X) - other.predict_proba(X)).max() < 0.02
        np.testing.assert_allclose(model.predict_proba(X), other.predict_proba(X), atol=1e-9)
        assert model.score(X) == pytest.approx(other.score(X))
        assert model.bic(X) == pytest.approx(other.bic(X)) and model.aic(X) == pytest.approx(other.aic(X))


def smoothed(model, X):
    """The parameters of the partition: a further row of the cluster, given its counts and 1/2 per value."""
    sizes, k = model.cluster_sizes_, model.n_clusters_
    shares = (sizes + 0.5) / (sizes.sum() + k / 2)
    theta = np.array([[(profile[j] * sizes[j] + 0.5) / (sizes[j] + profile.shape[1] / 2)
                       for profile in model.cluster_profiles_] for j in range(k)])
    return shares, theta


@pytest.mark.parametrize("make", [
    lambda: coforest.COForest(3, init="kmeans", random_state=1), lambda: coforest.COForest(3, random_state=1),
    lambda: coforest.KModes(3, random_state=1), lambda: coforest.JDM(3, n_init=1, random_state=1)])
def test_other_models_by_smoothed_profiles(make, tmp_path):
    X, _ = class_table(4)
    model = make().fit(X)
    memberships, log_likelihoods = posterior(X, *smoothed(model, X))
    np.testing.assert_allclose(model.predict_proba(X), memberships, atol=1e-9)
    np.testing.assert_allclose(model.memberships_, memberships, atol=1e-9)
    np.testing.assert_allclose(model.score_samples(X), log_likelihoods)
    assert model.score(X) == pytest.approx(log_likelihoods.mean())
    weights = np.arange(400) % 3
    assert model.score(X, sample_weight=weights) == pytest.approx(np.average(log_likelihoods, weights=weights))
    if model.refined_by_ == "likelihood":
        assert (memberships.argmax(axis=1) == model.predict(X)).all()
    model.save(tmp_path / "m.cof")
    np.testing.assert_array_equal(coforest.load(tmp_path / "m.cof").predict_proba(X), model.memberships_)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict_proba(X), model.memberships_)
    with pytest.raises(ValueError, match="not kept by a pickle"):
        again.memberships_


def test_criteria():
    X, _ = class_table(5)
    model = coforest.COForest(3, random_state=1).fit(X)
    memberships, total, p = model.predict_proba(X), model.score_samples(X).sum(), 2 + 3 * 6 * 3
    entropy = -np.sum(memberships * np.log(np.maximum(memberships, 1e-300)))
    assert model.aic(X) == pytest.approx(2 * p - 2 * total)
    assert model.bic(X) == pytest.approx(p * np.log(400) - 2 * total)
    assert model.icl(X) == pytest.approx(model.bic(X) + 2 * entropy)
    doubled = np.vstack([X, X])
    assert model.bic(X, sample_weight=np.full(400, 2.0)) == pytest.approx(model.bic(doubled))


def test_unseen_values_and_dropped_rows():
    X, _ = class_table(6)
    model = coforest.COForest(3, random_state=1).fit(X)
    new = X[:5].copy()
    new[:, 0] = 77
    unknown = 0.5 / (400 + (len(model.categories_[0]) + 1) / 2)
    shares, theta = smoothed(model, X)
    rest, log_likelihoods = posterior(new[:, 1:], shares, theta[:, 1:])
    np.testing.assert_allclose(model.predict_proba(new), rest)
    np.testing.assert_allclose(model.score_samples(new), log_likelihoods + np.log(unknown))
    holes = [["a", "x"], ["b", None], ["b", "y"], ["a", "x"]]
    model = coforest.LCA(2, missing="drop", random_state=1).fit(holes)
    assert np.isnan(model.predict_proba(holes)).all(axis=1).tolist() == [False, True, False, False]
    assert model.score(holes) == pytest.approx(np.nanmean(model.score_samples(holes)))


def test_held_out_scores_find_the_number_of_clusters():
    X, _ = class_table(7, n=1500, n_columns=10)
    scores = [coforest.LCA(k, random_state=1).fit(X[:1000]).score(X[1000:]) for k in (1, 2, 3, 6)]
    assert np.argmax(scores) == 2
