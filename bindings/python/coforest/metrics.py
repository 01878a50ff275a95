"""Scores of a clustering against classes, computed by the library.

Both arguments may be any labels: numbers, texts, pandas or polars columns. Missing labels (None, NaN) and
negative integers are left out, as everywhere in coforest.
"""
import numpy as np

from . import _core
from ._tables import _as_array

__all__ = [
    "accuracy",
    "adjusted_mutual_info",
    "adjusted_rand",
    "completeness",
    "evaluate",
    "homogeneity",
    "normalized_mutual_info",
    "purity",
    "v_measure",
]


def _labels(values):
    """int32 labels; texts and large numbers get codes."""
    if hasattr(values, "to_numpy"):
        values = values.to_numpy()
    array = _as_array(values)
    if array.ndim != 1:
        raise ValueError(f"labels must be one-dimensional, not of shape {array.shape}")
    if array.dtype.kind in "iu" and (array.size == 0 or array.max() < 2**31 - 1):
        return np.ascontiguousarray(array if array.dtype.kind == "u" else np.maximum(array, -1), dtype=np.int32)
    codes = np.empty(len(array), np.int32)
    if array.dtype.kind == "O":
        _core.encode_objects(array, codes)
    else:
        _core.encode_fixed(np.ascontiguousarray(array), codes)
        if array.dtype.kind == "f":
            codes[np.isnan(array)] = -1
    return codes


def evaluate(clusters, classes):
    """All scores at once: n, n_clusters, n_classes, ca, ari, nmi, ami, purity, homogeneity, completeness, v_measure."""
    return _core.evaluate(_labels(clusters), _labels(classes))


def accuracy(clusters, classes):
    """Share of rows in the class matched with their cluster, under the best one-to-one matching (CA)."""
    return evaluate(clusters, classes)["ca"]


def adjusted_rand(clusters, classes):
    """Pairs of rows on which both agree, corrected for chance: 1 is equal, 0 what chance gives."""
    return evaluate(clusters, classes)["ari"]


def normalized_mutual_info(clusters, classes):
    """Mutual information over the geometric mean of the entropies."""
    return evaluate(clusters, classes)["nmi"]


def adjusted_mutual_info(clusters, classes):
    """Mutual information, corrected for chance: 1 is equal, 0 what chance gives."""
    return evaluate(clusters, classes)["ami"]


def purity(clusters, classes):
    """Share of rows that are of the commonest class of their cluster."""
    return evaluate(clusters, classes)["purity"]


def homogeneity(clusters, classes):
    """1 where every cluster has rows of one class alone, 0 where clusters tell nothing about classes."""
    return evaluate(clusters, classes)["homogeneity"]


def completeness(clusters, classes):
    """1 where every class lies in one cluster, 0 where classes tell nothing about clusters."""
    return evaluate(clusters, classes)["completeness"]


def v_measure(clusters, classes):
    """Harmonic mean of homogeneity and completeness."""
    return evaluate(clusters, classes)["v_measure"]
