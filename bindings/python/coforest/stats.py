"""Which of several methods is better over several tables: Friedman's test and the Bonferroni-Dunn test.

After Demsar, "Statistical comparisons of classifiers over multiple data sets", 2006, computed by the library. Scores are tables by methods,
higher is better, NaN where a method has no result.
"""
from dataclasses import dataclass, field

import numpy as np

from . import _core

__all__ = ["BonferroniDunn", "Friedman", "bonferroni_dunn", "critical_difference", "friedman", "ranks"]


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
    if scores.ndim != 2:
        raise ValueError("scores must be a table: one row per table, one column per method")
    found = _core.friedman(np.ascontiguousarray(scores), True)
    mean_ranks = np.array(found.pop("mean_ranks"))
    return Friedman(*scores.shape, mean_ranks, **found, methods=list(methods) if methods is not None else [])


def critical_difference(n_methods, n_tables, alpha=0.05):
    """Bonferroni-Dunn: mean ranks further apart than this differ, with the exact normal quantile."""
    if n_methods < 2 or n_tables < 1 or not 0 < alpha < 1:
        raise ValueError("the critical difference needs two methods, a table, and alpha between 0 and 1")
    return _core.critical_difference(n_tables, n_methods, alpha)


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
