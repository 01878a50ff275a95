"""Our default, the paper's setting, kmodes, one-hot KMeans and latent class models over the whole collection.

Every result is kept as a line of JSON in --results, so that a run can be ended and taken up again; --report prints the
tables from what is there. The collection: the twelve datasets and `more` under COFOREST_DATA, tables made by
quality_tables.py, and the measurements that come with scikit-learn. Seeds are 1 to --seeds, none is left out.
"""
import argparse
import concurrent.futures
import csv
import itertools
import json
import math
import os
import pathlib
import subprocess
import sys
import time
import warnings

os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "1"  # read when NumPy is loaded

import numpy as np  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
BUILD = HERE.parent / "build"
TWELVE = "hr ce ac vt cs sb ns zo ts hf ds ls".split()
MEASURED = "iris wine breast_cancer digits".split()  # cut into classes
BEFORE = os.environ.get("COFOREST_BEFORE")  # build folder of an earlier version, for the method "before"
STRUCTURED = "ac vt cs sb zo ds".split()
METHODS = ["default", "paper", "kmodes", "kmeans", "lca", "stepmix"]
TITLES = {"default": "coforest fit", "before": "coforest fit, the earlier version",
          "paper": "coforest fit --paper", "kmodes": "kmodes, n_init 10",
          "kmeans": "KMeans one-hot, n_init 10", "lca": "lca (ours), best of 10", "stepmix": "StepMix, n_init 10"}


def data_folder():
    for folder in (os.environ.get("COFOREST_DATA"), HERE.parent.parent / "shared" / "data"):
        if folder and pathlib.Path(folder, "hr.csv").exists():
            return pathlib.Path(folder)
    sys.exit("set COFOREST_DATA to the folder with hr.csv and the others")


def collection(work, rows=None):
    """Paths by name; with `rows`, the made families alone, each with so many rows."""
    import quality_tables
    if rows:
        folder = work.with_name(f"{work.name}-{rows}")
        quality_tables.write_of_rows(folder, rows)
        return {path.stem: path for path in sorted(folder.glob("*.csv"))}
    quality_tables.write_all(work)
    data = data_folder()
    real = [data / f"{name}.csv" for name in TWELVE] + sorted((data / "more").glob("*.csv"))
    return {path.stem: path for path in real + sorted(work.glob("*.csv"))}


def read(path):
    """Codes (rows x attributes), classes as numbers."""
    with open(path, encoding="utf-8") as file:
        rows = list(csv.reader(file))
    columns = list(zip(*rows[1:]))
    codes = [np.unique(c, return_inverse=True)[1] for c in columns]
    x = np.column_stack([c for c in codes[:-1] if c.max() > 0])
    return x, codes[-1]


def ours(path, k, method, seed):
    build, method = (pathlib.Path(BEFORE), "default") if method == "before" else (BUILD, method)
    done = subprocess.run([build / "bench" / "bench_fit_labels", path, str(k), method, str(seed)], check=True,
                          capture_output=True, text=True)
    lines = done.stdout.split()
    return np.array(lines[1:], int), float(lines[0])


def theirs(x, k, method, seed):
    """Labels, and seconds of processor on one thread, so that other work beside does not count."""
    warnings.simplefilter("ignore")
    begun = time.process_time()
    if method == "kmodes":
        from kmodes.kmodes import KModes
        labels = KModes(k, init="Huang", n_init=10, random_state=seed).fit_predict(x)
    elif method == "kmeans":
        from sklearn.cluster import KMeans
        from sklearn.preprocessing import OneHotEncoder
        labels = KMeans(k, n_init=10, random_state=seed).fit_predict(OneHotEncoder(sparse_output=False).fit_transform(x))
    else:
        from stepmix.stepmix import StepMix
        model = StepMix(k, measurement="categorical", n_init=10, random_state=seed, verbose=0, progress_bar=0)
        labels = model.fit(x).predict(x)
    return np.asarray(labels), time.process_time() - begun


def scores(labels, y):
    from scipy.optimize import linear_sum_assignment
    from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score
    table = np.zeros((labels.max() + 1, y.max() + 1))
    np.add.at(table, (labels, y), 1)
    i, j = linear_sum_assignment(-table)
    return (table[i, j].sum() / len(y), adjusted_rand_score(y, labels),
            normalized_mutual_info_score(y, labels, average_method="geometric"))


