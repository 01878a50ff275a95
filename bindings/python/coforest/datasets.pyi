from typing import Any, Union

__all__: list[str]

class Dataset(dict[str, Any]):
    data: Any
    target: Any
    feature_names: list[str]
    row_names: Any
    description: str

def load_zoo(*, as_frame: Union[bool, str] = ..., return_X_y: bool = ...) -> Any: ...
def load_voting(*, as_frame: Union[bool, str] = ..., return_X_y: bool = ...) -> Any: ...
