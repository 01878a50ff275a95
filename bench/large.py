#!/usr/bin/env python3
"""Makes an encoded table of many rows and fits it in little memory; prints rows a second and the most anonymous memory.

    bench/large.py [--program build/coforest] [--rows 400000000] [--folder .] [--limit 2500M]

The folder needs twice the size of the table, 8.4 GB for 400,000,000 x 20. --limit runs both steps in a control group of
that size, by systemd-run; without it, --shards 1 asks for a fit in little memory.
"""
import argparse
import os
import pathlib
import re
import subprocess
import time


def anonymous_bytes(pid):
    try:
        found = re.search(r"RssAnon:\s+(\d+) kB", pathlib.Path(f"/proc/{pid}/status").read_text())
    except OSError:
        return 0
    return int(found.group(1)) * 1024 if found else 0


def descendants(pid):
    try:
        children = pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    except OSError:
        return []
    return [pid, *(p for child in children for p in descendants(int(child)))]


def run(command, limit):
    """Seconds, and the most anonymous memory of the command and what it starts."""
    if limit:
        command = ["systemd-run", "--scope", "--quiet", "-p", f"MemoryMax={limit}", *command]
    began, most = time.monotonic(), 0
    process = subprocess.Popen(command)
    while process.poll() is None:
        most = max(most, sum(map(anonymous_bytes, descendants(process.pid))))
        time.sleep(0.02)
    if process.returncode != 0:
        raise SystemExit(f"{' '.join(command)} ended with {process.returncode}")
    return time.monotonic() - began, most


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", default="build/coforest")
    parser.add_argument("--rows", type=int, default=400_000_000)
    parser.add_argument("--folder", default=".")
    parser.add_argument("--limit")
    given = parser.parse_args()
    table, labels = (os.path.join(given.folder, name) for name in ("large.cofe", "large-labels.csv"))
    steps = {"generate and encode": ["generate", "--rows", str(given.rows), "--out", table],
             "fit": ["fit", table, "-k", "5", "--label", "class", "-q", "--labels-out", labels,
                     *([] if given.limit else ["--shards", "1"])]}
    try:
        for name, arguments in steps.items():
            seconds, most = run([given.program, *arguments], given.limit)
            print(f"{name}: {given.rows} rows in {seconds:.1f} s, {given.rows / seconds:,.0f} rows a second, "
                  f"{most / 1e6:.0f} MB of anonymous memory", flush=True)
        print(f"{os.path.getsize(table) / 1e9:.2f} GB encoded")
    finally:
        for path in (table, labels):
            pathlib.Path(path).unlink(missing_ok=True)


if __name__ == "__main__":
    main()
