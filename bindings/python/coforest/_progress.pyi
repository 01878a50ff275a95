from typing import Any, Callable, NamedTuple, Optional

class Progress(NamedTuple):
    phase: str
    restart: int
    restarts: int
    rebuild: int
    pass_: int
    done: int
    total: int
    elapsed_s: float
    rows_per_s: float
    k: int

class Reporter:
    verbose: int
    callback: Optional[Callable[[Progress], Any]]
    bar: Any
    restart: int
    k: int
    hook: Optional[Callable[..., bool]]
    def __init__(self, verbose: int, callback: Optional[Callable[[Progress], Any]]) -> None: ...
    def __enter__(self) -> Reporter: ...
    def __exit__(self, *exception: Any) -> None: ...
