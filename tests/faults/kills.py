#!/usr/bin/env python3
"""Jobs killed at random moments, with older outputs in place.

    tests/faults/kills.py --coforest build/coforest [--kills N] [--seed S]

After each kill every output is complete, old or new; after one more run all are new, and nothing else lies there.
"""
import argparse
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time

import run


def kill_once(bench, job, after_s):
    """What is wrong, or None; and the outputs that were new by then."""
    work = bench.start(job)
    try:
        process = subprocess.Popen([bench.coforest, *run.JOBS[job][0].split()], cwd=work, stdout=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL)
        time.sleep(after_s)
        process.kill()
        process.wait()
        states = bench.states(job, work)
        if "torn" in states.values():
            return f"torn outputs: {states}", 0
        again = bench.run(job, work)
        left = bench.others(job, work)
        if again.returncode != 0 or set(bench.states(job, work).values()) != {"new"} or left:
            return f"after another run: exit {again.returncode}, left behind {left}", 0
        return None, sum(s == "new" for s in states.values())
    finally:
        shutil.rmtree(work)


def main():
    parser = argparse.ArgumentParser(description="Jobs killed at random moments.")
    parser.add_argument("--coforest", required=True)
    parser.add_argument("--kills", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    chance, failed, late = random.Random(args.seed), 0, 0
    with tempfile.TemporaryDirectory(prefix="cof-kills-") as folder:
        bench = run.Bench(os.path.abspath(args.coforest), None, folder)
        jobs = {}
        for job in ("fit", "report", "predict", "generate"):
            began = time.monotonic()
            bench.measure(job)
            jobs[job] = time.monotonic() - began
        for i in range(args.kills):
            job = chance.choice(list(jobs))
            wrong, n_new = kill_once(bench, job, chance.uniform(0, 1.2 * jobs[job]))
            late += n_new > 0
            if wrong:
                failed += 1
                print(f"FAIL kill {i} of {job}: {wrong}", flush=True)
    print(f"{args.kills - failed} kills passed, {failed} failed; {late} came when outputs were new")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
