"""Pictures, with matplotlib: trees, the map of rows, profiles, quantities, numbers of clusters, alternatives, convergence,
critical differences.

Every function draws into ``ax``, or into a new figure, and gives the Axes back.
"""
import numpy as np

__all__ = ["plot_alternatives", "plot_cd_diagram", "plot_convergence", "plot_k_curve", "plot_map", "plot_profiles",
           "plot_quantity", "plot_tree"]

_LONGEST = 40  # letters of a name that are shown
_TREE_WIDTH = 4.5  # inches, without the names


def _axes(ax, **figure):
    if ax is not None:
        return ax
    try:
        import matplotlib.pyplot as pyplot
    except ImportError as error:
        raise ImportError("plots need matplotlib: pip install coforest[plot]") from error
    return pyplot.subplots(layout="constrained", **figure)[1]


def _text(value):
    text = "(missing)" if value is None else str(value)
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"


def _joined(texts):
    """Several names as one, the first of them if they are long."""
    shown = 1
    while shown < len(texts) and len(", ".join(texts[: shown + 1])) <= _LONGEST:
        shown += 1
    return ", ".join(texts[:shown]) + (f" and {len(texts) - shown} more" if shown < len(texts) else "")


def _colours(n):
    """One colour for each of n clusters."""
    from matplotlib import colormaps

    palette = colormaps["tab10" if n <= 10 else "tab20" if n <= 20 else "turbo"]
    return [palette(j if n <= 20 else j / (n - 1)) for j in range(n)]


