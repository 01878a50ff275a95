"""How bench/run measures: processes with their time and peak memory, everything in turn, medians with the spread.

Nothing here needs more than the standard library: the process that starts the others must stay small, because Linux
counts the memory of whoever starts a process into that process's peak.
"""
import dataclasses
import json
import math
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time

# Peers must not take more threads than they are allowed: every library's own way of saying so.
ONE_THREAD = {name: "1" for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS",
                                     "NUMEXPR_NUM_THREADS", "POLARS_MAX_THREADS", "LOKY_MAX_CPU_COUNT")}


class Failure(Exception):
    """A process that did not end well, in a sentence."""


@dataclasses.dataclass
class Done:
    stdout: str
    wall_s: float
    processor_s: float
    peak_bytes: int

    def json(self):
        return json.loads(self.stdout)


class TooLong(Failure):
    """A process had not ended after the time that it was given."""


def run(command, env=None, most_s=None):
    """Runs a process to its end; raises Failure with the last of what it complained about, TooLong after most_s seconds."""
    command = [str(word) for word in command]
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err:
        began = time.perf_counter()
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=out, stderr=err,
                                   env={**os.environ, **(env or {})})
        timer = threading.Timer(most_s, process.kill) if most_s else None
        if timer:
            timer.start()
        _, status, usage = os.wait4(process.pid, 0)
        wall_s = time.perf_counter() - began
        process.returncode = os.waitstatus_to_exitcode(status)
        if timer:
            timer.cancel()
            if process.returncode == -signal.SIGKILL and wall_s >= most_s:
                raise TooLong(f"{os.path.basename(command[0])} had not ended after {most_s} s")
        out.seek(0)
        err.seek(0)
        if process.returncode != 0:
            last = (err.read().strip().splitlines() or ["no word"])[-1]
            raise Failure(f"{os.path.basename(command[0])} ended with {process.returncode}: {last[:300]}")
        return Done(out.read(), wall_s, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024)


def in_turn(works, repeats, most_s=math.inf):
    """What each work returned, round after round, all works in turn, every other round backwards.

    A work that fails is left out and said; one that has used most_s seconds is not repeated."""
    results = {name: [] for name in works}
    used = dict.fromkeys(works, 0.0)
    for repeat in range(repeats):
        order = list(works) if repeat % 2 == 0 else list(works)[::-1]
        for name in order:
            if name not in results or (repeat > 0 and used[name] >= most_s):
                continue
            began = time.perf_counter()
            try:
                results[name].append(works[name]())
            except Failure as failure:
                print(f"  {name}: left out ({failure})", file=sys.stderr)
                del results[name]
            used[name] += time.perf_counter() - began
    return results


def slope(x, y):
    """Exponent of the power law through the points: least squares on logarithms."""
    x, y = [math.log(v) for v in x], [math.log(v) for v in y]
    mean_x, mean_y = statistics.fmean(x), statistics.fmean(y)
    return (sum((a - mean_x) * (b - mean_y) for a, b in zip(x, y))
            / sum((a - mean_x) ** 2 for a in x))


# ---- What comes out --------------------------------------------------------------------------------


def figure(value):
    """Three digits."""
    if value == 0 or not math.isfinite(value):
        return f"{value:g}"
    digits = max(0, 2 - math.floor(math.log10(abs(value))))
    return f"{value:,.{digits}f}"


@dataclasses.dataclass
class Wanted:
    """A bound: at least `least`, at most `most`."""
    least: float = -math.inf
    most: float = math.inf

    def met(self, value):
        return self.least <= value <= self.most

    def __str__(self):
        if self.least > -math.inf and self.most < math.inf:
            return f"{figure(self.least)} to {figure(self.most)}"
        return f"at least {figure(self.least)}" if self.least > -math.inf else f"at most {figure(self.most)}"


class Book:
    """Prints every figure as it comes, with its bound, and keeps all of them for results.json and the plots."""

    def __init__(self):
        self.lines, self.series, self.section = [], [], ""

    def open(self, section, title):
        self.section = section
        print(f"\n{section}: {title}", flush=True)

    def note(self, text):
        print(f"  {text}", flush=True)

    def line(self, name, values, unit, wanted=None, silent=False):
        """One figure: the median of the values, the least and the most in brackets."""
        middle = statistics.median(values)
        met = None if wanted is None else wanted.met(middle)
        text = f"  {name:<68}{figure(middle):>9} {unit}"
        if len(values) > 1:
            text += f" ({figure(min(values))} to {figure(max(values))})"
        if wanted is not None:
            text += f"; wanted {wanted}: {'met' if met else 'NOT MET'}"
        if not silent:
            print(text, flush=True)
        self.lines.append({"section": self.section, "name": name, "unit": unit, "median": middle,
                           "least": min(values), "most": max(values), "values": values,
                           "wanted": None if wanted is None else str(wanted), "met": met})

    def curve(self, name, x_label, y_label, points, **more):
        """Points (x, [y of every round]) for a plot."""
        self.series.append({"section": self.section, "name": name, "x_label": x_label, "y_label": y_label,
                            "x": [x for x, _ in points], "y": [list(y) for _, y in points], **more})

    def save(self, path, about):
        with open(path, "w", encoding="utf-8") as out:
            json.dump({**about, "lines": self.lines, "series": self.series}, out, indent=1)

    def count(self):
        judged = [line["met"] for line in self.lines if line["met"] is not None]
        return sum(judged), len(judged)
