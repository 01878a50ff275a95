#!/usr/bin/env python3
"""Command-line tests: what a user types, what must come back, to the letter.

    tests/cli/run.py --coforest build/coforest [--update] [case ...]

A case is a folder cases/<name> with
    cmd      a POSIX shell script, in which `coforest` is the program under test
    stdout   what it must print (absent: nothing)
    stderr   the same for standard error
    exit     its exit code (absent: 0)
    needs    parts the program must have been built with, "gzip" for example, or what the system must have:
             "terminal"; skipped otherwise

Every case runs in a fresh, empty directory with COF_DATA (the repository's data), COF_ROOT (the repository)
and COF_TOOLS (tests/cli/tools) set, and without COLUMNS, NO_COLOR and LANG. Before texts are compared, what cannot
be the same everywhere is replaced by the rules in NORMALISE and the two folders by DIR and DATA.
--update writes what came back as what must come; read the
difference before committing it. The last line counts; the exit code is 1 if a case failed. With --system the program is
one for another system, and tests/systems/not_run.txt lists the cases that must fail there.
"""
import argparse
import difflib
import os
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path.insert(0, str(ROOT / "tests" / "systems"))
from not_run import NotRun  # noqa: E402

LIMIT_S = 120
NORMALISE = [
    (r" *[0-9.]+ m?s\b", " T s"),                       # times for people, with what aligns them
    (r'("[a-z_]+_s": )[0-9.e-]+', r"\1T"),              # times in JSON
    (r'("kernel": )"[^"]*"', r'\1"KERNEL"'),            # depends on the processor
    (r"(?m)^built with: .*$", "built with: PARTS"),     # depends on the build
]


def normalise(text, folders):
    for path, name in folders:
        text = text.replace(str(path), name)
    for pattern, replacement in NORMALISE:
        text = re.sub(pattern, replacement, text)
    return text


def read(path):
    return path.read_text(encoding="utf-8") if path.exists() else ""


def environment(bin_dir, data):
    env = {k: v for k, v in os.environ.items() if k not in ("COLUMNS", "NO_COLOR", "LANG", "LC_ALL", "LANGUAGE")}
    env.update(PATH=f"{bin_dir}:{env['PATH']}", COF_DATA=str(data), COF_ROOT=str(ROOT), COF_TOOLS=str(HERE / "tools"),
               TERM="xterm")
    return env


def run_case(case, env, data, called):
    """(stdout, stderr, exit) as compared."""
    with tempfile.TemporaryDirectory(prefix="cof-cli-") as work:
        done = subprocess.run(["sh", str(case / "cmd")], cwd=work, env=env, stdin=subprocess.DEVNULL,
                              capture_output=True, timeout=LIMIT_S)
        folders = [(work, "DIR"), (os.path.realpath(work), "DIR"), (data, "DATA"), *called]
        out, err = (normalise(t.decode("utf-8", "replace"), folders) for t in (done.stdout, done.stderr))
        return out, err, f"{done.returncode}\n"


def attempt(case, env, data, called):
    try:
        return run_case(case, env, data, called)
    except subprocess.TimeoutExpired:
        return "", f"still running after {LIMIT_S} s\n", "timeout\n"


def differences(case, got):
    expected = read(case / "stdout"), read(case / "stderr"), read(case / "exit") or "0\n"
    lines = []
    for name, want, have in zip(("stdout", "stderr", "exit"), expected, got):
        if want != have:
            lines += difflib.unified_diff(want.splitlines(), have.splitlines(), f"{name} expected", f"{name} got",
                                          lineterm="")
    return lines


def update(case, got):
    for name, text, default in zip(("stdout", "stderr", "exit"), got, ("", "", "0\n")):
        if text == default:
            (case / name).unlink(missing_ok=True)
        else:
            (case / name).write_text(text, encoding="utf-8")


def has_terminals():
    """A bare chroot has none until /dev/pts is mounted there."""
    try:
        for end in os.openpty():
            os.close(end)
    except OSError:
        return False
    return True


def missing_parts(case, there):
    return [part for part in read(case / "needs").split() if part not in there]


def main():
    parser = argparse.ArgumentParser(description="Runs the command-line tests.")
    parser.add_argument("--coforest", required=True, help="the program under test")
    parser.add_argument("--data", default=ROOT / "data", help="the folder with zoo.csv and the others")
    parser.add_argument("--update", action="store_true", help="take what comes back as right")
    parser.add_argument("--system", help="the program's, as in tests/systems/not_run.txt")
    parser.add_argument("--called", action="append", default=[], help="what the program calls itself instead of coforest")
    parser.add_argument("case", nargs="*", help="names; none: all")
    args = parser.parse_args()
    coforest, data = os.path.abspath(args.coforest), os.path.abspath(args.data)
    there = subprocess.run([coforest, "--version"], check=True, capture_output=True, text=True).stdout
    there += "terminal" if has_terminals() else ""
    names = args.case or sorted(p.parent.name for p in HERE.glob("cases/*/cmd"))
    called = [(name, "coforest") for name in args.called]
    told, skipped, repeated = NotRun(args.system), 0, 0
    with tempfile.TemporaryDirectory(prefix="cof-bin-") as bin_dir:
        os.symlink(coforest, os.path.join(bin_dir, "coforest"))
        env = environment(bin_dir, data)
        for name in names:
            case = HERE / "cases" / name
            lacks = missing_parts(case, there)
            if lacks:
                print(f"skip {name}: there is no {' '.join(lacks)} here")
                skipped += 1
                continue
            got = attempt(case, env, data, called)
            if args.system and ("cli", name) not in told.reasons and differences(case, got):
                # under wine a program was seen to end without a word, which could not be brought about again
                print(f"AGAIN {name}, which failed once:\n  " + "\n  ".join(differences(case, got)))
                repeated += 1
                got = attempt(case, env, data, called)
            if args.update:
                update(case, got)
            told.judge("cli", name, differences(case, got))
    if repeated:
        print(f"{repeated} cases were run twice, because they failed once")
    told.count(skipped)
    return 1 if told.failed else 0


if __name__ == "__main__":
    sys.exit(main())
