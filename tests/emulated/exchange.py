#!/usr/bin/env python3
"""Models made on one processor and used on another, both ways.

    tests/emulated/exchange.py --here build-release/coforest --there build-s390x/coforest-emulated

Both programs fit the same tables: labels must be equal. Then each labels rows, draws trees and writes a report with
every model of the other and with those of earlier versions: what comes out must be what the maker of the model makes
of it, apart from last digits of numbers, which depend on the mathematical library, and the map of the rows, whose
steps make differences of last digits large.
"""
import argparse
import itertools
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
OLD = ROOT / "tests" / "data" / "0.1.0"
sys.path.insert(0, str(ROOT / "tests" / "faults"))
import hostile  # noqa: E402  the models that it makes

USES = {"labels": "predict {m} {t} -q --labels-out out", "trees": "trees {m} --format json --out out",
        "report": "report {m} -q --out out", "report of rows": "report {m} {t} -q --threads 1 --out out"}
EXACT = {"labels"}
TOLERANCE = 1e-6
MAP = re.compile(rb'<figure class="map">.*?</figure>', re.DOTALL)
NUMBER = re.compile(rb"-?\d+(?:\.\d+)?(?:e[-+]?\d+)?")


def close(a, b):
    """Whether two texts differ in last digits of their numbers only."""
    if NUMBER.sub(b"#", a) != NUMBER.sub(b"#", b):
        return False
    return all(abs(float(x) - float(y)) <= TOLERANCE * max(1, abs(float(x)))
               for x, y in zip(NUMBER.findall(a), NUMBER.findall(b)) if x != y)


class Tally:
    def __init__(self):
        self.equal = self.close = self.failed = 0

    def compare(self, what, made, exact):
        (here, words_here), (there, words_there) = made
        if words_here != words_there or (here != there and (exact or here is None or there is None or not close(here, there))):
            self.failed += 1
            print(f"FAIL {what} differs: {words_here}, {words_there}", flush=True)
        elif here == there:
            self.equal += 1
        else:
            self.close += 1


def run(program, words, work, name="out"):
    """What it wrote into the file, and what it said."""
    out = work / name
    done = subprocess.run([program, *words], cwd=work, capture_output=True, timeout=1200)
    if done.returncode not in (0, 2, 3, 4):
        sys.exit(f"{program} {' '.join(words)}: exit {done.returncode}: {done.stderr.decode()}")
    return MAP.sub(b"", out.read_bytes()) if out.exists() else None, (done.returncode, done.stderr)


def fit_all(programs, work, tally):
    """The models by name, each with the table it was made of; and how many of both programs are the same file."""
    models, n_same = {}, 0
    for name, words in hostile.MODELS.items():
        made = []
        for side, program in programs.items():
            model, labels = f"{name}-{side}.cof", f"{name}-{side}.csv"
            made.append(run(program, ["fit", *words.split(), "--threads", "1", "-q", "--model-out", model, "--labels-out",
                                      labels], work, labels))
            models[model] = words.split()[0]
        tally.compare(f"labels of {name}", made, True)
        n_same += len({(work / f"{name}-{side}.cof").read_bytes() for side in programs}) == 1
    return models, n_same


def main():
    parser = argparse.ArgumentParser(description="Models made on one processor and used on another.")
    parser.add_argument("--here", required=True)
    parser.add_argument("--there", required=True)
    args = parser.parse_args()
    programs = {"here": os.path.abspath(args.here), "there": os.path.abspath(args.there)}
    tally = Tally()
    with tempfile.TemporaryDirectory(prefix="cof-exchange-") as folder:
        work = pathlib.Path(folder)
        shutil.copy(ROOT / "data" / "zoo.csv", work / "t.csv")
        shutil.copy(OLD / "numbers.csv", work)
        models, n_same = fit_all(programs, work, tally)
        for old in OLD.glob("*.cofm"):
            shutil.copy(old, work)
            models[old.name] = "numbers.csv" if old.stem in ("quantities", "kprototypes") else "t.csv"
        for (model, table), (use, words) in itertools.product(models.items(), USES.items()):
            made = []
            for program in programs.values():
                made.append(run(program, [word.format(m=model, t=table) for word in words.split()], work))
                (work / "out").unlink(missing_ok=True)
            tally.compare(f"{use} of {model}", made, use in EXACT)
    print(f"{n_same} of {len(hostile.MODELS)} model files are equal byte for byte; of "
          f"{tally.equal + tally.close + tally.failed} outputs {tally.equal} are equal, {tally.close} but for last digits; "
          f"{tally.failed} failed")
    return tally.failed > 0


if __name__ == "__main__":
    sys.exit(main())
