from typing import Any, Optional, Sequence, Union

from . import _estimators

__all__ = ["COForest"]

class COForest(_estimators.COForest):
    order_by: Union[None, str, Sequence[str]]
    def __init__(
        self, n_clusters: Any = ..., *, order_by: Union[None, str, Sequence[str]] = ..., **parameters: Any
    ) -> None: ...
    def fit(  # type: ignore[override]  # paths are read by the workers, whole
        self, X: Any, y: Any = ..., sample_weight: Optional[Any] = ...
    ) -> "COForest": ...
    def transform(self, X: Any) -> Any: ...