def _legend(ax, n, title):
    """Beside the picture, in as many columns as n entries need."""
    ax.legend(title=title, frameon=False, loc="upper left", bbox_to_anchor=(1.0, 1.0), ncols=1 + (n - 1) // 20, fontsize=8)


def _tree_layout(tree):
    """Places of the values: along x the way from one end of the longest path, along y a line for every value, below the
    value it hangs on; and the parents. Values at distance 0 share a line."""
    neighbours = [[] for _ in tree.values]
    for (u, v), edge in zip(tree._edge_ids, tree.edges):
        neighbours[u].append((v, edge.length))
        neighbours[v].append((u, edge.length))

    def walk(root):  # depth first, short ways first, so that the longest path lies below
        order, parent, far, stack = [], {root: None}, {root: 0.0}, [root]
        while stack:
            u = stack.pop()
            order.append(u)
            for v, length in sorted(neighbours[u], key=lambda pair: -pair[1]):
                if v not in parent:
                    parent[v], far[v] = u, far[u] + length
                    stack.append(v)
        return order, parent, far

    far = walk(0)[2]
    order, parent, far = walk(max(far, key=far.get))
    position, line = {}, -1
    for u in order:
        twin = parent[u] is not None and far[u] - far[parent[u]] < 1e-9
        line += not twin
        position[u] = (far[u], position[parent[u]][1] if twin else line)
    return position, parent


def plot_tree(tree, ax=None, color="tab:blue", lengths=True):
    """The order tree of one column: near values lie near each other along it. One line a value, up to 200 and more."""
    position, parent = _tree_layout(tree) if tree.edges else ({}, {})
    at = {}  # values at distance 0 share a point and a label
    for v in sorted(position):
        at.setdefault(position[v], []).append(_text(tree.values[v]))
    names = {place: _joined(texts) for place, texts in at.items()}
    n_lines = 1 + max((y for _, y in position.values()), default=1)
    room = 0.5 + 0.065 * max(map(len, names.values()), default=0)  # inches for the names
    ax = _axes(ax, figsize=(_TREE_WIDTH + room, 1.2 + 0.24 * n_lines))
    if not tree.edges:
        ax.text(0.5, 0.5, f"{_text(tree.name)}: no tree", ha="center", va="center")
        ax.set_axis_off()
        return ax
    widest = max(x for x, _ in position.values()) or 1.0
    for v, u in parent.items():
        if u is None or position[u] == position[v]:
            continue
        (x0, y0), (x1, y1) = position[u], position[v]
        ax.plot([x0, x0, x1], [y0, y1, y1], color="0.7", linewidth=1, zorder=1)
        if lengths and x1 - x0 > 0.07 * widest:
            ax.text((x0 + x1) / 2, y1 - 0.1, f"{x1 - x0:.2f}", color="0.45", fontsize=6, ha="center", va="bottom")
    ax.scatter(*zip(*names), color=color, s=14, zorder=2)
    for place, name in names.items():
        ax.annotate(name, place, xytext=(5, 0), textcoords="offset points", va="center", fontsize=8)
    ax.set_xlim(-0.03 * widest, (1 + room / _TREE_WIDTH) * widest)
    ax.set_ylim(n_lines - 0.3, -0.7)
    ax.set_yticks([])
    ax.spines[["left", "right", "top"]].set_visible(False)
    ax.set_xlabel("distance along the tree")
    ax.set_title(_text(tree.name))
    return ax


def plot_map(model, X=None, ax=None, y=None, **scatter):
    """The distinct rows in the plane, near ones near each other by the distances that were learned (t-SNE).

    The rows that were fitted, or those of X; coloured by their clusters, or by the classes y.
    """
    ax = _axes(ax)
    points = model.embed(X)
    rows = points["row"].astype(int)
    if y is None:
        groups, names = (model.labels_ if X is None else model.predict(X))[rows], range(model.n_clusters_)
    else:
        names, groups = np.unique(np.asarray(y).astype(str), return_inverse=True)
        groups = groups[rows]
    sizes = 10 + 6 * np.sqrt(points["n_rows"] - 1)
    for j, (name, colour) in enumerate(zip(names, _colours(len(names)))):
        mine = groups == j
        options = {"s": sizes[mine], "color": colour, "alpha": 0.8, "linewidths": 0, **scatter}
        ax.scatter(points["x"][mine], points["y"][mine], label=_text(name), **options)
    _legend(ax, len(names), "cluster" if y is None else "class")
    ax.set_xticks([])
    ax.set_yticks([])
    ax.set_title("rows near each other are alike")
    return ax


def plot_profiles(model, ax=None, cmap="Blues", most=60):
    """What the clusters are made of: the share of every value in every cluster."""
    blocks, names = [], []
    for tree, profile in zip(model.forest_.trees(), model.cluster_profiles_):
        if tree.used:
            blocks.append(profile)
            names += [f"{_text(tree.name)} = {_text(value)}" for value in tree.values]
    shares = np.nan_to_num(np.hstack(blocks))
    if len(names) > most:  # those that tell clusters apart best
        keep = np.sort(np.argsort(-shares.var(axis=0), kind="stable")[:most])
        shares, names = shares[:, keep], [names[i] for i in keep]
    longest = max(len(name) for name in names)
    ax = _axes(ax, figsize=(2.5 + 0.07 * longest + 0.35 * len(shares), 1.2 + 0.17 * len(names)))
    image = ax.imshow(shares.T, cmap=cmap, vmin=0, vmax=1, aspect="auto")
    ax.set_yticks(range(len(names)), names, fontsize=7)
    ax.set_xticks(range(len(shares)), [str(j) for j in range(len(shares))])
    ax.set_xlabel("cluster")
    ax.figure.colorbar(image, ax=ax, label="share of rows")
    return ax


def plot_quantity(model, column, ax=None):
    """How a quantity that was cut is spread in every cluster: the share of the cluster's rows in each bin."""
    tree = model.forest_[column]
    if tree.cut_at is None:
        raise ValueError(f"column {tree.name!r} is no quantity that was cut; plot_profiles shows categories")
    r = model.forest_.trees().index(tree)
    shares = model.cluster_profiles_[r]
    ax = _axes(ax, figsize=(max(5.0, 2.5 + 0.3 * shares.shape[1]), 3.8))
    for j, (row, colour) in enumerate(zip(shares, _colours(len(shares)))):
        ax.step(range(len(row)), row, where="mid", color=colour, label=str(j))
    ax.set_xticks(range(len(tree.values)), [_text(value) for value in tree.values], rotation=60, ha="right", fontsize=7)
    ax.set_ylim(bottom=0)
    ax.set_ylabel("share of the cluster's rows")
    ax.set_title(_text(tree.name))
    _legend(ax, len(shares), "cluster")
    return ax


def plot_k_curve(model, ax=None):
    """The numbers of clusters that were tried: the greatest log-likelihood of each, and how far halves of the table agree."""
    curve = model.k_curve_
    if curve is None:
        raise ValueError('there is no curve: n_clusters was a number, not "auto" or a pair')
    ax = _axes(ax, figsize=(6, 3.6))
    ks = [record["k"] for record in curve]
    ax.plot(ks, [record["log_likelihood"] for record in curve], color="tab:blue", marker=".", label="log-likelihood")
    ax.axvline(model.n_clusters_, color="0.7", linestyle="--", zorder=0, label="kept")
    halves = [(record["k"], record["agreement"]) for record in curve if record["agreement"] is not None]
    if halves:
        other = ax.twinx()
        other.plot(*zip(*halves), color="tab:orange", marker="o", linestyle="none", label="agreement of halves")
        other.set_ylim(-0.05, 1.05)
        other.set_ylabel("agreement of halves", color="tab:orange")
    ax.set_xticks(ks)
    ax.set_xlabel("number of clusters")
    ax.set_ylabel("log-likelihood", color="tab:blue")
    ax.set_title(f"kept: {model.n_clusters_}")
    return ax


def plot_alternatives(model, number=0, ax=None):
    """How an alternative partition divides the clusters: rows of every pair of a cluster and one of the alternative."""
    others = model.alternatives_
    if not others:
        raise ValueError("the model has no alternatives")
    labels = others[number]["labels"]
    kept = (model.labels_ >= 0) & (labels >= 0)
    counts = np.zeros((model.n_clusters_, len(others[number]["cluster_sizes"])), dtype=int)
    np.add.at(counts, (model.labels_[kept], labels[kept]), 1)
    ax = _axes(ax, figsize=(2 + 0.45 * counts.shape[1], 1.6 + 0.35 * counts.shape[0]))
    ax.imshow(counts, cmap="Blues", aspect="auto")
    for j, row in enumerate(counts):
        for other, count in enumerate(row):
            if count:
                ax.text(other, j, str(count), ha="center", va="center", fontsize=7,
                        color="white" if count > counts.max() / 2 else "black")
    ax.set_xticks(range(counts.shape[1]))
    ax.set_yticks(range(counts.shape[0]))
    ax.set_xlabel(f"cluster of alternative {number} (agreement {others[number]['agreement']:.2f})")
    ax.set_ylabel("cluster")
    return ax


def plot_convergence(model, ax=None):
    """The objective of every pass, one line per start; the start that was kept stands out.

    Of a portfolio only the starts of the kept one's kind are drawn: the others count in other units, the likelihood's
    or the trees'.
    """
    ax = _axes(ax)
    history = model.history_
    kinds = [record["by_likelihood"] for record in model.restarts_]
    best = model.info_["best_restart"] if hasattr(model, "info_") else -1
    for restart in sorted({record["restart"] for record in history}):
        if restart < len(kinds) and kinds[restart] != kinds[max(best, 0)]:
            continue
        line = [record["objective"] for record in history if record["restart"] == restart]
        kept = restart == best
        ax.plot(range(1, len(line) + 1), line, color="tab:blue" if kept else "0.8", zorder=2 + kept,
                label="kept" if kept else None, marker="." if len(line) == 1 else None)
    ax.set_xlabel("pass")
    ax.set_ylabel("minus log-likelihood" if kinds and kinds[max(best, 0)] else "objective")
    if best >= 0:
        ax.legend(frameon=False)
    return ax


def plot_cd_diagram(mean_ranks, methods, cd, ax=None, control=None):
    """Mean ranks on a line, best to the left, with the critical difference drawn from the best or the control."""
    mean_ranks = np.asarray(mean_ranks, dtype=float)
    order = np.argsort(mean_ranks, kind="stable")
    k = len(order)
    ax = _axes(ax, figsize=(7, 1.2 + 0.28 * ((k + 1) // 2)))
    depth = (k + 1) // 2
    ax.set_xlim(0.5, k + 0.5)
    ax.set_ylim(-depth - 1, 1.6)
    ax.hlines(0, 1, k, color="black")
    for tick in range(1, k + 1):
        ax.vlines(tick, 0, 0.2, color="black")
        ax.text(tick, 0.3, str(tick), ha="center", va="bottom")
    for place, m in enumerate(order):
        left = place < depth
        line = -(place + 1 if left else k - place)
        end = 0.9 if left else k + 0.1
        ax.plot([mean_ranks[m], mean_ranks[m], end], [0, line, line], color="0.4", linewidth=1)
        ax.text(end, line, f" {methods[m]} ({mean_ranks[m]:.2f}) ", ha="right" if left else "left", va="center")
    base = mean_ranks[order[0] if control is None else control]
    ax.plot([max(1, base - cd), min(k, base + cd)], [-0.35, -0.35], color="tab:red", linewidth=3)
    ax.text(min(k, base + cd), -0.35, f" CD = {cd:.3f}", color="tab:red", va="center", fontsize=8)
    ax.set_axis_off()
    return ax
