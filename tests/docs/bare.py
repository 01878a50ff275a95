#!/usr/bin/env python3
"""Follows README.md in a bare Debian, as somebody who has nothing but a clone.

    tests/docs/bare.py SUITE... [--keep FOLDER] [--tests]

SUITE is a release of Debian, such as bookworm or trixie. Needs root, debootstrap and the network. Everything README
shows is typed as it stands, first by root and then, with the packages that are there by now, by a user without sudo:
what a block prints must be what README shows, times aside. --tests also runs scripts/test, which README names.
--keep leaves the bare system in FOLDER/SUITE, and begins with the one that is there.
"""
import argparse
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

import run

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
CERTIFICATES = "/var/tmp/certificates.crt"
# In its running text README names these; "{}" is what its author leaves to the reader.
BY_HAND = {"root": ["cmake -S . -B build && cmake --build build", "cmake --install build"],
           "user": ["cmake -S . -B build && cmake --build build", "cmake --install build {}--prefix ~/.local"]}
PYTHON = ["scripts/setup python3-venv python3-dev", "python3 -m venv ~/coforest-env", ". ~/coforest-env/bin/activate",
          "pip install ."]


class Reader:
    """Who types what README shows, in a clone inside the bare system."""

    def __init__(self, system, name):
        self.system, self.name = system, name
        self.home = "/root" if name == "root" else f"/home/{name}"
        self.typed = []  # what later commands rely on: settings of the shell
        self.passed, self.complaints = 0, []

    def type(self, command, timeout=7200):
        script = "\n".join(["mount -t proc proc /proc", "mount -t devpts devpts /dev/pts", "exec setpriv " +
                            ("" if self.name == "root" else "--reuid 1000 --regid 1000 --clear-groups ") + 'sh -c "$1"'])
        inner = "\n".join([f"cd {self.home}/coforest || exit 1", *self.typed, command])
        env = {"HOME": self.home, "PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
               "LC_ALL": "C.UTF-8", "COLUMNS": "80"}
        if os.path.exists(self.system + CERTIFICATES):
            env["PIP_CERT"] = CERTIFICATES
        done = subprocess.run(["unshare", "--mount", "--pid", "--fork", "chroot", self.system, "sh", "-c", script, "sh",
                               inner], env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              timeout=timeout, check=False, stdin=subprocess.DEVNULL)
        return done.returncode, done.stdout

    def expect(self, holds, what):
        self.passed += bool(holds)
        if not holds:
            self.complaints.append(f"{self.name}: {what}")
            print(f"FAIL {self.name}: {what}", flush=True)

    def works(self, command):
        code, said = self.type(command)
        self.expect(code == 0, f"$ {command}\n{said[-3000:]}")
        if command.startswith(("export ", ". ")):
            self.typed.append(command)

    def follow(self, text, with_tests):
        for found in run.FENCE.finditer(text):
            if found["kind"] == "sh":
                for command in found["body"].splitlines():
                    if command != "scripts/test" or with_tests:
                        self.works(command)
            elif found["kind"] == "console":
                for command, shown in run.steps(found["body"]):
                    said = self.type(command)[1]
                    self.expect(run.matches(run.normal(shown), run.normal(said)),
                                f"$ {command}\n--- shown\n{shown}--- printed\n{said}")
        for command in BY_HAND[self.name]:
            self.expect(all(part.strip() in text for part in command.split("{}")), f"README does not name {command}")
            self.works(command.replace("{}", ""))
        self.follow_python(text)

    def follow_python(self, text):
        """The session must print what is shown: doctest compares it."""
        for command in PYTHON:
            self.expect(command in text, f"README does not name {command}")
            self.works(command)
        session = "\n".join(f["body"] for f in run.FENCE.finditer(text) if f["kind"] == "python")
        self.expect(session, "README has no Python")
        pathlib.Path(self.system + self.home + "/session.txt").write_text(session, encoding="utf-8")
        self.works(f"cd {self.home} && python -m doctest session.txt")


def make_system(suite, folder):
    system = str(folder / suite)
    if not os.path.exists(system):
        subprocess.run(["debootstrap", "--variant=minbase", suite, system], check=True, stdout=subprocess.DEVNULL)
    if os.environ.get("PIP_CERT"): # a network with certificates of its own
        shutil.copy(os.environ["PIP_CERT"], system + CERTIFICATES)
    return system


def clone(reader):
    target = pathlib.Path(reader.system + reader.home)
    shutil.rmtree(target / "coforest", ignore_errors=True)
    target.mkdir(parents=True, exist_ok=True)
    subprocess.run(["git", "clone", "-q", ROOT, target / "coforest"], check=True)
    if reader.name != "root":
        subprocess.run(["chown", "-R", "1000:1000", target], check=True)


def follow(suite, folder, with_tests):
    system = make_system(suite, folder)
    passed = failed = 0
    for name in ("root", "user"):
        reader = Reader(system, name)
        clone(reader)
        text = pathlib.Path(f"{system}{reader.home}/coforest/README.md").read_text(encoding="utf-8")
        reader.follow(text, with_tests and name == "root")
        print(f"{suite}, {name}: {reader.passed} passed, {len(reader.complaints)} failed", flush=True)
        passed, failed = passed + reader.passed, failed + len(reader.complaints)
    return passed, failed


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("suite", nargs="+")
    parser.add_argument("--keep", type=pathlib.Path)
    parser.add_argument("--tests", action="store_true")
    args = parser.parse_args()
    if os.geteuid() != 0 or not shutil.which("debootstrap"):
        print("SKIPPED: a bare Debian needs root and debootstrap")
        return 0
    with tempfile.TemporaryDirectory(prefix="cof-bare-") as scratch:
        counts = [follow(suite, args.keep or pathlib.Path(scratch), args.tests) for suite in args.suite]
    passed, failed = (sum(c[i] for c in counts) for i in (0, 1))
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or passed == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
