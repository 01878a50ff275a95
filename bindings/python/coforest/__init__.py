"""Clusters tables of categories with learned order trees.

    import coforest
    zoo = coforest.datasets.load_zoo()
    model = coforest.COForest(7, random_state=1).fit(zoo.data)
    model.labels_, model.forest_["legs"].edges
"""
from typing import TYPE_CHECKING

from . import datasets, metrics, stats
from ._compare import Comparison, compare
from ._core import CoforestError, CoforestIOError
from ._core import version as __version__
from ._encode import encode
from ._estimators import (
    ADC,
    CBDM,
    DLC,
    H2H,
    HDC,
    JDM,
    LSM,
    OCIL,
    UDM,
    Clusterer,
    COForest,
    load,
    methods,
)
from ._forest import Edge, Forest, Tree
from ._kmodes import EKPrototypes, KModes, KPrototypes
from ._latent import LCA
from ._progress import Progress

if TYPE_CHECKING:
    from . import plots

__all__ = [
    "ADC",
    "CBDM",
    "COForest",
    "Clusterer",
    "CoforestError",
    "CoforestIOError",
    "Comparison",
    "DLC",
    "EKPrototypes",
    "Edge",
    "Forest",
    "H2H",
    "HDC",
    "JDM",
    "KModes",
    "KPrototypes",
    "LCA",
    "LSM",
    "OCIL",
    "Progress",
    "Tree",
    "UDM",
    "__version__",
    "compare",
    "datasets",
    "encode",
    "load",
    "methods",
    "metrics",
    "plots",
    "stats",
]


def __getattr__(name):
    if name == "plots":  # imports matplotlib when it is asked for
        import importlib

        return importlib.import_module(".plots", __name__)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