def one(job):
    name, path, method, seed = job
    x, y = read(path)
    k = int(y.max()) + 1
    is_ours = method in ("default", "before", "paper", "lca")
    labels, seconds = ours(path, k, method, seed) if is_ours else theirs(x, k, method, seed)
    ca, ari, nmi = scores(labels, y)
    return dict(table=name, method=method, seed=seed, ca=ca, ari=ari, nmi=nmi, seconds=seconds)


def means(results):
    """{table: {method: mean of (ca, ari, nmi, seconds), and the deviation of ari}}"""
    cells = {}
    for r in results:
        cells.setdefault(r["table"], {}).setdefault(r["method"], []).append(
            (r["ca"], r["ari"], r["nmi"], r["seconds"]))
    return {t: {m: np.append(np.mean(v, 0), np.std([row[1] for row in v])) for m, v in by.items()}
            for t, by in cells.items()}


def ranks(table_of, methods, index=1):
    """Average ranks by one score over the tables that have all methods; 1 is best, ties share."""
    from scipy.stats import rankdata
    full = [t for t in table_of if all(m in table_of[t] for m in methods)]
    r = np.array([rankdata([-round(table_of[t][m][index], 3) for m in methods]) for t in full])
    return full, r


def friedman(r):
    """Statistic of Iman and Davenport, its p, and the critical difference of Bonferroni and Dunn at .05."""
    from scipy.stats import f, norm
    n, m = r.shape
    chi = 12 * n / (m * (m + 1)) * ((r.mean(0) ** 2).sum() - m * (m + 1) ** 2 / 4)
    ff = (n - 1) * chi / (n * (m - 1) - chi)
    return ff, f.sf(ff, m - 1, (m - 1) * (n - 1)), norm.ppf(1 - 0.025 / (m - 1)) * math.sqrt(m * (m + 1) / (6 * n))


def report(results):
    table_of = means(results)
    methods = [m for m in ["before"] + METHODS if any(m in by for by in table_of.values())]
    counts = {}
    for r in results:
        counts[(r["table"], r["method"])] = counts.get((r["table"], r["method"]), 0) + 1
    print("| table | " + " | ".join(TITLES[m] for m in methods) + " |\n|---" * 1 + "|---" * len(methods) + "|")
    for t, by in table_of.items():
        cell = [f"{by[m][1]:.3f} ± {by[m][4]:.3f}" if m in by else "" for m in methods]
        print(f"| {t} | " + " | ".join(cell) + " |")
    full, r = ranks(table_of, methods)
    ff, p, cd = friedman(r)

    def line(title, values):
        print(f"| **{title}** | " + " | ".join(values) + " |")
    for title, index in (("mean CA", 0), ("mean ARI", 1), ("mean NMI", 2), ("mean seconds", 3)):
        line(title, [f"{np.mean([table_of[t][m][index] for t in full]):.3f}" for m in methods])
    line("average rank by ARI", [f"{v:.2f}" for v in r.mean(0)])
    twelve = [t for t in TWELVE if t in table_of]
    for title, index in (("CA of the twelve", 0), ("ARI of the twelve", 1), ("NMI of the twelve", 2)):
        line(title, [f"{np.mean([table_of[t][m][index] for t in twelve if m in table_of[t]]):.3f}"
                     if all(m in table_of[t] for t in twelve) else "" for m in methods])
    six = [t for t in STRUCTURED if t in table_of]
    line("ARI of the six with structure", [f"{np.mean([table_of[t][m][1] for t in six if m in table_of[t]]):.3f}"
                                           for m in methods])
    print(f"\nMeans and ranks over the {len(full)} tables that every method finished. Friedman (Iman and Davenport) "
          f"F = {ff:.2f}, p = {p:.2g};\ncritical difference of average ranks, Bonferroni-Dunn at .05 against the "
          f"default: {cd:.2f}.")
    seeds = {m: sorted({c for (t, mm), c in counts.items() if mm == m}) for m in methods}
    print("Seeds run per table: " + ", ".join(f"{TITLES[m]} {v[0]}" + (f" to {v[-1]}" if v[0] != v[-1] else "")
                                               for m, v in seeds.items()) + ".")


