from typing import Any, Optional

from . import _estimators

__all__ = ["COForest"]

class COForest(_estimators.COForest):
    def fit(  # type: ignore[override]  # rows of this rank, not paths
        self, X: Any, y: Any = ..., sample_weight: Optional[Any] = ..., comm: Optional[Any] = ...
    ) -> "COForest": ...
