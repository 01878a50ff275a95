"""The tables of bench/run. `coforest generate` makes most of them; the rest is made here, in a process of its own.

    tables.py values ROWS VALUES OUT          a column of VALUES values beside four of five values
    tables.py duplicates ROWS DISTINCT OUT    rows drawn from a few distinct ones
    tables.py words TABLE OUT                 the same table with every category written as a word: v3 for 3
"""
import os
import pathlib
import shutil
import sys

from measuring import Failure, run


class Tables:
    """A folder of tables, each made when it is first asked for and removed at the end."""

    def __init__(self, coforest, python, folder):
        self.coforest, self.python, self.folder = coforest, python, pathlib.Path(folder)
        self.folder.mkdir(parents=True, exist_ok=True)

    def _make(self, name, command):
        path = self.folder / f"{name}.csv"
        if not path.exists():
            part = path.with_suffix(".part")
            run([*command, part])
            os.replace(part, path)
        return path

    def _make_here(self, name, kind, *arguments):
        if self.python is None:
            raise Failure("this table needs NumPy and polars")
        return self._make(name, [self.python, __file__, kind, *arguments])

    def planted(self, rows, columns=20, k=5, noise=0.3, values=5):
        """Clusters around modes; the truth is in the column class."""
        return self._make(f"planted-{rows}x{columns}-{k}-{noise}-{values}",
                          [self.coforest, "generate", "--rows", rows, "--columns", columns, "--clusters", k, "--noise",
                           noise, "--values", values, "--out"])

    def uniform(self, rows, columns):
        """Independent, uniform cells of five values: the tables of the paper's two sweeps."""
        return self._make(f"uniform-{rows}x{columns}", [self.coforest, "generate", "--kind", "uniform", "--rows", rows,
                                                        "--columns", columns, "--out"])

    def as_words(self, table):
        return self._make(f"{table.stem}-words", [sys.executable, __file__, "words", table])

    def many_values(self, rows, values):
        return self._make_here(f"values-{rows}-{values}", "values", rows, values)

    def duplicates(self, rows, distinct):
        return self._make_here(f"duplicates-{rows}-{distinct}", "duplicates", rows, distinct)

    def remove(self):
        shutil.rmtree(self.folder)


def write_words(table, out_path):
    with open(table, "rb") as source, open(out_path, "wb") as out:
        out.write(source.readline())
        for lines in iter(lambda: source.readlines(1 << 24), []):
            out.write(b"".join(b"v" + line.replace(b",", b",v") for line in lines))


def write_values(rows, values, out):
    """Every value is at home in one of five clusters, and seven rows in ten hold a value of their own cluster."""
    import numpy as np
    import polars as pl

    rng = np.random.default_rng(1)
    cluster = rng.integers(0, 5, rows)
    many = rng.integers(0, values // 5, rows) * 5 + np.where(rng.random(rows) < 0.7, cluster, rng.integers(0, 5, rows))
    columns = {"many": many}
    for name in "abcd":
        columns[name] = np.where(rng.random(rows) < 0.7, cluster, rng.integers(0, 5, rows))
    pl.DataFrame(columns).write_csv(out)


def write_duplicates(rows, distinct, out):
    """Twenty columns of five values; a few distinct rows around five modes, each many times."""
    import numpy as np
    import polars as pl

    rng = np.random.default_rng(1)
    modes = rng.integers(1, 6, (5, 20))
    cluster = rng.integers(0, 5, distinct)
    kinds = np.where(rng.random((distinct, 20)) < 0.3, rng.integers(1, 6, (distinct, 20)), modes[cluster])
    drawn = rng.integers(0, distinct, rows)
    columns = {f"a{c + 1}": kinds[drawn, c] for c in range(20)}
    columns["class"] = cluster[drawn] + 1
    pl.DataFrame(columns).write_csv(out)


def main(kind, *arguments):
    if kind == "words":
        write_words(*arguments)
    else:
        first, second, out = arguments
        {"values": write_values, "duplicates": write_duplicates}[kind](int(first), int(second), out)


if __name__ == "__main__":
    main(*sys.argv[1:])
