#!/usr/bin/env python3
"""Whole jobs of every verb in which one call fails, or which are killed at one call.

    tests/faults/run.py --coforest build/coforest --inject build/tests/faults/libinject.so [--cases N] [--seed S]

Every job runs once to count its calls. Then single calls fail (memory, read, write, open, close, fsync, rename, link,
threads; with errors, interruptions and short counts), or the job is killed there. N of all such cases are drawn, the
kinds of calls in turn; without --cases all are run. After each:

    - the program ended by itself, in time, with one of its exit codes and a sentence if that is not 0;
    - interrupted calls and short counts change nothing;
    - every output is complete, old or new; all of them are new, or all are old, unless the job was killed;
    - the same under limits on memory, files, sizes of files, the stack and processes;
    - no other file lies there, and after a kill none does once the job has run again.
"""
import argparse
import collections
import gzip
import os
import pathlib
import random
import resource
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
LIMIT_S = 60
OLD = b"an older result\n"
HOW = {
    "malloc": ["ENOMEM"],
    "read": ["EIO", "EINTR", "short"],
    "write": ["EIO", "ENOSPC", "EINTR", "short", "kill"],
    "open": ["EMFILE", "EIO", "EINTR", "kill"],
    "close": ["EIO", "EINTR", "kill"],
    "fsync": ["EIO", "ENOSPC", "EINTR", "kill"],
    "rename": ["EIO", "ENOSPC", "kill"],
    "link": ["EIO", "kill"],
    "unlink": ["kill"],
    "pthread_create": ["EAGAIN"],
}
HARMLESS = {"EINTR", "short"}
LIMITS = {  # of the system: what is set, and to what
    "RLIMIT_NOFILE": range(3, 40),
    "RLIMIT_FSIZE": [0, 1, 10, 100, 1000, 3000, 10000, 30000],
    "RLIMIT_AS": [n << 20 for n in range(4, 120, 4)],
    "RLIMIT_STACK": [n << 10 for n in (64, 128, 256, 1024)],
    "RLIMIT_NPROC": [1, 2, 3],
}
NOBODY = 65534  # the superuser has no limit of processes
JOBS = {
    "fit": ("fit t.csv -k 3 --restarts 4 --threads 2 -q --labels-out l.csv --model-out m.cof --history h.jsonl "
            "--report r.html --margins-out g.csv --map-out p.svg", ["l.csv", "m.cof", "h.jsonl", "r.html", "g.csv", "p.svg"]),
    "fit auto": ("fit t.csv -k 2:3 --restarts 2 --threads 1 -q --labels-out l.csv", ["l.csv"]),
    "fit lca": ("fit t.csv -k 3 --method lca --restarts 2 --threads 1 -q --model-out m.cof", ["m.cof"]),
    "fit gzip": ("fit t.csv.gz -k 3 --restarts 2 --threads 1 -q --labels-out l.csv", ["l.csv"]),
    "fit stdin": ("fit - -k 3 --restarts 2 --threads 1 -q --labels-out l.csv < t.csv", ["l.csv"]),
    "predict": ("predict kept.cof t.csv -q --labels-out l.csv", ["l.csv"]),
    "report": ("report kept.cof t.csv -q --threads 2 --out r.html --map-out p.svg", ["r.html", "p.svg"]),
    "trees": ("trees kept.cof --format json --out t.json", ["t.json"]),
    "compare": ("compare t.csv -k 3 --methods kmodes,lca --runs 2 --threads 2 -q --format csv --out c.csv", []),
    "generate": ("generate --rows 3000 --columns 5 --out n.csv", ["n.csv"]),
    "evaluate": ("evaluate t.csv:class t.csv:legs", []),
    "describe": ("describe t.csv", []),
}

Case = collections.namedtuple("Case", "job call at how")


def set_limit(limit, user):
    resource.setrlimit(*limit)
    if user:
        os.setgid(user)
        os.setuid(user)