def judge(results):
    """Mean ARI over the tables of either half, and the default's lead over each other method with a 95 % interval: tables
    are drawn anew 10,000 times."""
    from quality_tables import half
    table_of = means(results)
    others = [m for m in ["before"] + METHODS if m != "default" and any(m in by for by in table_of.values())]
    for name in ("choosing", "judging"):
        tables = [t for t, by in table_of.items() if half(t) == name and all(m in by for m in ["default"] + others)]
        if not tables:
            continue
        ari = {m: np.array([table_of[t][m][1] for t in tables]) for m in ["default"] + others}
        draws = np.random.default_rng(1).integers(0, len(tables), (10000, len(tables)))
        print(f"{name} half, {len(tables)} tables: {TITLES['default']} {ari['default'].mean():.3f}")
        for m in others:
            lead = ari["default"] - ari[m]
            low, high = np.percentile(lead[draws].mean(1), [2.5, 97.5])
            print(f"  {TITLES[m]}: {ari[m].mean():.3f}; lead {lead.mean():+.3f} ({low:+.3f} to {high:+.3f}), better by .01 "
                  f"on {(lead > .01).sum()}, worse on {(lead < -.01).sum()}")


def k_of(job):
    """What -k auto finds."""
    path, method, seed = job
    return int(ours(path, "auto", method, seed)[0].max()) + 1


def find_k_tables(work):
    """{group: {path: number of classes}}: tables of medium strength with 2 to 12 clusters, uniform noise, and the real tables
    of either half of the collection."""
    import quality_tables as made
    groups = {"planted": {}, "noise": {}, "real, choosing half": {}, "real, judging half": {}}
    for k in range(2, 13):
        for copy in range(4):
            path = work / f"find_planted_{k}_{copy}.csv"
            made.write(path, *made.planted(np.random.default_rng([5, k, copy]), n=max(600, 100 * k),
                                           l=12 if k <= 5 else 16, k=k))
            groups["planted"][path] = k
    for copy in range(20):
        n, l, o = [(500, 10, 4), (200, 20, 3), (1000, 6, 8), (100, 30, 2)][copy % 4]
        path = work / f"find_noise_{copy}.csv"
        made.write(path, *made.uniform(np.random.default_rng([6, copy]), n, l, o))
        groups["noise"][path] = 1
    tables = collection(BUILD / "quality-tables")
    names = {name for name, _, _ in itertools.chain(made.synthetic(), made.synthetic(made.NEW_FAMILIES))}
    for name, path in tables.items():
        if name not in names:
            groups[f"real, {made.half(name)} half"][path] = int(read(path)[1].max()) + 1
    return groups


def find_k(work, jobs, seeds):
    """-k auto beside the number of classes; with COFOREST_BEFORE, that of the earlier version too."""
    groups = find_k_tables(work)
    with concurrent.futures.ProcessPoolExecutor(jobs) as pool:
        for method in ["default"] + ["before"] * (BEFORE is not None):
            for name, tables in groups.items():
                last = seeds if name.startswith("real") else 1
                todo = [(path, method, seed) for path in tables for seed in range(1, last + 1)]
                found = {}
                for (path, _, _), k in zip(todo, pool.map(k_of, todo)):
                    found.setdefault(path, []).append(k)
                off = {path: np.abs(np.array(k) - tables[path]) for path, k in found.items()}
                print(f"{TITLES[method]}, {name}: {len(tables)} tables, seeds 1 to {last}; exact on "
                      f"{sum((d == 0).mean() for d in off.values()):.4g}, within one on "
                      f"{sum((d <= 1).mean() for d in off.values()):.4g}")
                print("   " + ", ".join(f"{path.stem} {'/'.join(map(str, sorted(set(k))))} ({tables[path]})"
                                        for path, k in found.items() if off[path].max() > 0))


def times(work):
    """The default beside a single start of the paper's kind, 100,000 x 20, one thread, by the fit call's clock."""
    import quality_tables as made
    for keep in (0.7, 0.4):
        path = work / "times.csv"
        made.write(path, *made.planted(np.random.default_rng(7), n=100_000, l=20, o=5, k=5, keep=keep))
        single, default = ([ours(path, 5, method, seed)[1] for seed in range(1, 12)] for method in ("paper", "default"))
        print(f"cells kept {keep}: single {1e3 * np.median(single):.1f} ms, default {1e3 * np.median(default):.1f} ms, "
              f"{np.median(default) / np.median(single):.1f} times as long")
    path.unlink()


