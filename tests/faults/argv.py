#!/usr/bin/env python3
"""Command lines nobody meant: verbs with options and operands by chance, extreme values among them.

    tests/faults/argv.py --coforest build/coforest [--lines N] [--seed S]

Every one ends with an exit code of the program, with a sentence where that is not 0, and leaves inputs and the folder
above alone. One that would take long must end at once when asked to.
"""
import argparse
import os
import pathlib
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile

import run

VERBS = ["fit", "predict", "evaluate", "compare", "trees", "report", "describe", "generate", "completion", "help", "--version"]
VALUES = ["", "0", "1", "2", "3", "-1", "-0", "1.5", "65535", "65536", "4294967295", "4294967296", "18446744073709551615",
          "99999999999999999999999", "1e309", "-1e309", "nan", "inf", "0x10", "1e-400", "auto", "2:3", "3:2", "1:", ":", "::",
          "all", "none", "text", "json", "csv", "svg", "value", "ignore", "drop", "random", "lca", "kmodes", "k-prototypes",
          "class", "legs", "legs=0<2<4", "legs=", "=", "a=b<c", "<", "animal", "no such column", ",", ",,,", "20,1,7", "\t", ";",
          "\x1b[31m", "%s%n%d", "'", '"', "\\", "\n", "é日", b"\xff\xfe", 5000 * "x", 300 * "é", "t.csv", "m.cof", "t.csv:class",
          "t.csv:", ":class", "missing.csv", "-", "--", "/dev/null", "/dev/full", "/", ".", "sub", "sub/", "sub/out", "link"]
PATIENCE_S = 3


def options_of(coforest, verb):
    text = subprocess.run([coforest, "help", verb], capture_output=True, text=True).stdout
    return sorted(set(re.findall(r"(?<![\w-])--[a-z][a-z-]+|(?<![\w-])-[a-z]\b", text)))


def make_line(chance, options):
    verb = chance.choice(VERBS + ["fit", "fit", "no such verb"])
    line = [verb]
    if chance.random() < 0.7:
        line += {"predict": ["m.cof", "t.csv"], "evaluate": ["t.csv:class", "t.csv:legs"], "trees": ["m.cof"],
                 "report": ["m.cof"], "generate": [], "completion": ["bash"], "help": ["fit"]}.get(verb, ["t.csv"])
    if verb in ("fit", "compare") and chance.random() < 0.7:
        line += ["-k", "3"]
    for _ in range(chance.randrange(5)):
        line.append(chance.choice(options.get(verb) or options["fit"]))
        if chance.random() < 0.8:
            line.append(chance.choice(VALUES))
    if chance.random() < 0.2:
        chance.shuffle(line)
    return line


def limit_memory():
    resource.setrlimit(resource.RLIMIT_AS, (2 << 30, 2 << 30))


def try_line(coforest, line, work):
    """What is wrong, or None."""
    process = subprocess.Popen([coforest, *line], cwd=work, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                               stderr=subprocess.PIPE, preexec_fn=limit_memory)
    stopped = False
    try:
        words = process.communicate(timeout=PATIENCE_S)[1]
    except subprocess.TimeoutExpired:
        stopped = True
        process.send_signal(signal.SIGTERM)
        try:
            words = process.communicate(timeout=run.LIMIT_S)[1]
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            return "does not stop when asked to"
    if stopped and process.returncode in (143, -signal.SIGTERM):
        return None
    if process.returncode not in (0, 1, 2, 3, 4):
        return f"exit {process.returncode}: {words[-300:]!r}"
    if process.returncode != 0 and not words.startswith(b"coforest: ") and b"\ncoforest: " not in words:
        return f"exit {process.returncode} without a sentence: {words[-300:]!r}"
    if b"\x1b" in words:
        return f"an escape character: {words!r}"
    return None


def main():
    parser = argparse.ArgumentParser(description="Command lines nobody meant.")
    parser.add_argument("--coforest", required=True)
    parser.add_argument("--lines", type=int, default=5000)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    coforest, chance, failed = os.path.abspath(args.coforest), random.Random(args.seed), 0
    options = {verb: options_of(coforest, verb) for verb in VERBS}
    with tempfile.TemporaryDirectory(prefix="cof-argv-") as folder:
        bench = run.Bench(coforest, None, folder)
        for i in range(args.lines):
            above = pathlib.Path(folder) / "above"
            work = above / "work"
            (work / "sub").mkdir(parents=True)
            shutil.copy(bench.inputs / "t.csv", work)
            shutil.copy(bench.inputs / "kept.cof", work / "m.cof")
            (work / "link").symlink_to("nowhere")
            line = make_line(chance, options)
            wrong = try_line(coforest, line, work)
            if not wrong and os.listdir(above) != ["work"]:
                wrong = f"wrote outside its folder: {os.listdir(above)}"
            if not wrong and any(p.name.startswith(".coforest-") for p in work.rglob("*")):
                wrong = "left a waiting file"
            if wrong:
                failed += 1
                print(f"FAIL {i} (seed {args.seed}) {[a if len(a) < 60 else '...' for a in line]}: {wrong}", flush=True)
            shutil.rmtree(above)
    print(f"{args.lines - failed} command lines passed, {failed} failed")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
