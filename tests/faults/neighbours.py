#!/usr/bin/env python3
"""Runs with the same process number, side by side in one folder, as containers have them.

    tests/faults/neighbours.py --coforest build/coforest [--rounds N]

Each run has a process namespace of its own, in which it is number 1. Two with different settings write the same
outputs at once; what lies there afterwards must be all of one run. Exits with 77 where the system gives no namespaces.
"""
import argparse
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

import run

OUTPUTS = "--labels-out l.csv --model-out m.cof --history h.jsonl --margins-out g.csv"
ALONE = ["unshare", "--user", "--map-root-user", "--pid", "--fork"]


def words(coforest, k):
    return [coforest, *f"fit t.csv -k {k} --restarts 3 --threads 1 -q {OUTPUTS}".split()]


def contents(folder):
    return {p.name: p.read_bytes() for p in pathlib.Path(folder).iterdir() if p.name != "t.csv"}


def start(folder, name):
    work = pathlib.Path(folder) / name
    work.mkdir()
    shutil.copy(run.ROOT / "data" / "zoo.csv", work / "t.csv")
    return work


def main():
    parser = argparse.ArgumentParser(description="Runs with the same process number.")
    parser.add_argument("--coforest", required=True)
    parser.add_argument("--rounds", type=int, default=50)
    args = parser.parse_args()
    coforest, failed = os.path.abspath(args.coforest), 0
    if shutil.which("unshare") is None or subprocess.run([*ALONE, "true"], capture_output=True).returncode != 0:
        print("SKIPPED: no process namespaces here")
        return 77
    with tempfile.TemporaryDirectory(prefix="cof-pid-") as folder:
        expected = []
        for k in (2, 5):
            work = start(folder, f"alone-{k}")
            subprocess.run(words(coforest, k), cwd=work, check=True)
            expected.append(contents(work))
        for i in range(args.rounds):
            work = start(folder, f"round-{i}")
            pair = [subprocess.Popen([*ALONE, *words(coforest, k)], cwd=work, stderr=subprocess.PIPE) for k in (2, 5)]
            said = [p.communicate(timeout=run.LIMIT_S)[1].decode() for p in pair]
            codes = [p.returncode for p in pair]
            found = contents(work)
            if any(codes) or found not in expected:
                failed += 1
                kinds = {n: [j for j, e in enumerate(expected) if e.get(n) == t] for n, t in found.items()}
                print(f"FAIL round {i}: exits {codes}, outputs of {kinds}\n{''.join(said)}", flush=True)
            shutil.rmtree(work)
    print(f"{args.rounds - failed} rounds passed, {failed} failed")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
