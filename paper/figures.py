"""The pictures, as SVG."""
import math

import matplotlib

matplotlib.use("svg")
import matplotlib.lines  # noqa: E402
import matplotlib.pyplot as plt  # noqa: E402
import matplotlib.ticker  # noqa: E402
import numpy as np  # noqa: E402

import experiments  # noqa: E402
import printed  # noqa: E402
import stats  # noqa: E402

# Okabe and Ito's colours, which most colour-blind readers can tell apart.
BLUE, ORANGE, GREEN, PURPLE, RED, SKY, GREY = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#d55e00", "#56b4e9",
                                               "#777777")
COLOURS = (BLUE, ORANGE, GREEN, PURPLE, RED)
plt.rcParams.update({"font.size": 8, "axes.spines.top": False, "axes.spines.right": False, "axes.titlesize": 9,
                     "axes.titleweight": "bold", "axes.titlelocation": "left", "legend.frameon": False,
                     "svg.hashsalt": "coforest", "figure.constrained_layout.use": True})


def save(figure, path):
    figure.savefig(path, metadata={"Date": None})  # so that equal figures make equal files
    plt.close(figure)


def panels(n, columns, width, height):
    """A figure with n panels and room for a legend above them."""
    columns = min(columns, n)
    rows = math.ceil(n / columns)
    figure, axes = plt.subplots(rows, columns, figsize=(columns * width, rows * height + 0.4), squeeze=False)
    for unused in axes.flat[n:]:
        unused.set_visible(False)
    return figure, axes.flat[:n]


def legend(figure, handles):
    figure.legend(handles=handles, loc="outside upper left", ncols=len(handles))


def line(label, **style):
    return matplotlib.lines.Line2D([], [], label=label, **style)


def draw_means(path, metric, grid):
    """grid: {dataset: {method: Cell}}; ten-run means of every method on every dataset, beside the printed ones."""
    figure, axes = panels(len(grid), 3, 3.3, 2.4)
    for axis, (dataset, cells) in zip(axes, grid.items()):
        for y, (method, cell) in enumerate(cells.items()):
            if cell.n == 0:
                axis.text(0.02, y, "no result", transform=axis.get_yaxis_transform(), va="center", color=GREY)
                continue
            axis.plot([cell.low, cell.high], [y, y], lw=6, solid_capstyle="butt",
                      color=ORANGE if method == printed.OWN else SKY)
            axis.plot([cell.middle], [y], "|", ms=8, mew=1.2, color="black")
            axis.plot([cell.printed], [y], "D", ms=4.5, mfc="white", mec="black")
        axis.set(title=dataset, ylim=(len(cells) - 0.4, -0.6), yticks=range(len(cells)), yticklabels=list(cells))
        axis.get_yticklabels()[-1].set_fontweight("bold")
        axis.margins(x=0.06)
        axis.tick_params(left=False)
        axis.grid(axis="x", color="#dddddd", lw=0.5)
        axis.set_axisbelow(True)
    legend(figure, [line(f"{metric}: our ten-run means, 5 to 95 %", lw=6, color=SKY),
                    line("the same of COForest", lw=6, color=ORANGE),
                    line("their median", ls="", marker="|", ms=8, color="black"),
                    line("printed mean", ls="", marker="D", mfc="white", mec="black")])
    save(figure, path)


