#!/usr/bin/env python3
"""Compares what the program gives on several systems, fit by fit.

    tests/systems/run.py --here build-release/coforest [--page build-wasm/coforest.html] NAME=COMMAND...

COMMAND runs the program for another system, for example "musl=build-musl/coforest" or
"aarch64=qemu-aarch64 build-aarch64/coforest". With --page the program in that page runs too, in headless Chromium. 200 fits of all methods, starts and treatments of missing cells and quantities
must give the same bytes everywhere: the labels, and the whole result as JSON but for times and the name of the kernel.
"""
import argparse
import concurrent.futures
import itertools
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tests" / "browser"))
import cdp  # noqa: E402

DIFFERS = {"timings", "kernel", "threads"}
STARTS = ("kmeans", "farthest", "random", "modes++", "cao", "huang")
MIXED_ONLY = ("k-prototypes", "ek-prototypes")


def methods(program):
    """Those that the help lists, in its order."""
    text = subprocess.run([*program, "fit", "--help"], check=True, capture_output=True, text=True).stdout
    part = text[text.index("--method NAME"):text.index("--restarts R")]
    return re.findall(r"^ {26}([a-z0-9:-]+)  ", part, re.MULTILINE)


def make_tables(program, folder):
    data = ROOT / "data"
    made = {"mixed": ["--kind", "mixed", "--rows", "400", "--seed", "2"],
            "planted": ["--kind", "planted", "--rows", "3000", "--columns", "8", "--values", "6", "-k", "4", "--seed", "5"]}
    for name, options in made.items():
        subprocess.run([*program, "generate", *options, "--out", str(folder / f"{name}.csv")], check=True, capture_output=True)
    return {"zoo": (data / "zoo.csv", 7), "voting": (data / "voting.csv", 2), "lenses": (data / "lenses.csv", 3),
            "mixed": (folder / "mixed.csv", 3), "planted": (folder / "planted.csv", 4)}


def fits(tables, names):
    """Options of 200 fits; what matters most comes first."""
    def fit(table, *more):
        path, k = tables[table]
        return ["fit", str(path), "--label", "class", *(() if "-k" in more else ("-k", str(k))), *more]

    for name in names:
        for table in ("mixed",) if name in MIXED_ONLY else ("zoo", "voting", "lenses"):
            yield fit(table, "--method", name, "--restarts", "3", "--seed", "7")
    for table in tables:
        yield fit(table)
        yield fit(table, "-k", "auto", "--criteria")
        for start, seed in itertools.product(STARTS, ("1", "2")):
            yield fit(table, "--init", start, "--seed", seed, "--restarts", "2")
        for how in ("ignore", "drop"):
            yield fit(table, "--missing", how, "--restarts", "2")
    for how, seed in itertools.product(("cut", "scaled", "values"), range(1, 9)):
        yield fit("mixed", "--quantities", how, "--restarts", "2", "--seed", str(seed))
    for seed in itertools.count(1):
        yield fit("planted", "--method", names[seed % 12], "--restarts", "1", "--seed", str(seed))


def told(code, output, messages, labels):
    """What one fit gives: its exit code and words of complaint, its labels, its JSON without what may differ."""
    values = json.loads(output, parse_float=str) if output else {}
    return {"exit code": code, "messages": messages, "labels": labels,
            **{key: value for key, value in values.items() if key not in DIFFERS}}


class Program:
    def __init__(self, name, command, folder):
        self.command, self.labels = command, folder / f"{name}.csv"

    def fit(self, options):
        self.labels.unlink(missing_ok=True)
        done = subprocess.run([*self.command, *options, "--json", "--threads", "1", "--labels-out", str(self.labels)], capture_output=True)
        messages = [line for line in done.stderr.splitlines() if not line.startswith(b"wine client error")]  # of wine itself
        return told(done.returncode, done.stdout, messages, self.labels.read_bytes() if self.labels.exists() else None)


class Page:
    """The program in a page. Its messages are those for a terminal and are not compared."""

    def __init__(self, browser, page):
        self.browser = browser
        browser.open(page)

    def fit(self, options):
        table = pathlib.Path(options[1])
        args = [*options, "--json", "--threads", "1", "--labels-out", "/out/l.csv"]
        done = self.browser.ask(f"""(async () => {{
            const files = {{ {json.dumps(str(table).lstrip("/"))}: new Blob([{json.dumps(table.read_text(encoding="utf-8"))}]) }};
            const done = await runProgram({json.dumps(args)}, files, ["out/l.csv"]);
            const labels = done.made["out/l.csv"];
            return {{ code: done.code, output: done.output, labels: labels ? await labels.text() : null }}; }})()""")
        return told(done["code"], done["output"], None, done["labels"].encode() if done["labels"] is not None else None)


def differing(want, got):
    return [key for key in {**want, **got} if want.get(key) != got.get(key) and not (key == "messages" and got[key] is None)]


def main():
    parser = argparse.ArgumentParser(description="Compares the results of the program on several systems.")
    parser.add_argument("--here", required=True, help="the program of this machine")
    parser.add_argument("--fits", type=int, default=200, help="how many")
    parser.add_argument("--page", type=pathlib.Path, help="coforest.html")
    parser.add_argument("other", nargs="*", help="NAME=COMMAND")
    args = parser.parse_args()
    here = [str(pathlib.Path(args.here).resolve())]
    n_succeeded = 0
    browser = cdp.Browser(cdp.find_program()) if args.page and cdp.find_program() else None
    if args.page and not browser:
        print("SKIPPED: the page's program is not compared, because Chromium is not here")
    with tempfile.TemporaryDirectory(prefix="cof-systems-") as work:
        folder = pathlib.Path(work)
        native = Program("here", here, folder)
        others = {name: Program(name, shlex.split(command), folder) for name, command in (text.split("=", 1) for text in args.other)}
        if browser:
            others["chromium"] = Page(browser, args.page)
        wrong = {name: 0 for name in others}
        pool = concurrent.futures.ThreadPoolExecutor(os.cpu_count())
        for options in itertools.islice(fits(make_tables(here, folder), methods(here)), args.fits):
            waiting = {name: pool.submit(other.fit, options) for name, other in others.items()}
            want = native.fit(options)
            n_succeeded += want["exit code"] == 0
            for name, later in waiting.items():
                got = later.result()
                keys = differing(want, got)
                wrong[name] += bool(keys)
                if keys and wrong[name] <= 10:
                    print(f"FAIL {name}: {' '.join(options)}: {', '.join(keys)} differ")
                    print("     " + "; ".join(f"{str(want.get(key))[:80]} -> {str(got.get(key))[:80]}" for key in keys[:2]))
        if browser:
            browser.close()
    print(f"{args.fits} fits, {n_succeeded} of them with a result: "
          + ", ".join(f"{name} {'equal' if n == 0 else f'differs in {n}'}" for name, n in wrong.items()))
    return 1 if any(wrong.values()) or n_succeeded < 0.9 * args.fits else 0


if __name__ == "__main__":
    sys.exit(main())
