from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Optional

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "BonferroniDunn",
    "Friedman",
    "bonferroni_dunn",
    "critical_difference",
    "friedman",
    "ranks",
]

def ranks(scores: Any) -> NDArray[np.float64]: ...

@dataclass
class Friedman:
    n_tables: int
    n_methods: int
    mean_ranks: NDArray[np.float64]
    chi2: float
    p: float
    chi2_ties: float
    p_ties: float
    f: float
    p_f: float
    methods: list[str] = ...

def friedman(scores: Any, methods: Optional[Sequence[str]] = ...) -> Friedman: ...
def critical_difference(n_methods: int, n_tables: int, alpha: float = ...) -> float: ...

@dataclass
class BonferroniDunn:
    control: int
    critical_difference: float
    differences: NDArray[np.float64]
    differs: NDArray[np.bool_]
    alpha: float

def bonferroni_dunn(scores: Any, control: int = ..., alpha: float = ...) -> BonferroniDunn: ...
def plot_cd_diagram(mean_ranks: Any, methods: Sequence[str], cd: float, **options: Any) -> Any: ...
