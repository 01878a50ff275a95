"""No source of the library is compiled to fused multiply-adds, whatever flags its host's build sets.

    python3 contraction.py --source FOLDER --cc CC

Compiles every source of src for a processor that has these instructions and without -ffp-contract=off, and looks at the
machine code. They round once where a * b + c rounds twice, so results would depend on the processor."""
import argparse
import concurrent.futures
import pathlib
import re
import subprocess
import sys
import tempfile

FUSED = re.compile(r"\tvfn?m(?:add|sub)")
OTHER_SYSTEMS = {"system_wasi", "system_windows"}


def fused(args):
    source, cc, root, folder = args
    out = pathlib.Path(folder) / (source.stem + ".s")
    subprocess.run([cc, "-std=gnu11", "-O2", "-march=haswell", "-D_GNU_SOURCE", f"-I{root}/include", "-S", str(source), "-o", str(out)],
                   check=True)
    return source, len(FUSED.findall(out.read_text()))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--source", type=pathlib.Path, required=True)
    parser.add_argument("--cc", required=True)
    args = parser.parse_args()
    probe = subprocess.run([args.cc, "-march=haswell", "-E", "-x", "c", "/dev/null"], capture_output=True)
    if probe.returncode != 0:
        print("SKIPPED: this compiler does not make code for a processor with fused multiply-add")
        return 77
    sources = [path for path in sorted((args.source / "src").rglob("*.c")) if path.stem not in OTHER_SYSTEMS]
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor() as pool:
        found = list(pool.map(fused, [(path, args.cc, args.source, folder) for path in sources]))
    bad = [f"{path.relative_to(args.source)}: {n} fused multiply-adds; include core/real.h" for path, n in found if n > 0]
    print("\n".join(bad) if bad else f"{len(sources)} sources, none fused")
    return 1 if bad or not sources else 0


if __name__ == "__main__":
    sys.exit(main())
