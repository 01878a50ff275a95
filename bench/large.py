#!/usr/bin/env python3
"""Makes an encoded table of many rows and fits it in little memory; prints rows a second and the most anonymous memory.

    bench/large.py [--program build/coforest] [--rows 400000000] [--folder .] [--limit 2500M]

The folder needs twice the size of the table, 8.4 GB for 400,000,000 x 20. --limit runs both steps in a control group of
that size, which takes the right to make one, as root has it; without it, --shards 1 asks for a fit in little memory.
"""
import argparse
import contextlib
import os
import pathlib
import re
import resource
import subprocess
import time


def anonymous_bytes(pid):
    try:
        found = re.search(r"RssAnon:\s+(\d+) kB", pathlib.Path(f"/proc/{pid}/status").read_text())
    except OSError:
        return 0
    return int(found.group(1)) * 1024 if found else 0


def new_group():
    """Where a control group for memory can be made, and the file that limits it."""
    for line in pathlib.Path("/proc/self/cgroup").read_text().splitlines():
        _, controllers, path = line.split(":", 2)
        if "memory" in controllers.split(","):  # version 1
            return pathlib.Path("/sys/fs/cgroup/memory", path.lstrip("/")), "memory.limit_in_bytes"
    own = pathlib.Path("/sys/fs/cgroup", path.lstrip("/"))
    # a group of version 2 that has processes has no limited groups below it, unless it is the root
    return own if path == "/" else own.parent, "memory.max"


@contextlib.contextmanager
def limited(limit):
    """A new control group of this size; None without a limit."""
    if not limit:
        yield None
        return
    around, name = new_group()
    group = around / f"coforest-large-{os.getpid()}"
    try:
        group.mkdir()
        try:
            (group / name).write_text(limit)
            yield group
        finally:
            group.rmdir()
    except OSError as why:
        raise SystemExit(f"no control group of {limit} can be used ({why}); run this as root, or without --limit")


def forget(path):
    """Drops the file from the page cache: pages that another group has read would not count."""
    if os.path.exists(path):
        file = os.open(path, os.O_RDONLY)
        os.fsync(file)
        os.posix_fadvise(file, 0, 0, os.POSIX_FADV_DONTNEED)
        os.close(file)


def run(command, group):
    """Seconds, the most anonymous memory of the command, and its page faults that waited for the disk."""
    def enter():
        if group:
            (group / "cgroup.procs").write_text(str(os.getpid()))
    began, most = time.monotonic(), 0
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_majflt
    process = subprocess.Popen(command, preexec_fn=enter)
    while process.poll() is None:
        most = max(most, anonymous_bytes(process.pid))
        time.sleep(0.02)
    if process.returncode != 0:
        raise SystemExit(f"{' '.join(command)} ended with {process.returncode}")
    return time.monotonic() - began, most, resource.getrusage(resource.RUSAGE_CHILDREN).ru_majflt - before


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
            forget(table)
            with limited(given.limit) as group:
                seconds, most, faults = run([given.program, *arguments], group)
            print(f"{name}: {given.rows} rows in {seconds:.1f} s, {given.rows / seconds:,.0f} rows a second, "
                  f"{most / 1e6:.0f} MB of anonymous memory, {faults} major page faults", flush=True)
        print(f"{os.path.getsize(table) / 1e9:.2f} GB encoded")
    finally:
        for path in (table, labels):
            pathlib.Path(path).unlink(missing_ok=True)


if __name__ == "__main__":
    main()
