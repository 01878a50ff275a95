import os
from typing import Any, Sequence, Union

_Path = Union[str, "os.PathLike[str]"]

def batches_of(path: _Path) -> Any: ...
def encode(source: Union[_Path, Sequence[_Path], Any], path: _Path) -> None: ...
