#!/usr/bin/env python3
"""Documents name what exists.

    tests/docs/names.py

Every file, function and unit test that README.md, CONTRIBUTING.md and docs/*.md name in backticks exists. In the table of
docs/algorithm.md a function is defined in the file named before it. Each equation (4) to (9) of the paper stands in a
comment at one place of src, which is in the file that the table names for it.
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
TABLE = "docs/algorithm.md"
DOCUMENTS = ["README.md", "CONTRIBUTING.md", *sorted(f"docs/{path.name}" for path in (ROOT / "docs").glob("*.md"))]
MADE = ["coforest.html", "coforest-VERSION.html", "lib/pkgconfig"]  # by builds
EQUATIONS = range(4, 10)
SOURCES = {path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8")
           for folder in ("include", "src", "cli") for path in (ROOT / folder).rglob("*.[ch]")}
FILES = [path for folder in ("include", "src", "cli", "tests", "bench", "docs", "bindings", "scripts", "cmake", "web", "paper")
         for path in (ROOT / folder).rglob("*")] + list(ROOT.glob("*"))


def defines(text, function):
    """Whether the C source has the function's body, inline or not: its name, its arguments, and a brace."""
    return re.search(rf"^[a-z].*\b{function}\([^;{{}}]*\)\n?{{", text, re.M) is not None


def complain_of(name):
    """What is wrong with a name in backticks; None if it exists, or if it is not a name of ours."""
    if name in MADE or name.startswith("build"):
        return None
    if re.fullmatch(r"test_\w+", name):
        return None if (ROOT / "tests" / "unit" / f"{name}.c").exists() else "there is no such test"
    if re.fullmatch(r"cofi?_\w+", name):
        return None if any(re.search(rf"\b{name}\b", text) for text in SOURCES.values()) else "no source has this name"
    if re.fullmatch(r"[\w./*-]+/[\w./*-]*|[\w*-]+\.(c|h|py|md|txt|html|css|js|cmake|pyi)", name):
        pattern = name.rstrip("/") if (ROOT / name).exists() else re.sub(r"\b[A-Z]+\b|(?<=_)[A-Z]+\b", "*", name.rstrip("/"))
        known = any(path.match(pattern) for path in FILES) or any(ROOT.glob(pattern))
        return None if known else "there is no such file"
    return None


def check_names(document):
    text = (ROOT / document).read_text(encoding="utf-8")
    text = re.sub(r"^```.*?^```$", "", text, flags=re.S | re.M)
    return [f"{document}: `{name}`: {wrong}" for name in dict.fromkeys(re.findall(r"`([^`\n]+)`", text))
            if (wrong := complain_of(name))]


def check_table(document):
    """The files of the equations, and what is wrong with the functions in the table's third column."""
    wrong, files_of = [], {n: set() for n in EQUATIONS}
    for row in (ROOT / document).read_text(encoding="utf-8").splitlines():
        cells = re.split(r"(?<!\\)\|", row)
        if not row.startswith("| ") or len(cells) != 6:
            continue
        files, file = [], None
        for name in re.findall(r"`([^`]+)`", cells[3]):
            if "/" in name:
                file = name
                files.append(name)
            elif file is None or file not in SOURCES or not defines(SOURCES[file], name):
                wrong.append(f"{document}: {file} does not define `{name}`")
        for n in EQUATIONS:
            if f"({n})" in cells[2] + cells[3]:
                files_of[n].update(files)
    return wrong, files_of


def check_equations(files_of):
    wrong = []
    for n in EQUATIONS:
        places = [path for path, text in SOURCES.items() for comment in re.findall(r"/\*.*?\*/", text, re.S)
                  if re.search(rf"\b[Ee]quation\s[*\s]*\({n}\)", comment)]
        if len(places) != 1:
            wrong.append(f"equation ({n}) stands in {len(places)} comments of the code, not in one: {places}")
        elif places[0] not in files_of[n]:
            wrong.append(f"equation ({n}) stands in {places[0]}, but docs/algorithm.md names {sorted(files_of[n])}")
    return wrong


def main():
    wrong, files_of = check_table(TABLE)
    wrong += check_equations(files_of)
    for document in DOCUMENTS:
        wrong += check_names(document)
    print("\n".join(wrong) if wrong else "all names exist")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