def draw_ranks(path, names, ranks, difference):
    """Mean ranks on an axis, with the range that does not differ from COForest's by Bonferroni and Dunn."""
    order = np.argsort(ranks, kind="stable")
    half = math.ceil(len(order) / 2)
    figure, axis = plt.subplots(figsize=(5, 0.5 + 0.19 * half), layout="none")
    figure.subplots_adjust(left=0.2, right=0.8, top=0.86, bottom=0.03)
    axis.set(xlim=(1, len(order)), ylim=(half + 0.7, 0), yticks=[], xticks=range(1, len(order) + 1))
    axis.xaxis.tick_top()
    axis.spines[["left", "bottom"]].set_visible(False)
    axis.spines["top"].set_visible(True)
    own = ranks[names.index(printed.OWN)]
    axis.axvspan(max(own - difference, 1), min(own + difference, len(order)), color=ORANGE, alpha=0.25, lw=0)
    for place, method in enumerate(order):
        left = place < half
        y = (place if left else len(order) - 1 - place) + 1
        end = 1 if left else len(order)
        axis.plot([ranks[method]] * 2 + [end], [0, y, y], lw=0.8, color="black", clip_on=False)
        axis.annotate(f"{names[method]}  {ranks[method]:.2f}", (end, y), (-4 if left else 4, 0), va="center",
                      textcoords="offset points", ha="right" if left else "left", annotation_clip=False,
                      fontweight="bold" if names[method] == printed.OWN else "normal")
    save(figure, path)


def whole_numbers(axis):
    axis.xaxis.set_major_locator(matplotlib.ticker.MaxNLocator(5, integer=True))


def draw_toy(path, found):
    figure, axes = panels(len(found), 4, 2.5, 1.9)
    styles = {"rgg": dict(color=SKY, lw=3), "rglg": dict(color=RED, lw=1.2), "fcg": dict(color=GREEN, ls="--"),
              "slg": dict(color=PURPLE, ls="--")}
    for axis, (dataset, scores) in zip(axes, found.items()):
        for graph in ("rgg", "rglg"):
            values = np.sort(scores[graph][:, 0])
            axis.plot(range(1, len(values) + 1), values, **styles[graph])
        for graph in ("fcg", "slg"):
            axis.axhline(stats.mean(scores[graph][:, 0]), **styles[graph])
        axis.set(title=dataset, xlim=(0, len(scores["rgg"]) + 1))
        whole_numbers(axis)
    legend(figure, [line(experiments.GRAPHS[graph], **style) for graph, style in styles.items()])
    figure.supxlabel("trial, sorted by CA")
    figure.supylabel("CA")
    save(figure, path)


def bar(axis, x, width, values, **style):
    """The mean of all runs; the whisker is the deviation of a ten-run mean around it."""
    mean, error = stats.mean(values), stats.deviation(values) / math.sqrt(printed.RUNS)
    if math.isnan(mean):
        return
    axis.bar(x, mean, width, **style)
    axis.errorbar(x, mean, 0 if math.isnan(error) else error, color="black", lw=0.8)
    axis.text(x, mean + (0 if math.isnan(error) else error) + 0.015, f"{mean:.3f}"[1 if mean < 1 else 0:],
              ha="center", fontsize=7)


def draw_ablation(path, found):
    figure, axes = panels(len(found), 4, 2.5, 1.9)
    for axis, (dataset, scores) in zip(axes, found.items()):
        for x, method in enumerate(experiments.ABLATIONS):
            bar(axis, x, 0.8, scores[method][:, 0], color=COLOURS[x])
        axis.set(title=dataset, ylim=(0, 1.15), yticks=(0, 0.5, 1), xticks=range(5),
                 xticklabels=("IV", "III", "II", "I", "full"))
    legend(figure, [line(word, lw=6, color=colour) for word, colour in zip(experiments.ABLATIONS.values(), COLOURS)])
    figure.supylabel("mean CA")
    save(figure, path)


def draw_convergence(path, found):
    figure, axes = panels(len(found), 4, 2.5, 1.9)
    for axis, (dataset, one) in zip(axes, found.items()):
        x, y, rebuild = np.array(one["curve"]).T
        new = np.diff(rebuild, prepend=-1) != 0
        axis.plot(x, y, color=BLUE)
        axis.plot(x[new], y[new], "o", ms=4, color=RED)
        axis.plot(x[-1], y[-1], "s", ms=8, mfc="none", mec=GREEN)
        axis.set(title=dataset, xlim=(0.5, max(x[-1], 2) + 0.5))
        axis.margins(y=0.12)
        whole_numbers(axis)
    legend(figure, [line("L after each pass, from the start with seed 1", color=BLUE),
                    line("first pass with a new forest", ls="", marker="o", ms=4, color=RED),
                    line("end", ls="", marker="s", ms=8, mfc="none", mec=GREEN)])
    figure.supxlabel("pass")
    save(figure, path)


