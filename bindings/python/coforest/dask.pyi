from typing import Any, Optional

from . import _estimators

__all__ = ["COForest"]

class COForest(_estimators.COForest):
    labels_: Any
    def fit(  # type: ignore[override]  # paths are read by the workers, whole
        self, X: Any, y: Any = ..., sample_weight: Optional[Any] = ...
    ) -> "COForest": ...
    def predict(self, X: Any) -> Any: ...
