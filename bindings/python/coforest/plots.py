"""Pictures, with matplotlib: trees, the map of rows, profiles, convergence, critical differences.

Every function draws into ``ax``, or into a new figure, and gives the Axes back.
"""
import numpy as np

__all__ = ["plot_cd_diagram", "plot_convergence", "plot_map", "plot_profiles", "plot_tree"]


def _axes(ax, **figure):
    if ax is not None:
        return ax
    try:
        import matplotlib.pyplot as pyplot
    except ImportError as error:
        raise ImportError("plots need matplotlib: pip install coforest[plot]") from error
    return pyplot.subplots(**figure)[1]


def _text(value):
    return "(missing)" if value is None else str(value)


def _tree_layout(tree):
    """Positions: along x the way from one end of the longest path, along y one line per leaf."""
    neighbours = {v: [] for v in range(len(tree.values))}
    place = {id_: v for v, id_ in enumerate(map(repr, tree.values))}
    for edge in tree.edges:
        u, v = place[repr(edge.u)], place[repr(edge.v)]
        neighbours[u].append((v, edge.length))
        neighbours[v].append((u, edge.length))

    def walk(root):
        order, parent, far = [root], {root: None}, {root: 0.0}
        for u in order:
            for v, length in neighbours[u]:
                if v not in parent:
                    parent[v], far[v] = u, far[u] + length
                    order.append(v)
        return order, parent, far

    start = max(walk(0)[2].items(), key=lambda item: item[1])[0]
    order, parent, far = walk(start)
    end = max(far, key=far.get)
    on_path = set()
    while end is not None:
        on_path.add(end)
        end = parent[end]
    children = {u: [v for v in order if parent[v] == u] for u in order}
    y, line = {}, [0]

    def place_below(root):
        stack = [root]
        while stack:  # depth first, the longest path last so that it lies at the edge
            u = stack.pop()
            kids = sorted(children[u], key=lambda v: v in on_path)
            if not kids:
                y[u] = line[0]
                line[0] += 1
            stack.extend(kids)
        for u in reversed(order):
            if children[u]:
                y[u] = sum(y[v] for v in children[u]) / len(children[u])

    place_below(start)
    return {u: (far[u], y[u]) for u in order}, parent


def plot_tree(tree, ax=None, color="tab:blue", lengths=True):
    """The order tree of one column: near values lie near each other along it."""
    ax = _axes(ax, figsize=(6, 1 + 0.45 * max(2, len(tree.values) // 2)))
    if not tree.edges:
        ax.text(0.5, 0.5, f"{tree.name}: no tree", ha="center", va="center")
        ax.set_axis_off()
        return ax
    position, parent = _tree_layout(tree)
    for v, u in parent.items():
        if u is None:
            continue
        (x0, y0), (x1, y1) = position[u], position[v]
        ax.plot([x0, x1], [y0, y1], color="0.6", zorder=1)
        if lengths and x1 - x0 > 1e-6:
            ax.annotate(f"{x1 - x0:.2f}", ((x0 + x1) / 2, (y0 + y1) / 2), color="0.4", fontsize=7, ha="center")
    x, y = zip(*(position[v] for v in sorted(position)))
    ax.scatter(x, y, color=color, zorder=2)
    at = {}  # values at distance 0 share a point and a label
    for v in sorted(position):
        at.setdefault(tuple(np.round(position[v], 6)), []).append(_text(tree.values[v]))
    for place, texts in at.items():
        ax.annotate(", ".join(texts), place, xytext=(0, 6), textcoords="offset points", ha="center")
    ax.margins(0.1, 0.3)
    ax.set_yticks([])
    ax.set_xlabel("distance along the tree")
    ax.set_title(tree.name)
    return ax


def plot_map(model, X=None, ax=None, y=None, **scatter):
    """The distinct rows in the plane, near ones near each other by the distances that were learned (t-SNE).

    The rows that were fitted, or those of X; coloured by their clusters, or by the classes y.
    """
    ax = _axes(ax)
    points = model.embed(X)
    rows = points["row"].astype(int)
    if y is None:
        colours = (model.labels_ if X is None else model.predict(X))[rows]
    else:
        colours = np.unique(np.asarray(y).astype(str), return_inverse=True)[1][rows]
    options = {"s": 10 + 6 * np.sqrt(points["n_rows"] - 1), "cmap": "tab10", "alpha": 0.8, **scatter}
    ax.scatter(points["x"], points["y"], c=colours, **options)
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
            names += [f"{tree.name} = {_text(value)}" for value in tree.values]
    shares = np.nan_to_num(np.hstack(blocks))
    if len(names) > most:  # those that tell clusters apart best
        keep = np.sort(np.argsort(-shares.var(axis=0), kind="stable")[:most])
        shares, names = shares[:, keep], [names[i] for i in keep]
    ax = _axes(ax, figsize=(1.5 + 0.5 * len(shares), 1 + 0.2 * len(names)))
    image = ax.imshow(shares.T, cmap=cmap, vmin=0, vmax=1, aspect="auto")
    ax.set_yticks(range(len(names)), names, fontsize=7)
    ax.set_xticks(range(len(shares)), [str(j) for j in range(len(shares))])
    ax.set_xlabel("cluster")
    ax.figure.colorbar(image, ax=ax, label="share of rows")
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
