from collections.abc import Mapping, Sequence
from typing import Any, Callable, Literal, Optional, TypeVar, Union

import numpy as np
from numpy.typing import NDArray

from ._estimators import _Clusters, _Init, _NamedMethod, _Select, _Starts
from ._progress import Progress

_Own = TypeVar("_Own", bound="LCA")

class LCA(_NamedMethod):
    def __init__(
        self,
        n_clusters: _Clusters = ...,
        *,
        n_init: _Starts = ...,
        init: Union[_Init, Sequence[int], NDArray[Any]] = ...,
        select: _Select = ...,
        max_iter: Optional[int] = ...,
        prior: float = ...,
        tol: float = ...,
        missing: Literal["value", "ignore", "drop", "error"] = ...,
        ordinal: Optional[Mapping[Union[str, int], Sequence[Any]]] = ...,
        numeric: Optional[Sequence[Union[str, int]]] = ...,
        categorical: Optional[Sequence[Union[str, int]]] = ...,
        quantities: Literal["cut", "scaled", "values", None] = ...,
        bins: int = ...,
        cut: Optional[Mapping[Union[str, int], Sequence[Any]]] = ...,
        column_weights: Optional[Mapping[Union[str, int], float]] = ...,
        scale: Literal["auto", "range", "z", "none"] = ...,
        gamma: Union[None, float, Literal["kmodes", "clustmixtype"]] = ...,
        random_state: Union[None, int, np.random.RandomState, np.random.Generator] = ...,
        time_limit: Optional[float] = ...,
        handle_unknown: Literal["warn", "error", "ignore"] = ...,
        n_jobs: Optional[int] = ...,
        verbose: int = ...,
        callback: Optional[Callable[[Progress], Any]] = ...,
    ) -> None: ...
    def fit(
        self: _Own, X: Any, y: Any = ..., sample_weight: Any = ..., *, columns: Union[None, str, Sequence[str]] = ...,
        label: Optional[str] = ..., weights: Optional[str] = ...
    ) -> _Own: ...
    @property
    def class_shares_(self) -> NDArray[np.float64]: ...
    @property
    def class_probabilities_(self) -> list[NDArray[np.float64]]: ...
    def standard_errors(self) -> tuple[NDArray[np.float64], list[NDArray[np.float64]]]: ...
    def bivariate_residuals(self, X: Any = ..., sample_weight: Any = ...) -> NDArray[np.float64]: ...
    def cells(self, X: Any = ..., sample_weight: Any = ...) -> Any: ...
    def fit_statistics(self, X: Any = ..., sample_weight: Any = ...) -> dict[str, float]: ...
