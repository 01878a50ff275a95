"""The learned order trees as objects."""
from collections.abc import Mapping
from functools import cached_property
from typing import NamedTuple

import numpy as np

from . import _core
from ._tables import text_of, value_of


class Edge(NamedTuple):
    """Two neighbouring values of a tree and how far apart they are; u joined the tree before v."""

    u: object
    v: object
    length: float


class Tree:
    """The order tree over the values of one column.

    ``values`` are the column's values in the order of their ids, ``None`` standing for a missing one; a constant
    column has a value but takes no part (``used`` is False) and has no edges.
    """

    def __init__(self, model, attribute, kind="O"):
        view = model.attribute(attribute)
        self._model = model
        self._attribute = attribute
        self.name = view["name"]
        self.used = view["used"]
        self.ordinal = view["ordinal"]
        self.cut_at = view["cut_at"]  # edges between the bins of a quantity; None for categories
        self.five = view["five"]
        texts = list(view["values"])
        self._ids = {text: v for v, text in enumerate(texts)}
        self.values = [value_of(text, kind) for text in texts]
        if view["has_missing"]:
            self._ids.pop(texts[-1], None)
            self._ids[None] = len(texts) - 1
            self.values[-1] = None
            self._ids.update({text: v for v, text in enumerate(texts[:-1])})
        self._edge_ids = [(u, v) for u, v, _ in view["edges"]]
        self.edges = [Edge(self.values[u], self.values[v], length) for u, v, length in view["edges"]]

    @property
    def lengths(self):
        """Lengths of the edges, in the order they were found."""
        return np.array([edge.length for edge in self.edges])

    def _id(self, value):
        text = text_of(value)
        if text not in self._ids:
            raise KeyError(f"{value!r} is not a value of column {self.name!r}")
        return self._ids[text]

    def distance(self, u, v):
        """Length of the way from one value to another along the tree."""
        return self._model.distance(self._attribute, self._id(u), self._id(v))

    def distances(self):
        """All of them, as a square array in the order of ``values``; 1 between different values where a method has no tree."""
        n = len(self.values)
        if not self.edges:
            return 1.0 - np.eye(n) if self.used else np.zeros((n, n))
        d = np.zeros((n, n))
        seen = [self._edge_ids[0][0]]
        for (u, v), edge in zip(self._edge_ids, self.edges):  # u is there already
            d[v, seen] = d[seen, v] = d[u, seen] + edge.length
            seen.append(v)
        return d

    def _draw(self, how):
        return self._model.draw(self._attribute, _core.DRAWINGS[how])

    def to_text(self):
        """The tree drawn with letters, as ``coforest trees`` prints it."""
        return self._draw("text")

    def to_dot(self):
        """The tree in the language of Graphviz."""
        return self._draw("dot")

    def to_svg(self):
        """A picture of the tree as SVG."""
        return self._draw("svg")

    def to_json(self):
        """The tree as JSON, as ``coforest trees --json`` prints it."""
        return self._draw("json")

    def _repr_svg_(self):
        return self.to_svg() if self.edges else None

    def to_networkx(self):
        """A ``networkx.Graph`` with the values as nodes and ``length`` on every edge."""
        import networkx

        graph = networkx.Graph(name=self.name)
        graph.add_nodes_from(self.values)
        graph.add_edges_from((e.u, e.v, {"length": e.length}) for e in self.edges)
        return graph

    def plot(self, ax=None, **options):
        """Draws the tree with matplotlib; see ``coforest.plots.plot_tree``."""
        from .plots import plot_tree

        return plot_tree(self, ax=ax, **options)

    def __len__(self):
        return len(self.values)

    def __repr__(self):
        return f"<Tree {self.name!r}: {len(self.values)} values, {len(self.edges)} edges>"


class Forest(Mapping):
    """One tree per column, by name or by position: ``forest["legs"]``, ``forest[12]``."""

    def __init__(self, trees):
        self._trees = list(trees)
        self._by_name = {tree.name: tree for tree in self._trees}

    def __getitem__(self, key):
        if isinstance(key, (int, np.integer)):
            return self._trees[key]
        return self._by_name[key]

    def __iter__(self):
        return iter(self._by_name)

    def to_networkx(self):
        """``{name: networkx.Graph}``, one graph a column."""
        return {tree.name: tree.to_networkx() for tree in self._trees}

    def trees(self):
        """The trees in the order of the columns."""
        return list(self._trees)

    def __len__(self):
        return len(self._trees)

    def __repr__(self):
        return f"<Forest of {len(self)} trees: {', '.join(self._by_name)}>"


class Found:
    """What a model found, as objects of Python, which are made when they are first asked for: a wide table has many."""

    def __init__(self, model, kinds):
        self._model = model
        self._kinds = kinds

    @cached_property
    def forest(self):
        return Forest(Tree(self._model, r, kind) for r, kind in enumerate(self._kinds))

    @cached_property
    def categories(self):
        return [self._array_of(tree, kind) for tree, kind in zip(self.forest.trees(), self._kinds)]

    @cached_property
    def cuts(self):
        return {tree.name: np.array(tree.cut_at) for tree in self.forest.trees() if tree.cut_at is not None}

    @cached_property
    def quartiles(self):
        return {tree.name: np.array(tree.five) for tree in self.forest.trees() if tree.five is not None}

    @cached_property
    def profiles(self):
        found = [np.empty((self._model.k, len(tree.values))) for tree in self.forest.trees()]
        for r, profile in enumerate(found):
            self._model.profile(r, profile)
        return found

    @cached_property
    def modes(self):
        k = self._model.k
        modes = np.empty((k, len(self.profiles)), dtype=object)
        for r, (tree, profile) in enumerate(zip(self.forest.trees(), self.profiles)):
            shares = np.where(profile == profile, profile, -1.0) if tree.values else np.full((k, 1), -1.0)
            best = shares.argmax(axis=1)
            known = shares[np.arange(k), best] >= 0
            modes[:, r] = [tree.values[v] if there else None for v, there in zip(best.tolist(), known.tolist())]
        return modes

    @staticmethod
    def _array_of(tree, kind):
        whole = tree.values and None not in tree.values and not any(isinstance(v, str) for v in tree.values)
        if kind == "i" and whole and max(tree.values) >= 2**63:
            whole = min(tree.values) >= 0  # else NumPy would make floats of them
            if whole:
                return np.array(tree.values, dtype=np.uint64)
        if kind != "O" and whole:
            return np.array(tree.values)
        array = np.empty(len(tree.values), dtype=object)
        array[:] = tree.values
        return array
