import os
from collections.abc import Mapping, Sequence
from typing import Any, Callable, Literal, Optional, TypeVar, Union

import numpy as np
from numpy.typing import NDArray

from ._forest import Forest, Tree
from ._progress import Progress

_Self = TypeVar("_Self", bound="_CategoryClusterer")
_Init = Literal["portfolio", "kmeans", "farthest", "random", "modes++", "cao", "huang", "Cao", "Huang"]
_Select = Literal["auto", "balance", "likelihood", "objective", "mixture"]
_Clusters = Union[int, Literal["auto"], tuple[int, int]]
_Starts = Union[int, Literal["auto"]]

def seed_of(random_state: Any) -> int: ...
def threads_of(n_jobs: Optional[int]) -> int: ...

class _CategoryClusterer:
    @property
    def profiles_(self) -> Any: ...
    @property
    def modes_(self) -> Any: ...
    @property
    def traits_(self) -> Any: ...
    @property
    def importance_(self) -> Any: ...
    @property
    def quantities_(self) -> Any: ...
    @property
    def trees_(self) -> dict[str, Tree]: ...
    def to_frame(
        self, name: Literal["margins", "k_curve", "alternatives", "history", "restarts", "memberships"]
    ) -> Any: ...
    def typical_rows(self, n: int = ..., X: Any = ...) -> Any: ...
    def value_distances(self, column: Union[str, int]) -> Any: ...
    def pairwise_distances(self, X: Any = ..., Y: Any = ...) -> NDArray[np.float64]: ...
    labels_: NDArray[np.int32]
    n_clusters_: int
    cluster_sizes_: NDArray[np.float64]
    cluster_means_: dict[str, NDArray[np.float64]]
    objective_: float
    log_likelihood_: float
    n_iter_: int
    n_rebuilds_: int
    stop_reason_: str
    info_: dict[str, Any]
    seed_: int
    n_features_in_: int
    feature_names_in_: NDArray[np.object_]
    @property
    def forest_(self) -> Forest: ...
    @property
    def categories_(self) -> list[NDArray[Any]]: ...
    @property
    def cuts_(self) -> dict[str, NDArray[np.float64]]: ...
    @property
    def cluster_quartiles_(self) -> dict[str, NDArray[np.float64]]: ...
    @property
    def cluster_profiles_(self) -> list[NDArray[np.float64]]: ...
    @property
    def cluster_modes_(self) -> NDArray[np.object_]: ...
    @property
    def history_(self) -> list[dict[str, Any]]: ...
    @property
    def alternatives_(self) -> list[dict[str, Any]]: ...
    @property
    def refined_by_(self) -> Optional[str]: ...
    @property
    def cluster_agreement_(self) -> Optional[NDArray[np.float64]]: ...
    @property
    def k_curve_(self) -> Optional[list[dict[str, Any]]]: ...
    @property
    def restarts_(self) -> list[dict[str, Any]]: ...
    def fit(
        self: _Self,
        X: Any,
        y: Any = ...,
        sample_weight: Any = ...,
        *,
        columns: Union[str, Sequence[str], None] = ...,
        label: Optional[str] = ...,
        weights: Optional[str] = ...,
    ) -> _Self: ...
    def predict(self, X: Any) -> NDArray[np.int32]: ...
    def fit_predict(self, X: Any, y: Any = ..., **kwargs: Any) -> NDArray[np.int32]: ...
    def transform(self, X: Any) -> NDArray[np.float64]: ...
    def fit_transform(self, X: Any, y: Any = ..., **fit_params: Any) -> NDArray[np.float64]: ...
    def margins(self, X: Any = ...) -> NDArray[Any]: ...
    @property
    def memberships_(self) -> NDArray[np.float64]: ...
    def keep_memberships(self: _Self) -> _Self: ...
    def predict_proba(self, X: Any) -> NDArray[np.float64]: ...
    def predict_log_proba(self, X: Any) -> NDArray[np.float64]: ...
    def score_samples(self, X: Any) -> NDArray[np.float64]: ...
    def score(self, X: Any, y: Any = ..., sample_weight: Any = ...) -> float: ...
    def bic(self, X: Any, sample_weight: Any = ...) -> float: ...
    def aic(self, X: Any, sample_weight: Any = ...) -> float: ...
    def icl(self, X: Any, sample_weight: Any = ...) -> float: ...
    def count_unseen(self, X: Any) -> dict[str, int]: ...
    def get_feature_names_out(self, input_features: Any = ...) -> NDArray[np.object_]: ...
    def get_params(self, deep: bool = ...) -> dict[str, Any]: ...
    def set_params(self: _Self, **params: Any) -> _Self: ...
    def set_output(self: _Self, *, transform: Optional[str] = ...) -> _Self: ...
    def embed(self, X: Any = ...) -> NDArray[Any]: ...
    def report(self, path: Any, X: Any = ..., y: Any = ..., *, source: Optional[str] = ...) -> None: ...
    def save(self, path: Union[str, os.PathLike[str]]) -> None: ...

class COForest(_CategoryClusterer):
    def __init__(
        self,
        n_clusters: _Clusters = ...,
        *,
        n_init: _Starts = ...,
        init: Union[_Init, Sequence[int], NDArray[Any]] = ...,
        select: _Select = ...,
        variant: Literal["paper", "authors"] = ...,
        max_iter: int = ...,
        max_rebuilds: int = ...,
        missing: Literal["value", "ignore", "drop", "error"] = ...,
        ordinal: Optional[Mapping[Union[str, int], Sequence[Any]]] = ...,
        numeric: Optional[Sequence[Union[str, int]]] = ...,
        categorical: Optional[Sequence[Union[str, int]]] = ...,
        quantities: Literal["cut", "scaled", "values", None] = ...,
        bins: int = ...,
        cut: Optional[Mapping[Union[str, int], Sequence[Any]]] = ...,
        column_weights: Optional[Mapping[Union[str, int], float]] = ...,
        random_state: Union[None, int, np.random.RandomState, np.random.Generator] = ...,
        keep: int = ...,
        time_limit: Optional[float] = ...,
        handle_unknown: Literal["warn", "error", "ignore"] = ...,
        n_jobs: Optional[int] = ...,
        verbose: int = ...,
        callback: Optional[Callable[[Progress], Any]] = ...,
    ) -> None: ...

class Clusterer(_CategoryClusterer):
    def __init__(
        self,
        n_clusters: _Clusters = ...,
        *,
        method: str = ...,
        n_init: _Starts = ...,
        init: Union[_Init, Sequence[int], NDArray[Any]] = ...,
        select: _Select = ...,
        max_iter: Optional[int] = ...,
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

class _NamedMethod(_CategoryClusterer):
    def __init__(
        self,
        n_clusters: _Clusters = ...,
        *,
        n_init: _Starts = ...,
        init: Union[_Init, Sequence[int], NDArray[Any]] = ...,
        select: _Select = ...,
        max_iter: int = ...,
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

class LSM(_NamedMethod): ...
class JDM(_NamedMethod): ...
class CBDM(_NamedMethod): ...
class OCIL(_NamedMethod): ...
class UDM(_NamedMethod): ...
class DLC(_NamedMethod): ...
class H2H(_NamedMethod): ...
class HDC(_NamedMethod): ...
class ADC(_NamedMethod): ...

def methods() -> dict[str, str]: ...
def load(path: Union[str, os.PathLike[str]]) -> Union[COForest, Clusterer, _NamedMethod]: ...
