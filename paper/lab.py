"""Runs the program, and keeps what each call found, so that an interrupted run goes on where it was."""
import hashlib
import json
import pathlib
import subprocess
import sys
import tempfile
import time

import numpy as np

import datasets

NO_RESULT = 3  # the program's exit code for a table that a method cannot cluster


class Failure(Exception):
    """Something the user has to put right; one sentence."""


class Lab:
    def __init__(self, program, data, out, runs, quick, threads):
        self.program, self.out, self.runs, self.quick = program, out, runs, quick
        self.threads = ["--threads", str(threads)]
        self.version = self.call(["--version"]).splitlines()[0]
        self.tables = [(d, d.find(data)) for d in datasets.DATASETS if d.find(data)]
        self.mixed = [(d, d.find(data)) for d in datasets.MIXED if d.find(data)]
        self.absent = [d.files[0] for d in datasets.DATASETS + datasets.MIXED if not d.find(data)]
        self.path = out / "fits.jsonl"
        self.kept = self.read_kept()
        self.running = False  # False: only what is kept is shown
        self.begin()

    def begin(self):
        """Counts and times from here on."""
        self.n_parts = self.n_kept = 0
        self.seconds = 0.0

    def read_kept(self):
        """A line that was cut short, or is not ours, is passed over: its part is run again."""
        kept = {}
        if self.path.exists():
            for line in self.path.read_text(encoding="utf-8", errors="replace").splitlines():
                try:
                    found = json.loads(line)
                    kept[found["key"]] = found
                except (ValueError, KeyError, TypeError):
                    continue
        return kept

    def keep(self, part, settings, compute):
        """What compute() returns, from the file if it was computed before with the same settings and version. None if
        it is neither kept nor to be computed now."""
        key = hashlib.sha256(json.dumps([self.version, settings]).encode()).hexdigest()[:32]
        if key not in self.kept:
            if not self.running:
                return None
            self.show(part)
            begun = time.monotonic()
            found = {"part": part, "key": key, "result": compute(), "seconds": time.monotonic() - begun}
            with open(self.path, "a+b") as file:  # a line that was cut short must not take this one with it
                broken = file.tell() > 0 and file.seek(-1, 2) and file.read(1) != b"\n"
                file.write((b"\n" if broken else b"") + json.dumps(found).encode() + b"\n")
            self.kept[key] = found
            self.show("")
        else:
            self.n_kept += 1
        self.n_parts += 1
        self.seconds += self.kept[key]["seconds"]
        return self.kept[key]["result"]

    def show(self, part):
        if sys.stderr.isatty():
            print(f"\r{part}\033[K", end="", file=sys.stderr, flush=True)

    def call(self, arguments):
        """What the program prints; None if the method has no result on the table."""
        done = subprocess.run([self.program, *map(str, arguments)], capture_output=True, text=True, encoding="utf-8")
        if done.returncode == 0:
            return done.stdout
        if done.returncode == NO_RESULT and arguments[0] == "fit":
            return None
        if done.returncode in (130, 143, -2, -15):
            raise KeyboardInterrupt
        raise Failure(done.stderr.strip() or f"{self.program} ended with exit code {done.returncode}")

    def pool(self, path):
        """Runs to know a distribution from. Nursery has 12,960 rows, all others fewer than 2,000."""
        large = path.stat().st_size > 500_000
        return max(self.runs, (10 if large else 40) if self.quick else (100 if large else 500))

    def compare(self, part, dataset, path, methods, runs):
        """{method: runs x (CA, ARI, NMI)}. Run i has seed i, so that all methods of a run begin with the same rows."""
        options = ["--methods", ",".join(methods), "--runs", str(runs), "--init", "random", "--variant", "authors",
                   *dataset.options()]

        def compute():
            printed = self.call(["compare", path, *options, *self.threads, "--format", "json"])
            return {one["method"]: [one[metric]["values"] for metric in ("ca", "ari", "nmi")]
                    for one in json.loads(printed)["tables"][0]["results"]}
        found = self.keep(part, ["compare", digest(path), options], compute)
        return found and {method: np.array(values, float).T for method, values in found.items()}

    def fit(self, part, dataset, path, options, file_option=None):
        """What `coforest fit --json` says, and the lines of the file that file_option names."""
        options = [*dataset.options(), *options]

        def compute():
            with tempfile.TemporaryDirectory() as folder:
                file = pathlib.Path(folder) / "file"
                wanted = [file_option, file] if file_option else []
                printed = self.call(["fit", path, *options, *self.threads, *wanted, "--json"])
                lines = file.read_text(encoding="utf-8").splitlines() if file_option else []
            told = json.loads(printed)
            return {"scores": [told["scores"][metric] for metric in ("ca", "ari", "nmi")], "lines": lines}
        return self.keep(part, ["fit", digest(path), options, file_option], compute)


def digest(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()
