"""Are six starts enough where they find the same partition of the sample (docs/choices.md)?

    bench/enough.py --coforest BUILD/coforest [--tables N] [--seed S] [--data FOLDER]

Makes tables of more than 16,384 rows: planted clusters of equal and unequal sizes, pairs of clusters that differ in few
columns, columns that depend on each other, and, if --data names a folder of CSV files, real tables with rows drawn again
and some cells replaced. Each is fitted with the usual number of restarts and with ten. Prints how often six were enough,
and what the other four found."""
import argparse
import csv
import json
import pathlib
import random
import subprocess
import tempfile

KINDS = "equal", "unequal", "pairs", "dependent"


def planted(rng, kind, rows, k):
    columns, values = rng.choice([5, 8, 15, 25]), rng.choice([2, 3, 5, 8])
    noise = rng.choice([.1, .2, .3, .4, .5, .6, .7])
    modes = [[rng.randrange(values) for _ in range(columns)] for _ in range(k)]
    for j in range(1, k, 2):
        if kind == "pairs":
            modes[j] = list(modes[j - 1])
            for c in rng.sample(range(columns), max(1, columns // 4)):
                modes[j][c] = rng.randrange(values)
    sizes = [.6 ** j if kind == "unequal" else 1 for j in range(k)]
    yield [f"a{c}" for c in range(columns)] + ["class"]
    for j in rng.choices(range(k), sizes, k=rows):
        row = [rng.randrange(values) if rng.random() < noise else m for m in modes[j]]
        if kind == "dependent":
            row[-(columns // 3):] = row[:columns // 3]
        yield [f"v{x}" for x in row] + [j]


def drawn_again(rng, path, rows):
    head, *body = csv.reader(path.open())
    columns, noise = list(zip(*body)), rng.choice([0, .05, .1, .2])
    yield head
    for row in rng.choices(body, k=rows):
        yield [rng.choice(columns[c]) if rng.random() < noise else cell for c, cell in enumerate(row)]


def fit(coforest, table, k, seed, *options):
    command = [coforest, "fit", table, "-k", k, "--label", "class", "--seed", seed, "--json", *options]
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    return json.loads(done.stdout) if done.returncode == 0 else None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--coforest", required=True)
    parser.add_argument("--tables", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--data", type=pathlib.Path, help="a folder of CSV files with a column class")
    args = parser.parse_args()
    rng = random.Random(args.seed)
    real = [p for p in sorted(args.data.glob("*.csv")) if "class" in p.open().readline()] if args.data else []
    n_fits, enough, better, changes = 0, 0, [], []
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "table.csv"
        for _ in range(args.tables):
            source, rows, true_k = rng.choice([*KINDS, *real]), rng.choice([17_000, 25_000, 40_000]), rng.randint(2, 8)
            made = planted(rng, source, rows, true_k) if source in KINDS else drawn_again(rng, source, rows)
            with path.open("w", newline="") as out:
                csv.writer(out).writerows(made)
            for k in {max(true_k - 1, 2), true_k, true_k + 1}:
                seed = rng.randrange(1000)
                few = fit(args.coforest, path, k, seed)
                if few is None:  # fewer distinct rows than clusters
                    continue
                n_fits += 1
                if few["n_restarts"] != 6:
                    continue
                enough += 1
                ten = fit(args.coforest, path, k, seed, "--restarts", 10)
                criteria = [max(r["criterion"] for r in told["restart_records"]) for told in (few, ten)]
                changes.append(ten["scores"]["ari"] - few["scores"]["ari"])
                if criteria[1] > criteria[0] + 1e-9 * abs(criteria[0]):
                    better.append((f"{getattr(source, 'name', source)}, k = {k}", criteria,
                                   [told["scores"]["ari"] for told in (few, ten)]))
    print(f"{n_fits} fits; in {enough} the first six starts found the same partition; the other four found a better one in "
          f"{len(better)}; the ARI with the classes changed by {sum(changes) / max(enough, 1):+.5f} in the mean")
    for what, (few, ten), (ari, ari_of_ten) in better:
        print(f"  {what}: criterion {few:.6f} with six and {ten:.6f} with ten, ARI with the classes {ari:.4f} and "
              f"{ari_of_ten:.4f}")


if __name__ == "__main__":
    main()
