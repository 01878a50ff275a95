#!/usr/bin/env python3
"""What differs on Windows, under wine: the program there must do as the program of this machine does.

    tests/systems/windows.py --here build-release/coforest --there "wine build/coforest.exe"

Names of files beyond ASCII, backslashes and drive letters, cells with Ctrl-Z, line ends, pipes, files that are replaced, outputs
that are inputs, encoded tables, Ctrl-C.
"""
import argparse
import os
import pathlib
import re
import shlex
import signal
import subprocess
import sys
import tempfile
import time

CELLS = "name,город,城市\n" + "".join(f"r{i},{'Тверь' if i % 2 else 'Omsk'},{'北京' if i % 3 else 'x' + chr(26) + 'y'}\n" for i in range(60))


class Two:
    """Both programs, each with a folder of its own."""

    def __init__(self, here, there, work):
        self.programs = {"here": here, "there": there}
        self.folders = {name: work / name for name in self.programs}
        self.passed = self.failed = 0
        for folder in self.folders.values():
            folder.mkdir()

    def write(self, name, data):
        for folder in self.folders.values():
            (folder / name).parent.mkdir(exist_ok=True)
            (folder / name).write_bytes(data)

    def run(self, name, args, given=None):
        """`given` is what standard input holds: bytes through a pipe, or a file."""
        source = {"stdin": open(given, "rb")} if isinstance(given, pathlib.Path) else {"input": given}
        return subprocess.run([*self.programs[name], *args], cwd=self.folders[name], capture_output=True, check=False, **source)

    def that(self, holds, what):
        self.passed, self.failed = self.passed + bool(holds), self.failed + (not holds)
        if not holds:
            print(f"FAIL {what}")

    def same(self, what, args, there=None, given=None, files=()):
        """Exit code, output and files are equal; `there` are the arguments as one writes them on Windows."""
        a, b = self.run("here", args, given), self.run("there", there or args, given)
        self.that(a.returncode == b.returncode, f"{what}: exit code {a.returncode}, there {b.returncode}: {b.stderr[:300]!r}")
        there_folder = b"Z:" + bytes(self.folders["there"]) + b"/"
        self.that(a.stdout == b.stdout.replace(there_folder, b""), f"{what}: output {a.stdout[:200]!r}, there {b.stdout[:200]!r}")
        for name in files:
            data = [(folder / name).read_bytes() if (folder / name).exists() else None for folder in self.folders.values()]
            self.that(data[0] == data[1] and data[0], f"{what}: {name} is {str(data[0])[:100]}, there {str(data[1])[:100]}")


def check_stop(two):
    """wine makes a Ctrl-C of SIGINT: the best result so far is kept, and the exit code tells."""
    folder = two.folders["there"]
    subprocess.run([*two.programs["here"], "generate", "--rows", "2000", "--out", "long.csv"], cwd=folder, check=True, capture_output=True)
    process = subprocess.Popen([*two.programs["there"], "fit", "long.csv", "-k", "5", "--restarts", "1000000", "--labels-out", "stopped.csv"],
                               cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    time.sleep(5)
    process.send_signal(signal.SIGINT)
    try:
        said = process.communicate(timeout=60)[1].decode()
    except subprocess.TimeoutExpired:
        process.kill()
        said = "it does not end"
    two.that(process.returncode == 130, f"Ctrl-C: exit code {process.returncode}")
    two.that(re.search(r"interrupted after \d+ of 1000000 restarts; the best result was kept", said), f"Ctrl-C: {said}")
    labels = folder / "stopped.csv"
    two.that(labels.exists() and labels.read_bytes().count(b"\n") == 2001, "Ctrl-C: labels")


def main():
    parser = argparse.ArgumentParser(description="What differs on Windows.")
    parser.add_argument("--here", required=True)
    parser.add_argument("--there", required=True)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="cof-windows-") as folder:
        two = Two([os.path.abspath(args.here)], shlex.split(args.there), pathlib.Path(folder))
        two.write("таблица 表.csv", CELLS.encode())
        two.write("crlf.csv", CELLS.replace("\n", "\r\n").encode())
        two.write("dir/t.csv", CELLS.encode())
        quiet = ["-k", "2", "-q"]
        two.same("names beyond ASCII", ["fit", "таблица 表.csv", *quiet, "--labels-out", "метки.csv", "--table-out", "表.csv"],
                 files=["метки.csv", "表.csv"])
        two.same("line ends", ["fit", "crlf.csv", *quiet, "--table-out", "c.csv", "--labels-out", "-"], files=["c.csv"])
        two.same("a redirected file", ["fit", "-", *quiet, "--labels-out", "-"], given=two.folders["there"] / "dir/t.csv")
        two.same("a pipe with Ctrl-Z", ["fit", "-", *quiet, "--labels-out", "-"], given=CELLS.encode())
        two.same("backslashes", ["fit", "dir/t.csv", *quiet, "--labels-out", "dir/l.csv", "--model-out=dir/m.cof"],
                 ["fit", "dir\\t.csv", *quiet, "--labels-out", "dir\\l.csv", "--model-out=dir\\m.cof"], files=["dir/l.csv"])
        drive = "Z:" + str(two.folders["there"]).replace("/", "\\") + "\\dir\\"
        two.same("drive letters", ["predict", "dir/m.cof", "dir/t.csv", "-q", "--labels-out", "dir/p.csv"],
                 ["predict", drive + "m.cof", drive + "t.csv", "-q", "--labels-out", drive + "p.csv"], files=["dir/p.csv"])
        two.same("drive letters of two files", ["evaluate", "dir/l.csv", "dir/p.csv"], ["evaluate", drive + "l.csv", drive + "p.csv"])
        two.same("a file is replaced", ["fit", "dir/t.csv", "-k", "3", "-q", "--labels-out", "dir/l.csv"], files=["dir/l.csv"])
        two.same("a file is not replaced", ["fit", "dir/t.csv", *quiet, "--no-clobber", "--labels-out", "dir/l.csv"], files=["dir/l.csv"])
        two.same("an output is the input", ["fit", "dir/t.csv", *quiet, "--labels-out", "dir/t.csv"],
                 ["fit", "dir/t.csv", *quiet, "--labels-out", drive + "t.csv"], files=["dir/t.csv"])
        two.same("an encoded table", ["encode", "dir/t.csv", "-o", "t.cofe"], files=["t.cofe"])
        two.same("fit of an encoded table", ["fit", "t.cofe", *quiet, "--labels-out", "-"])
        two.same("a comparison", ["compare", "dir/t.csv", "-k", "2", "--methods", "coforest,kmodes", "--runs", "3", "-q", "--format", "csv",
                                  "--out", "cmp.csv"])
        two.same("trees in a folder", ["trees", "dir/m.cof", "--out", "trees/", "-q"])
        two.same("no such file", ["fit", "нет.csv", "-k", "2"])
        check_stop(two)
        two.same("cuts", ["fit", "dir/t.csv", *quiet, "--cuts", "none.txt"])
        left = [name for name in os.listdir(two.folders["there"] / "dir") if name.startswith(".coforest")]
        two.that(left == [], f"files left: {left}")
    print(f"{two.passed} passed, {two.failed} failed")
    return 1 if two.failed else 0


if __name__ == "__main__":
    sys.exit(main())
