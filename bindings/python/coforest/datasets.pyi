from typing import Any, Union

__all__ = [
    "Dataset",
    "load_voting",
    "load_zoo",
]

class Dataset(dict[str, Any]):
    data: Any
    target: Any
    feature_names: list[str]
    row_names: Any
    description: str

def load_zoo(*, as_frame: Union[bool, str] = ..., return_X_y: bool = ...) -> Any: ...
def load_voting(*, as_frame: Union[bool, str] = ..., return_X_y: bool = ...) -> Any: ...
