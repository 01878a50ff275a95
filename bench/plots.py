"""Plots of what bench/run found: plots.py RESULTS.json FOLDER writes an SVG and a PNG of each."""
import json
import math
import pathlib
import re
import statistics
import sys

INK, PALE, BOUND = "#1f4e79", "#9db7d1", "#b5562b"


def style(plt):
    plt.rcParams.update({"font.size": 9, "axes.spines.top": False, "axes.spines.right": False,
                         "axes.edgecolor": "#555555", "axes.labelcolor": "#222222", "xtick.color": "#444444",
                         "ytick.color": "#444444", "svg.fonttype": "none", "figure.constrained_layout.use": True})


def number(value):
    """Short enough for the ticks of a narrow panel."""
    if value >= 1_000_000:
        return f"{value / 1_000_000:g} M"
    return f"{value:,.0f}" if value >= 1 else f"{value:.6g}"


def logarithmic(axis, low, high):
    """Plain numbers at 1, 10, 100; at 2 and 5 as well where there are few of those."""
    import matplotlib.ticker as ticker

    decades = math.log10(high / low)
    axis.set_major_locator(ticker.LogLocator(subs=(1,) if decades > 2.2 else (1, 2, 5), numticks=20))
    axis.set_major_formatter(ticker.FuncFormatter(lambda v, _: number(v)))
    axis.set_minor_formatter(ticker.NullFormatter())


def middle_and_whiskers(ys):
    middle = [statistics.median(y) for y in ys]
    return middle, [[m - min(y) for m, y in zip(middle, ys)], [max(y) - m for m, y in zip(middle, ys)]]


def bars(plt, series, wanted):
    """How many times as long each peer takes, on a logarithmic axis, with what was wanted."""
    order = sorted(range(len(series["x"])), key=lambda i: statistics.median(series["y"][i]))
    names = [series["x"][i] for i in order]
    middle, whiskers = middle_and_whiskers([series["y"][i] for i in order])
    figure, axes = plt.subplots(figsize=(6.4, 0.8 + 0.36 * len(names)))
    axes.errorbar(middle, range(len(names)), xerr=whiskers, fmt="o", color=INK, ecolor=PALE, elinewidth=3, markersize=5)
    for at, name in enumerate(names):
        if wanted.get(name) is not None:
            axes.plot([wanted[name]] * 2, [at - 0.3, at + 0.3], color=BOUND, linewidth=1.5)
        axes.annotate(f"{middle[at]:,.3g}" if middle[at] < 1000 else f"{middle[at]:,.0f}", (middle[at], at),
                      textcoords="offset points", xytext=(0, 6), ha="center", fontsize=8, color=INK)
    axes.set_xscale("log")
    low = min(1.0, *(min(y) for y in series["y"])) * 0.8
    high = max(*(max(y) for y in series["y"]), *(w for w in wanted.values()), 2) * 1.5
    axes.set_xlim(low, high)
    logarithmic(axes.xaxis, low, high)
    axes.set_ylim(-0.6, len(names) - 0.3)
    axes.set_yticks(range(len(names)), names)
    axes.set_xlabel(series["y_label"] + ("; the bar marks what is wanted" if any(wanted.values()) else ""))
    axes.set_title(series["name"], fontsize=9, loc="left")
    return figure


def curve(plt, series):
    figure, axes = plt.subplots(figsize=(4.8, 3.4))
    draw_curve(axes, series)
    return figure


def panels(plt, all_series):
    """Several curves with the same y in one picture."""
    figure, axes = plt.subplots(1, len(all_series), figsize=(2.4 * len(all_series), 2.8), sharey=True)
    ys = [y for series in all_series for values in series["y"] for y in values]
    for at, (one, series) in enumerate(zip(axes, all_series)):
        draw_curve(one, series)
        one.set_ylim(min(ys) / 1.5, max(ys) * 1.5)
        if at > 0:
            one.set_ylabel("")
    return figure


def draw_curve(axes, series):
    """Points on logarithmic axes, with the power law through them or the bound above them."""
    middle, whiskers = middle_and_whiskers(series["y"])
    axes.errorbar(series["x"], middle, yerr=whiskers, fmt="o", color=INK, ecolor=PALE, elinewidth=3, markersize=4)
    if "exponent" in series:
        power = series["exponent"]
        factor = statistics.geometric_mean([y / x ** power for x, y in zip(series["x"], middle)])
        axes.plot(series["x"], [factor * x ** power for x in series["x"]], color=INK, linewidth=1,
                  label=f"exponent {power:.2f}")
    if "bound" in series:
        axes.plot(series["x"], series["bound"], color=BOUND, linewidth=1, label=series["bound_name"])
    if "exponent" in series or "bound" in series:
        axes.legend(frameon=False)
    ys = [y for ys in series["y"] for y in ys] + series.get("bound", [])
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_ylim(min(ys) / 1.5, max(ys) * 1.5)
    logarithmic(axes.xaxis, min(series["x"]), max(series["x"]))
    logarithmic(axes.yaxis, min(ys) / 1.5, max(ys) * 1.5)
    axes.set_xlabel(series["x_label"])
    axes.set_ylabel(series["y_label"])


def wanted_of(results, title):
    """Peer -> the number in "at least N"."""
    found = {}
    for line in results["lines"]:
        prefix = f"{title}: "
        if line["name"].startswith(prefix) and line["wanted"]:
            found[line["name"][len(prefix):]] = float(line["wanted"].split()[-1].replace(",", ""))
    return found


def main(path, folder):
    import matplotlib

    matplotlib.use("agg")
    import matplotlib.pyplot as plt

    results = json.loads(pathlib.Path(path).read_text(encoding="utf-8"))
    style(plt)
    def save(figure, section, title):
        name = re.sub(r"[^a-z0-9]+", "-", f"{section} {title}".lower()).strip("-")
        for ending in ("svg", "png"):
            figure.savefig(pathlib.Path(folder) / f"{name}.{ending}", dpi=160)
        plt.close(figure)
        print(f"drawn: {name}")

    joined = {}
    for series in results["series"]:
        if "panel" in series:
            joined.setdefault((series["section"], series["panel"]), []).append(series)
            continue
        categories = isinstance(series["x"][0], str)
        figure = bars(plt, series, wanted_of(results, series["name"])) if categories else curve(plt, series)
        save(figure, series["section"], series["name"])
    for (section, title), all_series in joined.items():
        save(panels(plt, all_series), section, title)


if __name__ == "__main__":
    main(*sys.argv[1:])
