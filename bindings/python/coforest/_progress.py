"""Progress to people: a bar where tqdm is installed, lines otherwise."""
import sys
from typing import NamedTuple

from . import _core


class Progress(NamedTuple):
    """Where a fit stands; what a ``callback`` receives. Numbers as in ``cof_progress`` of coforest.h."""

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


def _describe(progress):
    return (
        f"{progress.k} clusters, start {progress.restart} of {progress.restarts}, forest {progress.rebuild + 1}, pass {progress.pass_}, "
        f"{progress.done} of {progress.total} rows moved, {progress.rows_per_s / 1e6:.1f} million rows/s"
    )


class Reporter:
    """Feeds ``verbose`` and ``callback``; ``hook`` is None where neither wants to hear anything."""

    def __init__(self, verbose, callback):
        self.verbose = int(verbose)
        self.callback = callback
        self.bar = None
        self.restart = self.k = 0
        self.hook = self._receive if self.verbose > 0 or callback is not None else None

    def __enter__(self):
        if self.verbose > 0:
            try:
                from tqdm.auto import tqdm

                self.bar = tqdm(desc="coforest", unit="start")
            except ImportError:
                pass
        return self

    def __exit__(self, *exception):
        if self.bar is not None:
            if exception[0] is None and self.bar.total is not None:
                self.bar.update(self.bar.total - self.bar.n)
            self.bar.close()

    def _show(self, progress):
        if self.bar is not None:
            if progress.k != self.k:  # the next number of clusters, where it is to be found
                self.bar.reset(progress.restarts)
                self.bar.set_description(f"coforest, {progress.k} clusters", refresh=False)
            self.bar.total = progress.restarts
            self.bar.update(max(0, progress.restart - 1 - self.bar.n))
            self.bar.set_postfix_str(f"pass {progress.pass_}, {progress.done} moved", refresh=False)
        elif self.verbose > 1 or (progress.k, progress.restart) != (self.k, self.restart):
            print(_describe(progress), file=sys.stderr)
        self.k, self.restart = progress.k, progress.restart

    def _receive(self, phase, *numbers):
        progress = Progress(_core.PHASES.get(phase, str(phase)), *numbers)
        if self.verbose > 0 and progress.phase != "read":
            self._show(progress)
        return bool(self.callback(progress)) if self.callback is not None else False
