import math

import numpy as np
import pytest

import coforest
from coforest import metrics, stats


def test_the_worked_example():
    nan = float("nan")
    scores = [[0.7, 0.6, 0.5], [0.8, 0.8, 0.4], [0.9, nan, 0.3], [0.5, 0.6, 0.7]]
    test = stats.friedman(scores)
    # the missing value shares the worst place with nobody: it is below 0.3
    assert test.mean_ranks.tolist() == [1.625, 2.125, 2.25]
    assert test.chi2 == pytest.approx(0.875) and test.p == pytest.approx(0.645649, abs=1e-6)
    assert test.chi2_ties == pytest.approx(0.933333, abs=1e-6) and test.p_ties == pytest.approx(0.627089, abs=1e-6)
    assert test.f == pytest.approx(0.368421, abs=1e-6)


def test_the_papers_critical_differences():
    assert stats.critical_difference(11, 12, 0.05) == pytest.approx(3.8007, abs=5e-5)
    assert stats.critical_difference(11, 12, 0.10) == pytest.approx(3.4877, abs=5e-5)


def test_friedman_agrees_with_scipy():
    scipy_stats = pytest.importorskip("scipy.stats")
    scores = np.random.default_rng(3).integers(0, 9, (12, 5)) / 10
    theirs = scipy_stats.friedmanchisquare(*scores.T)
    ours = stats.friedman(scores, methods=list("abcde"))
    assert ours.chi2_ties == pytest.approx(theirs.statistic) and ours.p_ties == pytest.approx(theirs.pvalue)
    np.testing.assert_allclose(ours.mean_ranks, stats.ranks(scores).mean(axis=0))
    with pytest.raises(ValueError):
        stats.friedman([1, 2, 3])
    with pytest.raises(coforest.CoforestError):
        stats.friedman([[1.0], [2.0]])


def test_bonferroni_dunn():
    scores = np.column_stack([np.linspace(0.8, 0.9, 12)] + [np.linspace(0.1, 0.2, 12) - m / 100 for m in range(10)])
    test = stats.bonferroni_dunn(scores)
    assert test.differences[0] == 0 and test.differs[-1] and not test.differs[1]
    assert math.isclose(test.critical_difference, stats.critical_difference(11, 12))


def test_scores_of_any_labels():
    pandas = pytest.importorskip("pandas")
    found = metrics.evaluate([0, 0, 1, 1], ["a", "a", "b", "b"])
    assert found["ca"] == found["ari"] == found["nmi"] == 1
    assert metrics.adjusted_rand(pandas.Series(["x", "x", "y", None]), np.array([1.0, 1.0, 2.0, 3.0])) == 1
    assert metrics.evaluate([0, -1, 1], [0, 1, 1])["n"] == 2
    for dtype in ("u1", "u2", "u8", "i1", "i8", "f4", "U1", "S1", bool):
        assert metrics.accuracy(np.array([0, 0, 1, 1]).astype(dtype), [2**40, 2**40, 5, 5]) == 1
    with pytest.raises(ValueError, match="same length"):
        metrics.purity([0, 1], [0, 1, 2])


def test_scores_agree_with_scikit_learn():
    sk = pytest.importorskip("sklearn.metrics")
    rng = np.random.default_rng(0)
    a, b = rng.integers(0, 5, 200), rng.integers(0, 4, 200)
    b[:100] = a[:100] % 4
    assert metrics.adjusted_rand(a, b) == pytest.approx(sk.adjusted_rand_score(b, a))
    assert metrics.normalized_mutual_info(a, b) == pytest.approx(
        sk.normalized_mutual_info_score(b, a, average_method="geometric"))
    assert metrics.adjusted_mutual_info(a, b) == pytest.approx(sk.adjusted_mutual_info_score(b, a))
    assert metrics.v_measure(a, b) == pytest.approx(sk.v_measure_score(b, a))


def test_compare():
    voting = coforest.datasets.load_voting()
    outcome = coforest.compare(voting.data, 2, voting.target, methods=["coforest"], runs=3)
    assert outcome.runs["coforest"]["ari"].shape == (3,) and outcome.ranks().tolist() == [1.0]
    assert outcome.mean("ca")[0] > 0.8 and "coforest" in str(outcome)
    pandas = pytest.importorskip("pandas")
    assert len(pandas.DataFrame(outcome.to_dict())) == 1
    criteria = coforest.compare(voting.data, 2, methods=["coforest", coforest.COForest(variant="authors")], runs=2)
    assert criteria.scores == ["log_likelihood", "objective"] and len(criteria.methods) == 2
    nothing = coforest.compare([["a", "b"], ["a", "c"]], 3, methods=["coforest", "lca"], runs=1)
    assert "lca" in nothing.problems and "-" in str(nothing)
    with pytest.raises(ValueError, match="did you mean 'kmodes'"):
        coforest.compare(voting.data, 2, methods=["kmode"])
    with pytest.raises(ValueError, match="must be a list"):
        coforest.compare(voting.data, 2, methods="kmodes")
    apart = coforest.compare(voting.data, 2, methods=[coforest.KModes(), coforest.KModes(init="Cao"), "kmodes", "kmodes"], runs=2)
    assert apart.methods == ["KModes", "KModes 2", "kmodes", "kmodes 2"]
