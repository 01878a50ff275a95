"""The tables that come with coforest, from the UCI Machine Learning Repository (CC BY 4.0)."""
import csv
import os

import numpy as np

__all__ = ["Dataset", "load_voting", "load_zoo"]


class Dataset(dict):
    """A dict whose keys are attributes too: data, target, feature_names, row_names, description."""

    def __getattr__(self, key):
        try:
            return self[key]
        except KeyError:
            raise AttributeError(key) from None

    def __repr__(self):
        return f"<Dataset: {self['description']}>"


def _read(name):
    here = os.path.dirname(os.path.abspath(__file__))
    path = os.path.join(here, "data", name)
    if not os.path.exists(path):  # an editable install, whose tables stay in the checkout
        path = os.path.join(here, "..", "..", "..", "data", name)
    with open(path, encoding="utf-8", newline="") as lines:
        header, *rows = csv.reader(lines)
    columns = {}
    for c, title in enumerate(header):
        cells = [None if row[c] == "?" else row[c] for row in rows]
        whole = all(cell is not None and cell.isdigit() for cell in cells)
        columns[title] = np.array([int(cell) for cell in cells] if whole else cells, dtype=int if whole else object)
    return columns


def _dataset(columns, description, names, as_frame, return_X_y):
    target = columns.pop("class")
    row_names = columns.pop(names) if names else None
    if as_frame == "auto":
        try:
            import pandas  # noqa: F401

            as_frame = True
        except ImportError:
            as_frame = False
    if as_frame:
        import pandas

        data = pandas.DataFrame(columns, index=pandas.Index(row_names, name=names) if names else None)
        target = pandas.Series(target, index=data.index, name="class")
    else:
        data = np.empty((len(target), len(columns)), dtype=object)
        for c, cells in enumerate(columns.values()):
            data[:, c] = cells
    if return_X_y:
        return data, target
    return Dataset(
        data=data, target=target, feature_names=list(columns), row_names=row_names, description=description
    )


def load_zoo(*, as_frame="auto", return_X_y=False):
    """101 animals, 16 attributes, 7 classes. A pandas table where pandas is installed, else arrays of objects."""
    return _dataset(_read("zoo.csv"), "Zoo: 101 animals, 16 attributes, 7 classes", "animal", as_frame, return_X_y)


def load_voting(*, as_frame="auto", return_X_y=False):
    """435 members of the US House of 1984, 16 votes (a missing one is neither yes nor no), 2 parties."""
    return _dataset(_read("voting.csv"), "Congressional Voting Records 1984: 435 members, 16 votes, 2 parties", None,
                    as_frame, return_X_y)