def spread(positions, gap):
    """The positions, pushed apart where they are nearer than the gap."""
    placed = np.array(positions, float)
    order = np.argsort(placed)
    for _ in range(200):
        for low, high in zip(order, order[1:]):
            lacking = gap - (placed[high] - placed[low])
            if lacking > 0:
                placed[low] -= lacking / 2
                placed[high] += lacking / 2
    return placed


def draw_time(path, found, axes_of):
    figure, axes = plt.subplots(1, 2, figsize=(10, 4.2))
    names = {ours: theirs for theirs, ours in printed.METHODS.items()}
    colours = plt.get_cmap("tab10").colors
    words = {"n": "rows (n), {} attributes", "l": "attributes (l), {} rows"}
    for axis, (kind, (other, _)) in zip(axes, axes_of.items()):
        curves = {method: np.array(points) for method, points in found[kind].items() if points}
        axis.set(yscale="log", xlabel=words[kind].format(other), ylabel="processor seconds")
        for i, (method, points) in enumerate(curves.items()):
            own = method == "coforest"
            axis.plot(points[:, 0], points[:, 1], color=RED if own else colours[i % 10], lw=2.2 if own else 1,
                      marker="o" if own else None, ms=3)
        axis.margins(x=0.02)
        figure.canvas.draw()
        low, high = np.log10(axis.get_ylim())
        ends = spread([np.log10(points[-1, 1]) for points in curves.values()], (high - low) / 24)
        right = axis.get_xlim()[1]
        for (method, points), end in zip(curves.items(), ends):
            axis.annotate(names[method], (points[-1, 0], points[-1, 1]), (right * 1.04, 10**end), va="center",
                          annotation_clip=False, fontweight="bold" if method == "coforest" else "normal",
                          arrowprops=dict(arrowstyle="-", lw=0.4, color=GREY))
    save(figure, path)


def draw_tsne(path, found):
    figure, axes = panels(len(found), 3, 3.3, 3.2)
    classes = sorted({one for maps in found.values() for one in maps["classes"]})
    styles = [dict(marker="o", s=9, color=BLUE), dict(marker="D", s=9, color=RED)]
    for axis, (method, one) in zip(axes, found.items()):
        for each, style in zip(classes, styles):
            points = one["points"][np.array(one["classes"]) == each]
            axis.scatter(points[:, 0], points[:, 1], alpha=0.6, lw=0, **style)
        axis.set(title=f"{experiments.MAPS[method]} @ AC", xticks=[], yticks=[])
        axis.set_aspect("equal", adjustable="datalim")
        axis.spines[:].set_visible(False)
    legend(figure, [line(f"class {each}", ls="", marker=style["marker"], ms=5, color=style["color"])
                    for each, style in zip(classes, styles)])
    save(figure, path)


def draw_mixed(path, found):
    figure, axes = panels(len(found), 2, 3.8, 2.2)
    for axis, (dataset, scores) in zip(axes, found.items()):
        for x, method in enumerate(experiments.MIXED):
            bar(axis, x - 0.2, 0.36, scores[method][:, 0], color=COLOURS[x])
            shown = printed.MIXED[dataset][x]
            axis.bar(x + 0.2, shown, 0.36, color=COLOURS[x], alpha=0.35)
            axis.text(x + 0.2, shown + 0.015, f"{shown:g}"[1:], ha="center", fontsize=7)
        axis.set(title=dataset, ylim=(0, 1), xticks=range(3), xticklabels=experiments.MIXED.values())
    legend(figure, [line("mean CA of our runs", lw=6, color=BLUE),
                    line("read off the printed figure", lw=6, color=BLUE, alpha=0.35)])
    save(figure, path)
