#!/usr/bin/env python3
"""Runs what the documents show.

In README.md and docs/*.md:
  ```console blocks: every line that begins with "$ " is run by sh, all blocks of a document one after another in
  one temporary directory that holds the repository's data/ and has coforest on its PATH; what follows is the
  output it must print (standard output and error together). A line of just "..." stands for any number of lines.
  Times such as "0.012 s" or "3.5 ms" may differ.
  ```c blocks: must stand, line for line, in the file named by the comment before them: <!-- examples/quick.c -->
README.md explains, in a table, every kind of line of the first `coforest fit` that it shows.

    tests/docs/run.py --coforest PATH --source DIR [--update]

--update rewrites the expected output in place (blocks that use "..." are left alone).
"""
import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

FENCE = re.compile(r"^(?:<!-- (?P<file>\S+) -->\n)?```(?P<kind>\w+)\n(?P<body>.*?)^```$", re.S | re.M)


def normal(text):
    """The text with times, paddings around them and trailing blanks made equal."""
    text = re.sub(r" *\d+(\.\d+)?( min \d+)? m?s\b", " T s", text)  # a busy machine needs seconds for milliseconds
    return [line.rstrip() for line in text.splitlines()]


def matches(wanted, got):
    """Whether `got` is `wanted`, where "..." in `wanted` stands for any lines."""
    if not wanted:
        return not got
    if wanted[0].strip() == "...":
        return any(matches(wanted[1:], got[i:]) for i in range(len(got) + 1))
    return bool(got) and wanted[0] == got[0] and matches(wanted[1:], got[1:])


def steps(body):
    """(command, expected output) pairs of a console block."""
    for part in re.split(r"^\$ ", body, flags=re.M)[1:]:
        command, _, output = part.partition("\n")
        while command.endswith("\\"):
            more, _, output = output.partition("\n")
            command += "\n" + more
        yield command, output


def run_console(document, body, place, env, update):
    """Runs a block; returns complaints and the body with what was really printed."""
    complaints, seen = [], ""
    for command, expected in steps(body):
        done = subprocess.run(["sh", "-c", command], cwd=place, env=env, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, timeout=300, check=False)
        seen += "$ " + command + "\n" + done.stdout
        if not matches(normal(expected), normal(done.stdout)) and not update:
            complaints.append(f"{document}: $ {command}\n--- shown\n{expected}--- printed\n{done.stdout}")
    return complaints, (seen if "\n...\n" not in body else body)


def check_document(path, source, env, update):
    text = path.read_text(encoding="utf-8")
    complaints, n = [], 0
    place = pathlib.Path(tempfile.mkdtemp())
    shutil.copytree(source / "data", place / "data")
    for found in FENCE.finditer(text):
        if found["kind"] == "console":
            n += 1
            bad, body = run_console(path.name, found["body"], place, env, update)
            complaints += bad
            if update:
                text = text.replace(found["body"], body)
        elif found["kind"] == "c":
            n += 1
            code = (source / found["file"]).read_text(encoding="utf-8") if found["file"] else ""
            if found["body"] not in code:
                complaints.append(f"{path.name}: a C sample is not in {found['file']}")
    shutil.rmtree(place)
    if update:
        path.write_text(text, encoding="utf-8")
    return n, complaints


def check_explanations(text):
    """Every kind of line of README's first fit begins a row of its table, unless the line explains itself."""
    body = next(f["body"] for f in FENCE.finditer(text) if "$ coforest fit" in f["body"])
    kinds = re.findall(r"^(?:  )?([A-Z][a-z-]+(?: [a-z]+)*)(?=:|  | -?\d)", body, re.M)
    kinds = [kind for kind in kinds if kind not in ("V-measure", "Wrote", "Next")]
    explained = tuple(", ".join(re.findall(r"^\| ([^|]+) \|", text, re.M)).split(", "))
    return len(kinds), [f"README.md does not explain the line {kind!r}" for kind in kinds if not kind.startswith(explained)]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--coforest", required=True)
    parser.add_argument("--source", required=True)
    parser.add_argument("--update", action="store_true")
    args = parser.parse_args()
    source = pathlib.Path(args.source).resolve()
    env = dict(os.environ, PATH=os.path.dirname(os.path.abspath(args.coforest)) + ":" + os.environ["PATH"],
               COLUMNS="80", LC_ALL="C.UTF-8", NO_COLOR="1")
    total, complaints = 0, []
    for path in [source / "README.md", *sorted((source / "docs").glob("*.md"))]:
        n, bad = check_document(path, source, env, args.update)
        total += n
        complaints += bad
    n, bad = check_explanations((source / "README.md").read_text(encoding="utf-8"))
    total, complaints = total + n, complaints + bad
    print("\n".join(complaints))
    print(f"{total - len(complaints)} passed, {len(complaints)} failed")
    return 1 if complaints or total == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
