#!/usr/bin/env python3
"""Runs the unit tests on another system.

    tests/systems/unit.py SYSTEM FOLDER COMMAND [SUITE...]

FOLDER holds the programs that tests/systems/include/cmocka.h was used for, COMMAND runs one of them. A case that fails ends its
program, which is started again with the case after it. not_run.txt lists for SYSTEM what must fail, with the reason.
"""
import concurrent.futures
import os
import pathlib
import re
import shlex
import subprocess
import sys

from not_run import NotRun

UNIT = pathlib.Path(__file__).resolve().parent.parent / "unit"
LIMIT_S = 1800


def names_of(suite):
    return re.findall(r"cmocka_unit_test\((\w+)\)", (UNIT / f"{suite}.c").read_text(encoding="utf-8"))


def run_once(command, first):
    """What the program printed from case `first` on, as lines."""
    try:
        done = subprocess.run(command, env={**os.environ, "COF_FROM_CASE": str(first)}, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=LIMIT_S, check=False)
        return done.stdout.decode("utf-8", "replace").splitlines()
    except subprocess.TimeoutExpired:
        return [f"still running after {LIMIT_S} s"]


def run_suite(program, command):
    """For each case what went wrong."""
    names = names_of(program.stem)
    results = []
    while len(results) < len(names):
        lines = run_once([*command, str(program)], len(results))
        before = len(results)
        since = []
        for line in lines:
            if line.startswith("[       OK ]"):
                results.append([])
                since = []
            else:
                since.append(line)
        if len(results) < len(names):
            results.append(since[-6:] or ["it printed nothing"])
        assert len(results) > before
    return list(zip(names, results))


def main():
    system, folder, command, *suites = sys.argv[1:]
    programs = sorted(path for path in pathlib.Path(folder).glob("test_*") if path.suffix in (".wasm", ".exe"))
    programs = [path for path in programs if not suites or path.stem in suites]
    if {path.stem for path in programs} != set(suites or (path.stem for path in UNIT.glob("test_*.c"))):
        print(f"{folder} does not hold every suite")
        return 1
    told = NotRun(system)
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for path, cases in zip(programs, pool.map(lambda path: run_suite(path, shlex.split(command)), programs)):
            for name, wrong in cases:
                told.judge(path.stem, name, wrong)
    told.count()
    return 1 if told.failed else 0


if __name__ == "__main__":
    sys.exit(main())
