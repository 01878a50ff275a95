#!/usr/bin/env python3
"""Reads what `fit --json` printed on standard input and prints the names of its fields and what can be said exactly."""
import json
import math
import sys

NUMBERS = ["objective", "log_likelihood"]
result = json.load(sys.stdin)  # fails on anything but one object
print("fields:", " ".join(result))
print("attributes:", " ".join(f"{a['name']}={a['why'] or 'used'}" for a in result["attributes"]))
print("timings:", " ".join(result["timings"]), all(t >= 0 for t in result["timings"].values()))
for key in ("method", "variant", "k", "n_rows", "n_distinct_rows", "seed", "restarts", "init", "select", "stop_reason",
            "sizes", "warnings"):
    print(f"{key}: {result[key]}")
print("finite:", all(math.isfinite(result[key]) for key in NUMBERS), len(result["restart_records"]), "restarts")
print("scores:", {key: round(value, 4) for key, value in result.get("scores", {}).items()})
