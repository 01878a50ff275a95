#!/usr/bin/env python3
"""Models that somebody changed, with a right checksum: through loading, the report and every verb that takes a model.

    tests/faults/hostile.py --coforest build/coforest --mutate build/tests/faults/mutate_model [--models N] [--runs N]

mutate_model changes and uses N copies inside one process; some more go through the verbs as a user would call them.
"""
import argparse
import os
import pathlib
import random
import shutil
import struct
import subprocess
import sys
import tempfile
import zlib

import run

MODELS = {
    "coforest": "t.csv -k 3 --restarts 4",
    "auto": "t.csv -k 2:4 --restarts 2",
    "lca": "t.csv -k 3 --method lca --restarts 3",
    "kmodes": "t.csv -k 3 --method kmodes --restarts 3",
    "one": "t.csv -k 2 --restarts 1 --paper",
    "quantities": "numbers.csv -k 2 --restarts 3",
}
VERBS = ["trees m.cof", "trees m.cof --format svg --out trees/", "trees m.cof --format json", "trees m.cof --format dot",
         "report m.cof -q -o r.html", "report m.cof t.csv -q -o r.html", "predict m.cof t.csv",
         "predict m.cof t.csv --json"]
NUMBERS = [struct.pack("<I", x) for x in (0, 1, 255, 65536, 2**31 - 1, 2**32 - 1, 2**32 - 9)] + [
    struct.pack("<d", x) for x in (0, -1, 1e300, -1e300, float("inf"), float("nan"), 5e-324)] + [
    struct.pack("<Q", x) for x in (2**60, 2**63, 2**64 - 1)]


def changed(model, chance):
    """One number or byte replaced, length and checksum put right."""
    body = bytearray(model[24:-4])
    new = chance.choice(NUMBERS + [bytes([chance.randrange(256)])])
    at = chance.randrange(len(body) - len(new) + 1)
    body[at:at + len(new)] = new
    whole = model[:16] + struct.pack("<Q", len(body)) + bytes(body)
    return whole + struct.pack("<I", zlib.crc32(whole))


def try_verbs(coforest, work, model):
    """What is wrong, or None; and whether the model was taken by any verb."""
    (work / "m.cof").write_bytes(model)
    taken = False
    for verb in VERBS:
        done = subprocess.run([coforest, *verb.split()], cwd=work, capture_output=True, timeout=run.LIMIT_S)
        if done.returncode not in (0, 2, 3, 4) or (done.returncode != 0 and not done.stderr.startswith(b"coforest: ")):
            return f"{verb}: exit {done.returncode}: {done.stderr[-300:]!r}", taken
        taken |= done.returncode == 0
    return None, taken


def main():
    parser = argparse.ArgumentParser(description="Changed models with a right checksum.")
    parser.add_argument("--coforest", required=True)
    parser.add_argument("--mutate", required=True)
    parser.add_argument("--models", type=int, default=20000, help="inside one process")
    parser.add_argument("--runs", type=int, default=500, help="through the verbs")
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    coforest, chance, failed, n_taken = os.path.abspath(args.coforest), random.Random(args.seed), 0, 0
    with tempfile.TemporaryDirectory(prefix="cof-hostile-") as folder:
        work = pathlib.Path(folder)
        shutil.copy(run.ROOT / "data" / "zoo.csv", work / "t.csv")
        shutil.copy(run.ROOT / "tests" / "data" / "0.1.0" / "numbers.csv", work)
        for name, words in MODELS.items():
            subprocess.run([coforest, "fit", *words.split(), "-q", "--model-out", f"{name}.cof"], cwd=work, check=True)
        shutil.copy(run.ROOT / "tests" / "data" / "model_v1.cofm", work / "v1.cof")
        models = sorted(work.glob("*.cof"))
        each = -(-args.models // len(models))
        failed += subprocess.run([os.path.abspath(args.mutate), str(each), str(args.seed), *map(str, models)]).returncode != 0
        originals = [m.read_bytes() for m in models]
        for i in range(args.runs):
            model = changed(chance.choice(originals), chance)
            wrong, taken = try_verbs(coforest, work, model)
            n_taken += taken
            if wrong:
                failed += 1
                print(f"FAIL run {i} (seed {args.seed}): {wrong}", flush=True)
    print(f"{args.runs} models through the verbs, {n_taken} of which were taken; {failed} failures")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