class Bench:
    """A folder with the inputs of all jobs, and the outputs of each as they must be."""

    def __init__(self, coforest, inject, folder):
        self.coforest, self.inject, self.folder = coforest, inject, pathlib.Path(folder)
        self.inputs = self.folder / "inputs"
        self.inputs.mkdir()
        shutil.copy(ROOT / "data" / "zoo.csv", self.inputs / "t.csv")
        with gzip.open(self.inputs / "t.csv.gz", "wb") as out:
            out.write((self.inputs / "t.csv").read_bytes())
        subprocess.run([coforest, "fit", "t.csv", "-k", "3", "-q", "--model-out", "kept.cof"], cwd=self.inputs, check=True)
        self.expected, self.counts = {}, {}
        self.folder.chmod(0o711)
        self.copy = self.folder / "coforest"  # where any user may run it
        shutil.copy(coforest, self.copy)

    def start(self, job):
        """A fresh folder for a job, with older outputs in place."""
        work = pathlib.Path(tempfile.mkdtemp(dir=self.folder))
        for path in self.inputs.iterdir():
            os.link(path, work / path.name)
        for name in JOBS[job][1]:
            (work / name).write_bytes(OLD)
        return work

    def run(self, job, work, limit=None, **settings):
        env = {k: v for k, v in os.environ.items() if not k.startswith("COF")}
        env.update(settings)
        user = NOBODY if limit and limit[0] == resource.RLIMIT_NPROC and os.geteuid() == 0 else None
        if user:
            for path in (work, *work.iterdir()):
                os.chown(path, user, user)
        elif self.inject:
            env["LD_PRELOAD"] = str(self.inject)
        words, _, stdin = JOBS[job][0].partition(" < ")
        with open(work / stdin if stdin else os.devnull, "rb") as source:
            return subprocess.run([self.copy if user else self.coforest, *words.split()], cwd=work, env=env, stdin=source,
                                  capture_output=True, timeout=LIMIT_S,
                                  preexec_fn=limit and (lambda: set_limit(limit, user)))

    def measure(self, job):
        """The outputs without a fault, and how often each call is made."""
        work, counts = self.start(job), self.folder / "counts"
        done = self.run(job, work, COF_FAULT_COUNTS=str(counts))
        if done.returncode != 0:
            sys.exit(f"{job} fails without a fault: {done.stderr.decode()}")
        self.expected[job] = {name: (work / name).read_bytes() for name in JOBS[job][1]}
        if self.inject:
            self.counts[job] = {name: int(n) for name, n in (line.split() for line in counts.read_text().splitlines())}
            if not self.counts[job]["malloc"] or not self.counts[job]["open"]:
                sys.exit(f"{self.inject} counts no calls: {self.counts[job]}")
        shutil.rmtree(work)

    def states(self, job, work):
        """Of every output: old, new or something else."""
        found = {}
        for name in JOBS[job][1]:
            text = (work / name).read_bytes() if (work / name).exists() else None
            found[name] = "old" if text == OLD else "new" if text == self.expected[job][name] else "torn"
        return found

    def others(self, job, work):
        known = {p.name for p in self.inputs.iterdir()} | set(JOBS[job][1]) | {"c.csv"}
        return sorted(p.name for p in work.iterdir() if p.name not in known)


def judge(bench, case, work, done):
    """What is wrong, or None."""
    states = bench.states(case.job, work)
    kinds = set(states.values())
    if "torn" in kinds:
        return f"torn outputs: {states}"
    if case.how == "kill":
        if done.returncode not in (-9, 0):
            return f"exit {done.returncode} instead of a kill"
        again = bench.run(case.job, work)
        if again.returncode != 0 or set(bench.states(case.job, work).values()) - {"new"}:
            return f"does not run again: {again.stderr.decode(errors='replace')}"
    elif case.call == "limit" and done.returncode == 127 and kinds <= {"old"}:
        pass  # its libraries could not be loaded
    else:
        if done.returncode not in (0, 1, 2, 3, 4):
            return f"exit {done.returncode}: {done.stderr.decode(errors='replace')[-300:]}"
        if case.how in HARMLESS and done.returncode != 0:
            return f"exit {done.returncode} after {case.how}: {done.stderr.decode(errors='replace')}"
        if done.returncode != 0 and not done.stderr.startswith(b"coforest: "):
            return "no sentence"
        if len(kinds) > 1 or (done.returncode == 0 and kinds - {"new"}):
            return f"exit {done.returncode} with {states}"
    left = bench.others(case.job, work)
    return f"left behind: {left}" if left else None


def try_case(bench, case):
    work = bench.start(case.job)
    try:
        if case.call == "limit":
            done = bench.run(case.job, work, limit=(getattr(resource, case.how), (case.at, case.at)))
        else:
            done = bench.run(case.job, work, COF_FAULT=f"{case.call}:{case.at}:{case.how}")
        return judge(bench, case, work, done)
    except subprocess.TimeoutExpired:
        return f"still running after {LIMIT_S} s"
    finally:
        shutil.rmtree(work)


def draw(bench, n, seed):
    """All cases, or n of them: the kinds of fault in turn, so that the many allocations do not crowd out the rest."""
    kinds = collections.defaultdict(list)
    for job, counts in bench.counts.items():
        for call, count in counts.items():
            for how in HOW[call]:
                kinds[call, how] += [Case(job, call, at, how) for at in range(1, count + 1)]
        for how, values in LIMITS.items():
            kinds["limit", how] += [Case(job, "limit", at, how) for at in values]
    chance = random.Random(seed)
    for cases in kinds.values():
        chance.shuffle(cases)
    chosen = []
    while any(kinds.values()) and (n is None or len(chosen) < n):
        for cases in kinds.values():
            if cases and (n is None or len(chosen) < n):
                chosen.append(cases.pop())
    return chosen


def main():
    parser = argparse.ArgumentParser(description="Jobs in which one call fails.")
    parser.add_argument("--coforest", required=True)
    parser.add_argument("--inject", required=True)
    parser.add_argument("--cases", type=int)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", help="CALL:N:HOW and, after a space, the job")
    args = parser.parse_args()
    failed = 0
    with tempfile.TemporaryDirectory(prefix="cof-faults-") as folder:
        bench = Bench(os.path.abspath(args.coforest), os.path.abspath(args.inject), folder)
        for job in JOBS:
            bench.measure(job)
        if args.only:
            fault, job = args.only.split(" ", 1)
            call, at, how = fault.split(":")
            cases = [Case(job, call, int(at), how)]
        else:
            cases = draw(bench, args.cases, args.seed)
        for case in cases:
            wrong = try_case(bench, case)
            if wrong:
                failed += 1
                print(f"FAIL --only '{case.call}:{case.at}:{case.how} {case.job}': {wrong}", flush=True)
    kinds = collections.Counter(f"{c.call} {c.how}" for c in cases)
    print(", ".join(f"{n} {kind}" for kind, n in sorted(kinds.items())))
    print(f"{len(cases) - failed} cases passed, {failed} failed")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
