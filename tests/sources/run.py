#!/usr/bin/env python3
"""Compares the lists of sources in cmake/sources.cmake with the folders.

    tests/sources/run.py             says which file is missing in a list, and which line should not be there
    tests/sources/run.py --update    writes the lists anew, after files were added, moved or deleted
"""
import difflib
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
LISTS = ROOT / "cmake" / "sources.cmake"
HEAD = """# Every C source by what it is part of. After adding, moving or deleting one: tests/sources/run.py --update.
"""
PARTS = {  # variable: patterns
    "COF_SOURCES": ["src/**/*.c"],
    "CLI_SOURCES": ["cli/**/*.c"],  # without the files that have a main
    "PYTHON_SOURCES": ["bindings/python/src/*.c"],
    "UNIT_TESTS": ["tests/unit/*.c"],
    "FUZZ_TARGETS": ["tests/fuzz/*.c"],
    "EXAMPLES": ["examples/*.c"],
    "BENCHES": ["bench/*.c"],
}


def on_disk(patterns):
    return sorted(path.relative_to(ROOT).as_posix() for pattern in patterns for path in ROOT.glob(pattern)
                  if path.name not in ("main.c", "main_mpi.c"))


def text_of_lists():
    parts = [f"set({name}\n" + "".join(f"  {path}\n" for path in on_disk(patterns)) + ")\n"
             for name, patterns in PARTS.items()]
    return "\n".join([HEAD, *parts])


def main():
    if "--update" in sys.argv[1:]:
        LISTS.write_text(text_of_lists())
        return 0
    wrong = [line for line in difflib.ndiff(LISTS.read_text().splitlines(), text_of_lists().splitlines())
             if line[0] in "+-"]
    for line in wrong:
        print(("not listed:   " if line[0] == "+" else "not expected: ") + line[2:].strip())
    if wrong:
        print("cmake/sources.cmake does not match the folders; run tests/sources/run.py --update")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
