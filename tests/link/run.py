"""Checks which folder's code calls which: symbols of the object files against the arrows of arrows.txt.

    python3 run.py --objects FILE --source FOLDER [--nm NM]

FILE names one object file a line. Includes hide calls that go through a declaration in a shared header; the symbols
that one folder leaves undefined and another defines do not. The program calls public functions (cof_) only. Also
checks that no two sources of src, cli and include share a name, and names folders there of more than MOST_FILES
files."""
import argparse
import collections
import pathlib
import re
import subprocess
import sys

MOST_FILES = 25
GENERATED = {"demo_table": "table", "cofi_drawing_css": "report", "cofi_report_css": "report", "cofi_report_html": "report",
             "cofi_report_js": "report", "manual_template": "cli", "completion_bash": "cli", "completion_zsh": "cli",
             "completion_fish": "cli"}
HERE = pathlib.Path(__file__).parent


def folder_of(path):
    """src/fit/kernels/x.c.o -> fit; cli/y.c.o -> cli; generated sources by the folder they serve."""
    parts = pathlib.PurePath(path).parts
    for place, name in enumerate(parts):
        if name.endswith(".dir"):
            inside = parts[place + 1:]
            if len(inside) == 1:
                return GENERATED[inside[0].split(".")[0]]
            return inside[1] if inside[0] == "src" else inside[0]
    raise SystemExit(f"{path}: not an object file of this build")


def symbols(nm, objects):
    """Who defines each symbol, and which symbols each object file asks for."""
    defined, wanted = {}, collections.defaultdict(set)
    text = subprocess.run([nm, "-A", "-P", "-g", *objects], capture_output=True, text=True, check=True).stdout
    for line in text.splitlines():
        path, name, kind = re.match(r"(.*?)(?:\[.*\])?: (\S+) (\S)", line).groups()
        if kind in "Uwv":
            wanted[path].add(name)
        else:
            defined[name] = path
    return defined, wanted


def calls(defined, wanted):
    """(folder, folder) -> the calls behind the arrow, as "file needs symbol"."""
    arrows = collections.defaultdict(set)
    for path, names in wanted.items():
        for name in names & defined.keys():
            arrow = folder_of(path), folder_of(defined[name])
            if arrow[0] != arrow[1]:
                arrows[arrow].add(f"{pathlib.PurePath(path).name[:-2]} needs {name}")
    return arrows


def listed(path):
    """Arrows that may be, and arrows that are to vanish (marked "!" in the list)."""
    allowed, leaving = set(), set()
    for line in path.read_text().splitlines():
        line = line.split("#")[0].strip()
        if line:
            source, targets = line.split("->")
            for target in targets.split():
                (leaving if target.endswith("!") else allowed).add((source.strip(), target.rstrip("!")))
    return allowed, leaving


def cycle(arrows):
    """A way round through the arrows, or None."""
    after = collections.defaultdict(set)
    for source, target in arrows:
        after[source].add(target)

    def walk(way):
        for target in sorted(after[way[-1]]):
            if target in way:
                return way[way.index(target):] + [target]
            found = walk(way + [target])
            if found:
                return found
        return None

    for source in sorted(after):
        found = walk([source])
        if found:
            return found
    return None


def same_names(root):
    """File names that occur twice, and folders that hold too many files."""
    files = [p for top in ("src", "cli", "include") for p in (root / top).rglob("*.[ch]")]
    names = collections.Counter(p.name for p in files)
    places = collections.Counter(str(p.parent.relative_to(root)) for p in files)
    return ([f"two files are named {n}" for n in sorted(names) if names[n] > 1],
            [f"{p} holds {places[p]} files, more than {MOST_FILES}" for p in sorted(places) if places[p] > MOST_FILES])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--objects", required=True)
    parser.add_argument("--source", required=True, type=pathlib.Path)
    parser.add_argument("--nm", default="nm")
    options = parser.parse_args()
    objects = pathlib.Path(options.objects).read_text().split()
    arrows = calls(*symbols(options.nm, objects))
    allowed, leaving = listed(HERE / "arrows.txt")
    wrong = [f"{a} -> {b} is not in arrows.txt: {call}"
             for (a, b) in sorted(arrows.keys() - allowed - leaving) for call in sorted(arrows[a, b])]
    wrong += [f"{a} -> {b} stands in arrows.txt, but nothing calls along it; delete it"
              for a, b in sorted((allowed | leaving) - arrows.keys())]
    wrong += [f"cli calls a function that is not public: {call}" for (a, b), found in sorted(arrows.items())
              if a == "cli" for call in sorted(found) if " cofi_" in call]
    way = cycle(allowed)
    if way:
        wrong.append("arrows.txt allows a cycle: " + " -> ".join(way))
    names, crowded = same_names(options.source)
    wrong += names + crowded
    print(*wrong, sep="\n", end="\n" if wrong else "")
    for a, b in sorted(leaving & arrows.keys()):
        print(f"still to vanish: {a} -> {b}, {len(arrows[a, b])} calls")
    print(f"{len(objects)} object files, {len(arrows)} arrows between folders")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
