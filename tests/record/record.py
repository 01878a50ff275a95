#!/usr/bin/env python3
"""Compares what the library gives with what was recorded, fit by fit.

    record.py --program BUILD/tests/record_fits LIST             check, and say which fits differ
    record.py --program BUILD/tests/record_fits LIST --record    write tests/record/LIST.txt anew
    ... --record --only REGEX                                    only the fits whose description matches

LIST is "explicit" (method, start, selection and types are named; a change that keeps results must keep
every line) or "defaults" (the library chooses; recorded anew when a default changes on purpose).
Hashes, counts and stop reasons must be equal, L and likelihoods agree to 9 digits.
"""

import argparse
import pathlib
import re
import shlex
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
TOLERANCE = 2e-9  # relative: one unit in the last of 9 digits
NUMBERS = ("L=", "loglik=", "bic=")


def parse(text):
    """The outcome of every fit by its description, in order."""
    lines = [line.split(" | ") for line in text.splitlines()]
    fits = {fit: outcome for fit, outcome in lines}
    if len(fits) != len(lines):
        sys.exit("record.py: two fits have the same description")
    return fits


def same_word(a, b):
    if a == b:
        return True
    key = next((key for key in NUMBERS if a.startswith(key) and b.startswith(key)), None)
    if key is None:
        return False
    x, y = float(a[len(key):]), float(b[len(key):])
    return abs(x - y) <= TOLERANCE * max(abs(x), abs(y))


def same(old, new):
    a, b = old.split(), new.split()
    return len(a) == len(b) and all(map(same_word, a, b))


def differing(old, new):
    """What is worth saying about one fit that differs: the words that do, or both outcomes."""
    a, b = old.split(), new.split()
    if len(a) != len(b):
        return f"{old} -> {new}"
    return ", ".join(f"{x} -> {y}" for x, y in zip(a, b) if not same_word(x, y))


def check(old, new, most_shown):
    wrong = [(fit, differing(outcome, new.get(fit, "not run"))) for fit, outcome in old.items()
             if not same(outcome, new.get(fit, "not run"))]
    wrong += [(fit, "not recorded") for fit in new if fit not in old]
    for fit, what in wrong[:most_shown]:
        print(f"differs: {fit}: {what}")
    if len(wrong) > most_shown:
        print(f"and {len(wrong) - most_shown} more; --all prints them")
    right = sum(fit in old and same(old[fit], outcome) for fit, outcome in new.items())
    print(f"{right} of {len(new)} fits as recorded, {len(wrong)} differ")
    return not wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("list", choices=["explicit", "defaults"])
    parser.add_argument("--program", required=True, help="the record_fits of a build")
    parser.add_argument("--emulator", help="a command that runs it, where it is for another processor")
    parser.add_argument("--threads", help="use so many threads in every fit")
    parser.add_argument("--every", type=int, default=1, metavar="N", help="run one fit in N")
    parser.add_argument("--record", action="store_true", help="write the file instead of comparing with it")
    parser.add_argument("--only", metavar="REGEX", default="", help="with --record: keep the lines of other fits")
    parser.add_argument("--all", action="store_true", help="print every fit that differs")
    args = parser.parse_args()
    if args.record and args.every > 1:
        parser.error("--record takes all fits")

    path = HERE / f"{args.list}.txt"
    command = [*shlex.split(args.emulator or ""), args.program, args.list, args.threads or "0", str(args.every)]
    new = parse(subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout)
    old = parse(path.read_text()) if path.exists() else {}
    if args.every > 1:
        old = dict(list(old.items())[::args.every])
    if not args.record:
        return 0 if check(old, new, sys.maxsize if args.all else 20) else 1
    kept = {fit: old.get(fit, outcome) if not re.search(args.only, fit) else outcome for fit, outcome in new.items()}
    path.write_text("".join(f"{fit} | {outcome}\n" for fit, outcome in kept.items()))
    print(f"recorded {sum(kept[fit] != old.get(fit) for fit in kept)} changed of {len(kept)} fits in {path.name}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
