"""Means, ranks and tests."""
import dataclasses

import numpy as np
import scipy.stats

N_MEANS = 4000
HALF_DIGIT = 0.00005  # printed means have four digits


def mean(x):
    x = np.asarray(x, float)
    x = x[~np.isnan(x)]
    return x.mean() if x.size else np.nan


def deviation(x):
    x = np.asarray(x, float)
    x = x[~np.isnan(x)]
    return x.std(ddof=1) if x.size > 1 else np.nan


def resample_means(x, size):
    """Means of `size` runs drawn from x, sorted. With repetition: without it, the spread would shrink as `size` comes
    near the number of runs."""
    draws = np.random.default_rng(1).integers(len(x), size=(N_MEANS, size))
    return np.sort(np.asarray(x)[draws].mean(axis=1))


def percentile_of(value, means):
    """The share of the means below the value, ties counted half, in percent."""
    below, same = np.sum(means < value - HALF_DIGIT), np.sum(np.abs(means - value) <= HALF_DIGIT)
    return 100 * (below + same / 2) / len(means)


@dataclasses.dataclass
class Friedman:
    """Friedman's test over datasets (rows) and methods (columns); the greatest value is the best, NaN the worst."""
    ranks: np.ndarray
    chi_square: float
    p: float
    chi_square_tied: float  # corrected for ties
    p_tied: float
    f: float  # Iman and Davenport's form, from the uncorrected chi-square
    p_f: float


def friedman(values):
    values = np.where(np.isnan(values), -np.inf, np.round(values, 12))
    n, k = values.shape
    each = scipy.stats.rankdata(-values, axis=1)
    ranks = each.mean(axis=0)
    chi_square = max(12 * n / (k * (k + 1)) * (np.sum(ranks**2) - k * (k + 1)**2 / 4), 0)
    ties = sum(np.sum(counts**3 - counts) for counts in (np.unique(row, return_counts=True)[1] for row in each))
    untied = 1 - ties / (n * (k**3 - k))
    tied = chi_square / untied if untied > 0 else np.nan
    rest = n * (k - 1) - chi_square
    f = (n - 1) * chi_square / rest if rest > 0 else np.inf
    return Friedman(ranks, chi_square, scipy.stats.chi2.sf(chi_square, k - 1), tied,
                    scipy.stats.chi2.sf(tied, k - 1) if untied > 0 else 1.0, f,
                    scipy.stats.f.sf(f, k - 1, (k - 1) * (n - 1)))


def critical_difference(n_datasets, n_methods, alpha):
    """Bonferroni and Dunn: how far a mean rank must lie from the control's to differ."""
    quantile = scipy.stats.norm.isf(alpha / (2 * (n_methods - 1)))
    return quantile * np.sqrt(n_methods * (n_methods + 1) / (6 * n_datasets))
