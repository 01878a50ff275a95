"""One peer on one table, in a process of its own.

    peers.py fit NAME TABLE K [STARTS]     prints JSON: seconds of the fit call alone, ARI with the column class
    peers.py whole NAME TABLE K LABELS     reads the table with pandas, fits, writes the labels
    peers.py read NAME TABLE               prints JSON: seconds of reading the file (polars: and casting every column
                                           to Categorical; csv: every row by csv.reader), the import not counted

One start unless told otherwise. A peer's call has been made once on a few rows before it is timed: what it compiles, imports or
opens at its first call does not count.
"""
import json
import os
import sys
import time

PACKAGES = ["numpy", "pandas", "polars", "scikit-learn", "kmodes", "FasterKModes", "stepmix", "matplotlib"]
FITS = {
    "kmodes, default start": "kmodes_default",
    "kmodes, random start": "kmodes_random",
    "FasterKModes": "faster_kmodes",
    "scikit-learn KMeans on one-hot float32": "kmeans",
    "scikit-learn MiniBatchKMeans": "minibatch",
    "StepMix": "stepmix",
}
# Those that a whole default fit is compared with, each with ten starts.
TEN_STARTS = {"scikit-learn KMeans on one-hot float32": "kmeans", "StepMix": "stepmix", "kmodes": "kmodes_default"}
READERS = {"pandas.read_csv": "pandas", "polars.read_csv and cast": "polars"}


def one_hot(codes):
    import numpy as np

    return np.concatenate([(codes[:, [c]] == np.unique(codes[:, c])).astype(np.float32)
                           for c in range(codes.shape[1])], axis=1)


def estimator(name, k, starts=1):
    """What turns codes into the peer's input, its fit call, and what asks the fitted model for labels."""
    import numpy as np

    def same(codes):
        return codes

    def kept(model, X):
        return model.labels_

    def predicted(model, X):
        return model.predict(X)

    if name.startswith("kmodes"):
        from kmodes.kmodes import KModes
        start = {} if name == "kmodes_default" else {"init": "random"}
        threads = int(os.environ.get("LOKY_MAX_CPU_COUNT", 1))  # the other peers go by variables of their own
        return same, lambda X: KModes(k, n_init=starts, n_jobs=threads, random_state=1, **start).fit(X), kept
    if name == "faster_kmodes":
        from FasterKModes import FasterKModes

        def fit(X):
            model = FasterKModes(n_clusters=k, n_init=starts, random_state=1, n_jobs=1, print_log=False)
            model.fit(X)
            return model
        return lambda codes: np.ascontiguousarray(codes, np.uint8), fit, predicted
    if name in ("kmeans", "minibatch"):
        from sklearn.cluster import KMeans, MiniBatchKMeans
        kind = KMeans if name == "kmeans" else MiniBatchKMeans
        return one_hot, lambda X: kind(k, n_init=starts, random_state=1).fit(X), kept
    from stepmix.stepmix import StepMix
    return same, lambda X: StepMix(k, measurement="categorical", n_init=starts, random_state=1,
                                   progress_bar=0).fit(X), predicted


def load(path):
    """Codes from 0, and the classes."""
    import numpy as np
    import pandas

    table = pandas.read_csv(path)
    classes = table.pop("class").to_numpy()
    return np.ascontiguousarray(table.to_numpy()) - 1, classes


def fit_alone(name, path, k, starts=1):
    from sklearn.metrics import adjusted_rand_score

    codes, classes = load(path)
    prepare, fit, labels = estimator(name, k, starts)
    estimator(name, k)[1](prepare(codes[:1000]))
    X = prepare(codes)
    began = time.perf_counter()
    model = fit(X)
    took = time.perf_counter() - began
    return {"fit_s": took, "ari": float(adjusted_rand_score(classes, labels(model, X)))}


def whole(name, path, k, labels_path):
    import pandas

    codes, _ = load(path)
    prepare, fit, labels_of = estimator(name, k)
    X = prepare(codes)
    labels = labels_of(fit(X), X)
    pandas.DataFrame({"row": range(1, len(labels) + 1), "cluster": labels + 1}).to_csv(labels_path, index=False)


def read(name, path):
    if name == "pandas":
        import pandas

        began, processor = time.perf_counter(), time.process_time()
        pandas.read_csv(path)
    elif name == "csv":
        import csv

        began, processor = time.perf_counter(), time.process_time()
        with open(path, newline="", encoding="utf-8") as file:
            for _ in csv.reader(file):
                pass
    else:
        import polars as pl

        began, processor = time.perf_counter(), time.process_time()
        pl.read_csv(path).with_columns(pl.all().cast(pl.String).cast(pl.Categorical))
    return {"read_s": time.perf_counter() - began, "processor_s": time.process_time() - processor}


def main(task, name, path, *rest):
    if task == "fit":
        print(json.dumps(fit_alone(name, path, *map(int, rest))))
    elif task == "whole":
        whole(name, path, int(rest[0]), rest[1])
    else:
        print(json.dumps(read(name, path)))


if __name__ == "__main__":
    main(*sys.argv[1:])
