"""Tables of numbers beside categories: our default against what a user would take instead.

    python bench/mixed.py --program build/coforest [--seeds 5] [--results FILE] [--report] [--halves] [--speed]

Tables: the four mixed ones under COFOREST_DATA, the tables of measurements that scikit-learn ships, and the sixteen of
`coforest generate --kind mixed` (eight families, seeds 1 and 2). Every result is a line of JSON in --results, so that a
run can be ended and taken up again. --report prints mean ARI and mean ranks from what is there; --halves trains on half
of the rows and labels the other half; --speed compares a fit of numbers with one of their bins as text.
Needs scikit-learn, pandas, kmodes and stepmix from PyPI.
"""
import argparse
import json
import os
import pathlib
import resource
import subprocess
import sys
import tempfile
import warnings

os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "1"  # read when NumPy is loaded

import numpy as np  # noqa: E402
import pandas as pd  # noqa: E402
from sklearn import datasets, metrics  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
FAMILIES = "both categories numbers skewed outliers noise nonlinear imbalance".split()
REAL = "ac_mixed ts_mixed hf_mixed ds_mixed".split()
MEASURED = "iris wine breast_cancer digits".split()
MANY, FEW_FRACTIONS = 20, 10  # distinct numbers that make a column a quantity, for the peers too


# ---- Tables --------------------------------------------------------------------------------------------------------

def data_folder():
    for folder in (os.environ.get("COFOREST_DATA"), HERE.parent.parent / "shared" / "data"):
        if folder and pathlib.Path(folder, "ac_mixed.csv").exists():
            return pathlib.Path(folder)
    sys.exit("set COFOREST_DATA to the folder with ac_mixed.csv and the others")


def write_tables(program, folder):
    """{name: path}; the classes stand in the column "class"."""
    paths = {name: data_folder() / f"{name}.csv" for name in REAL}
    for name in MEASURED:
        bunch = getattr(datasets, "load_" + name)()
        frame = pd.DataFrame(bunch.data, columns=[str(c) for c in getattr(bunch, "feature_names", range(64))])
        paths[name] = folder / f"{name}.csv"
        frame.assign(**{"class": bunch.target}).to_csv(paths[name], index=False)
    for family in FAMILIES:
        for seed in (1, 2):
            path = paths[f"{family}_{seed}"] = folder / f"{family}_{seed}.csv"
            subprocess.run([program, "generate", "--kind", "mixed", "--family", family, "--seed", str(seed),
                            "--out", path], check=True)
    return paths


def split(path):
    """Numbers as z-scores (rows x columns, missing as 0), categories as codes, classes."""
    frame = pd.read_csv(path)
    classes = pd.factorize(frame.pop("class"))[0]
    numbers = [c for c in frame if pd.api.types.is_numeric_dtype(frame[c]) and frame[c].nunique() >
               (MANY if (frame[c].dropna() % 1 == 0).all() else FEW_FRACTIONS)]
    x = frame[numbers].to_numpy(float)
    x = np.nan_to_num((x - np.nanmean(x, axis=0)) / np.nanstd(x, axis=0)) if numbers else x
    codes = [pd.factorize(frame[c], use_na_sentinel=False)[0] for c in frame if c not in numbers and frame[c].nunique() > 1]
    return x, np.column_stack(codes) if codes else np.empty((len(frame), 0), int), classes


# ---- Methods -------------------------------------------------------------------------------------------------------

def ours(program, path, k, seed, *options):
    with tempfile.TemporaryDirectory() as folder:
        labels = pathlib.Path(folder, "labels.csv")
        subprocess.run([program, "fit", path, "-k", str(k), "--label", "class", "--seed", str(seed), "--quiet",
                        "--labels-out", labels, *options], check=True)
        return pd.read_csv(labels)["cluster"].to_numpy()


def kmeans(x, codes, k, seed):
    from sklearn.cluster import KMeans

    hot = [codes[:, [c]] == np.unique(codes[:, c]) for c in range(codes.shape[1])]
    return KMeans(k, n_init=10, random_state=seed).fit_predict(np.column_stack([x, *hot]).astype(float))