def processor_seconds(path, k, method, seed):
    """Of a whole process on one thread, reading included."""
    import resource
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    ours(path, k, method, seed)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def times_before(work, rounds):
    """Fits with the number of classes and with -k auto beside those of COFOREST_BEFORE, in turns: ratio of the least processor
    seconds. Tables on which a fit takes longer than ten seconds are run once."""
    import quality_tables as made
    shapes = {"planted 8000 x 22, k 20": (20, dict(n=8000, l=22, o=5, k=20)),
              "planted 100000 x 20, k 5": (5, dict(n=100_000, l=20, o=5, k=5))}
    tables = {name: (data_folder() / f"{name}.csv", k) for name, k in (("vt", 2), ("zo", 7), ("ac", 2))}
    for name, (k, shape) in shapes.items():
        path = work / f"times_{k}.csv"
        made.write(path, *made.planted(np.random.default_rng(7), **shape))
        tables[name] = path, k
    for title, k_of_fit in (("coforest fit", lambda k: k), ("coforest fit -k auto", lambda k: "auto")):
        ratios = []
        for name, (path, k) in tables.items():
            least = {"before": math.inf, "default": math.inf}
            for _ in range(rounds):
                for method in least:
                    least[method] = min(least[method], processor_seconds(path, k_of_fit(k), method, 1))
                if max(least.values()) > 10:
                    break
            ratios.append(least["default"] / least["before"])
            print(f"{title}, {name}: {least['before']:.3f} s before, {least['default']:.3f} s now, "
                  f"{ratios[-1]:.2f} times", flush=True)
        print(f"{title}: {np.exp(np.mean(np.log(ratios))):.2f} times, geometric mean", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--methods", default=",".join(METHODS))
    parser.add_argument("--tables", default="", help="names; none: all")
    parser.add_argument("--most-rows", type=int, default=10**9, help="leave larger tables out")
    parser.add_argument("--rows", type=int, help="instead of the collection, its made families with so many rows each")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--results", help="default: quality.jsonl in the build folder")
    parser.add_argument("--report", action="store_true", help="run nothing")
    parser.add_argument("--judge", action="store_true", help="print the two halves of the collection instead of every table")
    parser.add_argument("--half", choices=("choosing", "judging"), help="only the tables of this half")
    parser.add_argument("--build", help="build folder with the bench programs")
    parser.add_argument("--choices", action="store_true", help="only: which criterion keeps the best of --seeds times "
                        "twenty starts")
    parser.add_argument("--find-k", action="store_true", help="only: what -k auto finds")
    parser.add_argument("--times", action="store_true", help="only: the default's time beside a single start's, and "
                        "with COFOREST_BEFORE that of fits and of -k auto beside the earlier version's")
    args = parser.parse_args()
    if args.build:
        global BUILD
        BUILD = pathlib.Path(args.build)
    if args.find_k or args.times:
        work = BUILD / "quality-find"
        work.mkdir(parents=True, exist_ok=True)
        if args.find_k:
            find_k(work, args.jobs, args.seeds)
        if args.times:
            times(work)
        if args.times and BEFORE:
            times_before(work, rounds=5)
        return
    if args.choices:
        import choices
        tables = collection(BUILD / "quality-tables")
        chosen = args.tables.split(",") if args.tables else list(tables)
        made = [t for t in tables if (BUILD / "quality-tables" / f"{t}.csv").exists() and t not in MEASURED]
        groups = {"twelve": TWELVE, "six": STRUCTURED, "other real": [t for t in tables if t not in TWELVE + made],
                  "made": made}
        choices.compare(BUILD / "bench" / "bench_starts", {t: tables[t] for t in chosen}, groups, args.seeds, args.jobs)
        return
    args.results = args.results or str(BUILD / ("quality-rows.jsonl" if args.rows else "quality.jsonl"))
    results = [json.loads(line) for line in open(args.results, encoding="utf-8")] if os.path.exists(args.results) else []
    if not args.report:
        known = {(r["table"], r["method"], r["seed"]) for r in results}
        tables = collection(BUILD / "quality-tables", args.rows)
        chosen = args.tables.split(",") if args.tables else list(tables)
        if args.half:
            from quality_tables import half
            chosen = [t for t in chosen if half(t) == args.half]
        chosen = [t for t in chosen if sum(1 for _ in open(tables[t], encoding="utf-8")) - 1 <= args.most_rows]
        jobs = [(t, tables[t], m, s) for s in range(1, args.seeds + 1) for m in args.methods.split(",") for t in chosen
                if (t, m, s) not in known]
        with concurrent.futures.ProcessPoolExecutor(args.jobs) as pool, open(args.results, "a",
                                                                             encoding="utf-8") as out:
            for done in concurrent.futures.as_completed([pool.submit(one, j) for j in jobs]):
                results.append(done.result())
                out.write(json.dumps(results[-1]) + "\n")
                out.flush()
    if args.judge:
        judge(results)
        return
    order = {t: i for i, t in enumerate(TWELVE)}
    report(sorted(results, key=lambda r: (order.get(r["table"], 99), r["table"])))


if __name__ == "__main__":
    main()
