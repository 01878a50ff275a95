from typing import Any, Optional, Sequence, TypeVar, Union

import numpy as np
from numpy.typing import NDArray

from ._estimators import _NamedMethod

_Prototypes = TypeVar("_Prototypes", bound="KPrototypes")
_Columns = Union[None, int, str, Sequence[Union[int, str]]]

class _FromKModes(_NamedMethod):
    @property
    def cluster_centroids_(self) -> NDArray[np.object_]: ...
    @property
    def cost_(self) -> float: ...
    @property
    def epoch_costs_(self) -> list[float]: ...

_Modes = TypeVar("_Modes", bound="KModes")

class KModes(_FromKModes):
    def fit(  # type: ignore[override]  # the order of the package kmodes
        self: _Modes, X: Any, y: Any = ..., categorical: Any = ..., sample_weight: Any = ..., **paths: Any
    ) -> _Modes: ...
    def predict(self, X: Any, categorical: Optional[Any] = ...) -> NDArray[np.int32]: ...

class KPrototypes(_FromKModes):
    def fit(  # type: ignore[override]  # the order of the package kmodes
        self: _Prototypes, X: Any, y: Any = ..., categorical: _Columns = ..., sample_weight: Any = ..., **paths: Any
    ) -> _Prototypes: ...
    def predict(self, X: Any, categorical: Optional[Any] = ...) -> NDArray[np.int32]: ...

class EKPrototypes(KPrototypes): ...