def kprototypes(x, codes, k, seed):
    from kmodes.kmodes import KModes
    from kmodes.kprototypes import KPrototypes
    from sklearn.cluster import KMeans

    if codes.shape[1] == 0:  # it wants both kinds
        return KMeans(k, n_init=10, random_state=seed).fit_predict(x)
    if x.shape[1] == 0:
        return KModes(k, n_init=10, random_state=seed).fit_predict(codes)
    both = pd.DataFrame(np.column_stack([x, codes]))
    places = list(range(x.shape[1], both.shape[1]))
    return KPrototypes(k, n_init=10, random_state=seed).fit_predict(both.to_numpy(), categorical=places)


def stepmix(x, codes, k, seed):
    from stepmix.stepmix import StepMix
    from stepmix.utils import get_mixed_descriptor

    frame = pd.DataFrame(np.column_stack([x, codes]), columns=[f"c{c}" for c in range(x.shape[1] + codes.shape[1])])
    names = list(frame)
    kinds = {"continuous": names[:x.shape[1]], "categorical": names[x.shape[1]:]}
    data, descriptor = get_mixed_descriptor(frame, **{kind: list_ for kind, list_ in kinds.items() if list_})
    return StepMix(k, measurement=descriptor, n_init=10, random_state=seed, verbose=0, progress_bar=0).fit(data).predict(data)


def gower_pam(x, codes, k, seed):
    """Kaufman and Rousseeuw's BUILD and SWAP on Gower's distances; no chance in it."""
    del seed
    distance = sum((codes[:, [c]] != codes[:, c] for c in range(codes.shape[1])), np.zeros((len(x), len(x))))
    for c in range(x.shape[1]):
        distance = distance + np.abs(x[:, [c]] - x[:, c]) / max(np.ptp(x[:, c]), 1e-300)
    medoids = [int(distance.sum(axis=0).argmin())]
    while len(medoids) < k:
        nearest = distance[:, medoids].min(axis=1)
        medoids.append(int(np.minimum(distance, nearest[:, None]).sum(axis=0).argmin()))
    for _ in range(100):
        costs = []
        for place in range(k):
            rest = distance[:, medoids[:place] + medoids[place + 1:]]
            nearest = rest.min(axis=1) if k > 1 else np.full(len(x), np.inf)
            costs.append(np.minimum(distance, nearest[:, None]).sum(axis=0))
        place, row = np.unravel_index(np.argmin(costs), (k, len(x)))
        if costs[place][row] >= distance[:, medoids].min(axis=1).sum() - 1e-9:
            break
        medoids[place] = int(row)
    return distance[:, medoids].argmin(axis=1)


PEERS = {"kmeans": kmeans, "kprototypes": kprototypes, "stepmix": stepmix, "gower_pam": gower_pam}
METHODS = ["default", "values", *PEERS]


def run(program, method, path, seed):
    x, codes, classes = split(path)
    k = len(np.unique(classes))
    if method == "default":
        labels = ours(program, path, k, seed)
    elif method == "values":
        labels = ours(program, path, k, seed, "--quantities", "values")
    else:
        labels = PEERS[method](x, codes, k, seed)
    return metrics.adjusted_rand_score(classes, labels)


# ---- What was found ------------------------------------------------------------------------------------------------

def report(results):
    frame = pd.DataFrame(results).groupby(["table", "method"])["ari"].mean().unstack()
    frame = frame[[m for m in METHODS if m in frame]]
    print(frame.round(3).to_string())
    for title, names in (("all", frame.index), ("generated", [t for t in frame.index if t[-2:] in ("_1", "_2")])):
        part = frame.loc[list(names)].dropna()
        ranks = part.drop(columns="values", errors="ignore").rank(axis=1, ascending=False)
        print(f"\n{title}, {len(part)} tables: mean ARI\n{part.mean().round(3).to_string()}\nmean rank\n"
              f"{ranks.mean().round(2).to_string()}")
    below = (frame["values"] - frame["default"]).sort_values(ascending=False)
    print(f"\nfarthest below \"every number a category\":\n{below.head(4).round(3).to_string()}")


