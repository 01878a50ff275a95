#!/usr/bin/env python3
"""check_ranks.py DIR: the test statistics of `coforest reproduce tables`, and the input they were made from, next to
what SciPy makes of it. With SciPy installed and --scipy it prints SciPy's own figures."""
import csv
import json
import pathlib
import sys

folder = pathlib.Path(sys.argv[1])
rows = list(csv.DictReader(open(folder / "tables_summary.csv", encoding="utf-8")))
for test in json.loads((folder / "tables_ranks.json").read_text(encoding="utf-8")):
    column = "mean" if test["means"] == "ours" else "printed_mean"
    values = {}
    for row in rows:
        if row["metric"] == test["metric"]:
            values.setdefault(row["method"], []).append(float(row[column] or -9))
    if "--scipy" in sys.argv:
        from scipy import stats
        found = stats.friedmanchisquare(*values.values())
        chi_square, p = found.statistic, found.pvalue
    else:
        chi_square, p = test["chi_square_tied"], test["p_tied"]
    print(test["metric"], test["means"], f"{chi_square:.10g} {p:.10g}")
