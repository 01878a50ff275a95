"""Which of several methods is better over several tables: Friedman's test and the Bonferroni-Dunn test.

After Demsar, "Statistical comparisons of classifiers over multiple data sets", 2006. Scores are tables by methods,
higher is better, NaN where a method has no result.
"""
import math
from dataclasses import dataclass, field
from statistics import NormalDist

import numpy as np

__all__ = ["BonferroniDunn", "Friedman", "bonferroni_dunn", "critical_difference", "friedman", "ranks"]

_SMALL, _STEPS = 1e-300, 10000


def _gamma_q(a, x):
    """Upper regularised incomplete gamma function: by series below a + 1, by continued fraction above."""
    if x <= 0:
        return 1.0
    front = math.exp(a * math.log(x) - x - math.lgamma(a))
    if x < a + 1:
        term = total = 1 / a
        for n in range(1, _STEPS):
            term *= x / (a + n)
            total += term
            if term < total * 1e-17:
                break
        return max(0.0, 1 - front * total)
    b = x + 1 - a
    c, d = 1 / _SMALL, 1 / b
    h = d
    for n in range(1, _STEPS):
        an = -n * (n - a)
        b += 2
        d = 1 / (an * d + b or _SMALL)
        c = b + an / c or _SMALL
        h *= d * c
        if abs(d * c - 1) < 1e-16:
            break
    return front * h


def _beta_i(a, b, x):
    """Regularised incomplete beta function by its continued fraction."""
    if x <= 0 or x >= 1:
        return 0.0 if x <= 0 else 1.0
    if x > (a + 1) / (a + b + 2):
        return 1 - _beta_i(b, a, 1 - x)
    front = math.exp(math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x)) / a
    c, d = 1.0, 1 / (1 - (a + b) * x / (a + 1) or _SMALL)
    h = d
    for m in range(1, _STEPS):
        before = h
        for step in (m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
                     -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))):
            d = 1 / (1 + step * d or _SMALL)
            c = 1 + step / c or _SMALL
            h *= d * c
        if abs(h - before) < 1e-16 * abs(h):
            break
    return front * h


def chi2_tail(x, df):
    """Chance that a chi-square variable of df degrees of freedom exceeds x."""
    return _gamma_q(df / 2, x / 2)


def f_tail(x, df1, df2):
    """Chance that an F variable exceeds x."""
    if x <= 0:
        return 1.0
    return 0.0 if math.isinf(x) else _beta_i(df2 / 2, df1 / 2, df2 / (df2 + df1 * x))


def ranks(scores):
    """Ranks within every row, 1 for the largest score, ties averaged, NaN worst."""
    scores = np.asarray(scores, dtype=float)
    if scores.ndim != 2:
        raise ValueError("scores must be a table: one row per table, one column per method")
    filled = np.where(np.isnan(scores), -np.inf, scores)
    above = (filled[:, None, :] > filled[:, :, None]).sum(axis=2)
    equal = (filled[:, None, :] == filled[:, :, None]).sum(axis=2)
    return above + (equal + 1) / 2


@dataclass
class Friedman:
    """Friedman's test that all methods are level."""

    n_tables: int
    n_methods: int
    mean_ranks: np.ndarray
    chi2: float
    p: float
    chi2_ties: float  # corrected for ties
    p_ties: float
    f: float  # Iman and Davenport's F, from chi2
    p_f: float
    methods: list = field(default_factory=list)


def friedman(scores, methods=None):
    """Friedman's chi-square, plain and corrected for ties, and Iman-Davenport's F, with their p-values."""
    scores = np.asarray(scores, dtype=float)
    ranked = ranks(scores)
    n, k = ranked.shape
    if n < 2 or k < 2:
        raise ValueError(f"Friedman's test needs at least two tables and two methods, not {n} and {k}")
    mean = ranked.mean(axis=0)
    chi2 = 12 * n / (k * (k + 1)) * (float((mean**2).sum()) - k * (k + 1) ** 2 / 4)
    chi2 = max(0.0, chi2)
    ties = sum(int(t) ** 3 - int(t) for row in ranked for t in np.unique(row, return_counts=True)[1])
    share = 1 - ties / (n * (k**3 - k))
    chi2_ties = chi2 / share if share > 0 else 0.0
    rest = n * (k - 1) - chi2
    f = (n - 1) * chi2 / rest if rest > 0 else math.inf
    return Friedman(n, k, mean, chi2, chi2_tail(chi2, k - 1), chi2_ties, chi2_tail(chi2_ties, k - 1), f,
                    f_tail(f, k - 1, (k - 1) * (n - 1)), list(methods) if methods is not None else [])


def critical_difference(n_methods, n_tables, alpha=0.05):
    """Bonferroni-Dunn: mean ranks further apart than this differ, with the exact normal quantile."""
    if n_methods < 2 or n_tables < 1 or not 0 < alpha < 1:
        raise ValueError("the critical difference needs two methods, a table, and alpha between 0 and 1")
    q = NormalDist().inv_cdf(1 - alpha / (2 * (n_methods - 1)))
    return q * math.sqrt(n_methods * (n_methods + 1) / (6 * n_tables))


@dataclass
class BonferroniDunn:
    """All methods against one."""

    control: int
    critical_difference: float
    differences: np.ndarray  # mean rank minus the control's; positive: worse
    differs: np.ndarray
    alpha: float


def bonferroni_dunn(scores, control=0, alpha=0.05):
    """Compares every method with the control by the difference of their mean ranks."""
    mean = ranks(scores).mean(axis=0)
    n, k = np.asarray(scores).shape
    cd = critical_difference(k, n, alpha)
    differences = mean - mean[control]
    return BonferroniDunn(control, cd, differences, np.abs(differences) > cd, alpha)


def plot_cd_diagram(mean_ranks, methods, cd, **options):
    """See ``coforest.plots.plot_cd_diagram``."""
    from .plots import plot_cd_diagram as plot

    return plot(mean_ranks, methods, cd, **options)