def halves(program, paths):
    """Agreement of labels predicted for one half with those of a fit of all rows; prediction of the fitted table."""
    for name in list(paths)[:10]:
        frame = pd.read_csv(paths[name])
        k = frame["class"].nunique()
        half = np.random.default_rng(1).permutation(len(frame)) < len(frame) // 2
        with tempfile.TemporaryDirectory() as folder:
            train, test, model = (pathlib.Path(folder, n) for n in ("train.csv", "test.csv", "model.cof"))
            frame[half].to_csv(train, index=False)
            frame[~half].to_csv(test, index=False)
            options = ["-k", str(k), "--label", "class"]
            told = subprocess.run([program, "fit", train, *options, "--model-out", model, "--json"], check=True,
                                  capture_output=True, text=True).stdout
            predict = lambda table: pd.read_csv(subprocess.Popen([program, "predict", model, table], text=True,
                                                                 stdout=subprocess.PIPE).stdout)["cluster"].to_numpy()
            whole = ours(program, paths[name], k, 1)
            same = (predict(train) == ours(program, train, k, 1)).all()
            print(f"{name}: ARI {metrics.adjusted_rand_score(whole[~half], predict(test)):.3f} with a fit of all rows; "
                  f"{json.loads(told)['stop_reason']}, predicting its own rows gives {'the same' if same else 'other'} labels")


def cpu_s(command):
    """Processor seconds of a whole process, and what it printed."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    told = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, told


def write_speed_tables(folder, digits):
    """200,000 x 20, ten columns of numbers with so many decimals, and the same table with the bins as text."""
    rng = np.random.default_rng(1)
    group = rng.integers(0, 5, 200000)
    frame = pd.DataFrame({f"c{c}": (group + rng.integers(0, 5, 200000) * (rng.random(200000) < 0.5)) % 5 for c in range(10)})
    for c in range(10):
        frame[f"x{c}"] = (2.0 * ((group * (c + 1)) % 5) + rng.normal(size=200000)).round(digits)
    paths = folder / f"numbers{digits}.csv", folder / f"bins{digits}.csv"
    distinct = int(frame.iloc[:, 10:].nunique().median())
    frame.to_csv(paths[0], index=False)
    for c in range(10):
        share = (frame[f"x{c}"].rank(method="average") - 0.5) / len(frame)
        frame[f"x{c}"] = "b" + (16 * share).astype(int).astype(str)
    frame.to_csv(paths[1], index=False)
    return paths, distinct


def speed(program):
    """A fit of numbers over one of their bins as text, in turn, one thread: the least processor seconds of seven runs."""
    with tempfile.TemporaryDirectory() as folder:
        for digits in (1, 2, 3):
            paths, distinct = write_speed_tables(pathlib.Path(folder), digits)
            whole, fits = ([], []), ([], [])
            for _ in range(7):
                for side, path in enumerate(paths):
                    spent, told = cpu_s([program, "fit", path, "-k", "5", "--json", "--threads", "1"])
                    whole[side].append(spent)
                    fits[side].append(json.loads(told)["timings"]["processor_s"])
            for name, (numbers, bins) in (("fit call", fits), ("whole process, reading included", whole)):
                pairs = sorted(a / b for a, b in zip(numbers, bins))
                print(f"{distinct} distinct numbers a column, {name}: {min(numbers):.3f} s, bins as text {min(bins):.3f} s: "
                      f"{min(numbers) / min(bins):.2f} times ({pairs[0]:.2f} to {pairs[-1]:.2f} in pairs)", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default=HERE.parent / "build" / "coforest", type=pathlib.Path)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--methods", default=",".join(METHODS))
    parser.add_argument("--results", default=HERE.parent / "build" / "mixed.jsonl", type=pathlib.Path)
    for flag in ("--report", "--halves", "--speed"):
        parser.add_argument(flag, action="store_true")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    results = [json.loads(line) for line in open(options.results)] if options.results.exists() else []
    if options.report:
        return report(results)
    if options.speed:
        return speed(options.program)
    done = {(r["table"], r["method"], r["seed"]) for r in results}
    with tempfile.TemporaryDirectory() as folder, open(options.results, "a", encoding="utf-8") as out:
        paths = write_tables(options.program, pathlib.Path(folder))
        if options.halves:
            return halves(options.program, paths)
        for name, path in paths.items():
            for method in options.methods.split(","):
                for seed in range(1, options.seeds + 1):
                    if (name, method, seed) not in done:
                        ari = run(options.program, method, path, seed)
                        results.append({"table": name, "method": method, "seed": seed, "ari": ari})
                        print(json.dumps(results[-1]), file=out, flush=True)
    return report(results)


if __name__ == "__main__":
    sys.exit(main())
