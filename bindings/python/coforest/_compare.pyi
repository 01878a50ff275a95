from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, Optional, Union

import numpy as np
from numpy.typing import NDArray

SCORES: tuple[str, ...]
CRITERIA: tuple[str, ...]

@dataclass
class Comparison:
    n_clusters: int
    runs: dict[str, dict[str, NDArray[np.float64]]]
    seconds: dict[str, NDArray[np.float64]]
    problems: dict[str, str]
    @property
    def methods(self) -> list[str]: ...
    @property
    def scores(self) -> list[str]: ...
    def mean(self, score: str) -> NDArray[np.float64]: ...
    def std(self, score: str) -> NDArray[np.float64]: ...
    def ranks(self, score: str = ...) -> NDArray[np.float64]: ...
    def to_dict(self) -> dict[str, list[Any]]: ...

def compare(
    X: Any,
    n_clusters: int,
    y: Any = ...,
    *,
    methods: Optional[Sequence[Any]] = ...,
    runs: int = ...,
    random_state: Any = ...,
    n_init: Union[int, Literal["auto"]] = ...,
    **options: Any,
) -> Comparison: ...
