#!/usr/bin/env python3
"""Time and peak memory of whole `coforest fit` processes on the sizes we promise, reading included.

    bench/scale.py [--coforest build/coforest] [--quick] [--large]

For each table: nanoseconds a row and pass of the plain kernel and of the one chosen here (seeding included), seconds
of the forest, peak resident memory and its ratio to the encoded table. Medians of three runs; of the large table, which
takes minutes, one run with the kernel chosen here.
"""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import tempfile

TABLES = [  # name, rows, [(columns, values), ...], k
    ("1,000,000 x 20 of 5 values, k 5", 1000000, [(20, 5)], 5),
    ("1,000,000 x 5, one of 100,000 values, k 5", 1000000, [(1, 100000), (4, 5)], 5),
    ("2,000 x 10,000 of 5 values, k 5", 2000, [(10000, 5)], 5),
]
LARGE = ("10,000,000 x 5, one of 1,000,000 values, k 5", 10000000, [(1, 1000000), (4, 5)], 5)


def generate(coforest, folder, rows, parts):
    """The parts side by side, each made by the program."""
    pieces = []
    for number, (columns, values) in enumerate(parts):
        piece = folder / f"part{number}.csv"
        subprocess.run([coforest, "generate", "--kind", "uniform" if values > 1000 else "planted", "--rows", str(rows),
                        "--columns", str(columns), "--values", str(values), "--seed", str(number + 1), "--out", piece],
                       check=True)
        pieces.append(piece)
    table = folder / "table.csv"
    with open(table, "w", encoding="utf-8") as out:
        for number, lines in enumerate(zip(*[open(p, encoding="utf-8") for p in pieces])):
            cells = [line.rstrip("\n").split(",") for line in lines]
            cells = [row[:columns] for row, (columns, _) in zip(cells, parts)]  # without the planted class
            if number == 0:
                cells = [[f"{chr(97 + part)}{c}" for c in range(len(row))] for part, row in enumerate(cells)]
            out.write(",".join(cell for row in cells for cell in row) + "\n")
    return table


def fit(coforest, table, k, kernel):
    """One start on one thread: what it printed, and its peak memory in bytes."""
    env = dict(os.environ)
    if kernel:
        env["COFOREST_KERNEL"] = kernel
    with subprocess.Popen([coforest, "fit", table, "-k", str(k), "--restarts", "1", "--threads", "1", "--json"],
                          env=env, stdout=subprocess.PIPE) as process:
        told = json.load(process.stdout)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = status
    return told, usage.ru_maxrss * 1024


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--coforest", default="build/coforest")
    parser.add_argument("--quick", action="store_true", help="a tenth of the rows")
    parser.add_argument("--large", action="store_true", help="only the table of a million values")
    args = parser.parse_args()
    coforest = os.path.abspath(args.coforest)
    for name, rows, parts, k in [LARGE] if args.large else TABLES:
        rows = rows // 10 if args.quick else rows
        with tempfile.TemporaryDirectory() as folder:
            table = generate(coforest, pathlib.Path(folder), rows, parts)
            encoded = sum(columns * (1 if values < 256 else 4) for columns, values in parts) * rows
            for kernel in ("",) if args.large else ("plain", ""):
                runs = [fit(coforest, table, k, kernel) for _ in range(1 if args.large else 3)]
                cost = [(t["timings"]["start_s"] + t["timings"]["pass_s"]) * 1e9 / t["row_visits"] for t, _ in runs]
                peak = statistics.median(p for _, p in runs)
                print(f"{name}: {runs[0][0]['kernel']:7s} {statistics.median(cost):8.1f} ns a row and pass "
                      f"({min(cost):.1f} to {max(cost):.1f}), forest "
                      f"{statistics.median(t['timings']['forest_s'] for t, _ in runs):.2f} s for "
                      f"{runs[0][0]['rebuilds']} rebuilds, whole "
                      f"{statistics.median(t['timings']['total_s'] for t, _ in runs):.2f} s, peak {peak / 2**20:.0f} MiB, "
                      f"{peak / encoded:.1f} times the codes", flush=True)


if __name__ == "__main__":
    main()
