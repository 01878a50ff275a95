"""The page: every sentence and table is made from the figures. It needs no network and no script."""
import base64
import dataclasses
import html
import math

import numpy as np

import experiments
import figures
import printed
import stats

STYLE = """
:root{color-scheme:light dark}
body{margin:0 auto;max-width:1040px;padding:1rem;font:16px/1.5 system-ui,"DejaVu Sans",sans-serif}
h1{font-size:1.7rem;line-height:1.2}h2{margin-top:2.5rem;border-bottom:1px solid #8886}
p{max-width:46rem}small{opacity:.8}nav a{margin-right:1rem}a{color:inherit}
figure{margin:1rem 0}img{max-width:100%;background:#fff;border-radius:4px}
.wide{overflow-x:auto;margin:1rem 0}
table{border-collapse:collapse;font-size:.82rem;font-variant-numeric:tabular-nums}
caption{text-align:left;padding:.3rem 0;max-width:46rem}
th,td{padding:.2rem .5rem;text-align:right;border-bottom:1px solid #8884;white-space:nowrap}
th[scope=row]{text-align:left}.best{font-weight:700}.second{text-decoration:underline}.own{background:#56b4e933}
.pair{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,460px),1fr));gap:1rem}
@media print{body{max-width:none}h2{break-before:page}}
"""


def number(x, form=".3f"):
    return "-" if math.isnan(x) else format(x, form)


def table(header, rows, caption=""):
    """Rows of cells; the first cell of a row names it. Cells are HTML."""
    head = "".join(f'<th scope="col">{cell}</th>' for cell in header)
    body = "\n".join(f'<tr><th scope="row">{row[0]}</th>' + "".join(f"<td>{cell}</td>" for cell in row[1:]) + "</tr>"
                     for row in rows)
    title = f"<caption>{caption}</caption>" if caption else ""
    return f'<div class="wide"><table>{title}\n<tr>{head}</tr>\n{body}\n</table></div>\n'


def picture(path, words):
    data = base64.b64encode(path.read_bytes()).decode()
    return f'<figure><img alt="{html.escape(words)}" src="data:image/svg+xml;base64,{data}"></figure>\n'


# ---- Tables

@dataclasses.dataclass
class Cell:
    """Our runs of one method on one dataset beside the printed mean."""
    n: int  # runs; 0: the method has no result here
    mean: float = math.nan  # of the first runs
    deviation: float = math.nan
    mean_all: float = math.nan
    deviation_all: float = math.nan
    low: float = math.nan  # 5, 50 and 95 % of the ten-run means one could get
    middle: float = math.nan
    high: float = math.nan
    printed: float = math.nan
    printed_deviation: float = math.nan
    percentile: float = math.nan  # of the printed mean among them
    z: float = math.nan  # printed less ours in standard errors of a ten-run mean


def make_cell(values, runs, shown):
    values = values[~np.isnan(values)]
    if len(values) == 0:
        return Cell(0, printed=shown[0], printed_deviation=shown[1])
    means = stats.resample_means(values, printed.RUNS)
    low, middle, high = np.quantile(means, (0.05, 0.5, 0.95))
    cell = Cell(len(values), stats.mean(values[:runs]), stats.deviation(values[:runs]), stats.mean(values),
                stats.deviation(values), low, middle, high, *shown)
    error = cell.deviation_all / math.sqrt(printed.RUNS)
    if not math.isnan(cell.printed):
        cell.percentile = stats.percentile_of(cell.printed, means)
        cell.z = (cell.printed - cell.mean_all) / error if error > 1e-9 else math.nan
    return cell


def make_grids(found, runs):
    """{metric: {dataset: {method: Cell}}}, methods by the paper's names."""
    shown = printed.read_tables()
    return {metric: {dataset: {name: make_cell(scores[ours][:, m], runs, shown[metric, dataset, name])
                               for name, ours in printed.METHODS.items()} for dataset, scores in found.items()}
            for m, metric in enumerate(printed.METRICS)}


def values_of(grid, field):
    return np.array([[getattr(cell, field) for cell in cells.values()] for cells in grid.values()])


@dataclasses.dataclass
class Judged:
    """How one method's printed means lie among ours."""
    n: int
    inside: int  # our central 95 %
    above: int  # our 95th percentile
    z: np.ndarray


def judge(grid, method):
    cells = [cells[method] for cells in grid.values() if not math.isnan(cells[method].percentile)]
    return Judged(len(cells), sum(2.5 <= cell.percentile <= 97.5 for cell in cells),
                  sum(cell.percentile > 95 for cell in cells),
                  np.array([cell.z for cell in cells if not math.isnan(cell.z)]))


def tell_own_row(metric, grid):
    own = judge(grid, printed.OWN)
    others = [judge(grid, method) for method in printed.METHODS if method != printed.OWN]
    each = ", ".join(f"{dataset} {cells[printed.OWN].percentile:.1f}" for dataset, cells in grid.items()
                     if not math.isnan(cells[printed.OWN].percentile))
    return (f"<p>The printed COForest row of {metric} lies above the 95th percentile of honest ten-run means on "
            f"<b>{own.above} of {own.n}</b> datasets (percentiles: {each}). Of the ten counterparts' printed means "
            f"{sum(one.above for one in others)} of {sum(one.n for one in others)} do; chance would put one in twenty "
            "there.</p>\n")


def tell_agreement(metric, grid):
    rows = []
    for method in printed.METHODS:
        one = judge(grid, method)
        if one.z.size:
            rows.append((method, f"{math.sqrt(np.mean(one.z**2)):.2f}", f"{one.z.mean():+.2f}",
                         f"{one.inside} of {one.n}", one.above))
    return table(("", "root mean square", "mean", "in our central 95 %", "above our 95th percentile"), rows,
                 f"{metric}: do the printed means come from what we run? In standard errors of a ten-run mean; about 1 "
                 "and about 0 is what chance alone gives")


def tell_deviations(grid):
    """A printed deviation far above that of our runs says that the runs behind it were not like ours."""
    wide = [f"{method} on {dataset} ({cell.printed_deviation:.2f}, ours {cell.deviation_all:.2f})"
            for method in printed.METHODS for dataset, cells in grid.items() for cell in (cells[method],)
            if cell.printed_deviation >= 0.15 and cell.printed_deviation >= 2 * cell.deviation_all]
    return (f"<p>Printed deviations of CA that are at least 0.15 and at least twice ours: {', '.join(wide)}. Runs that "
            "failed and counted as 0 would look like that.</p>\n") if wide else ""


def tell_defaults(found, grids):
    defaults = {metric: {dataset: stats.mean(scores["default"][:, m]) for dataset, scores in found.items()}
                for m, metric in enumerate(printed.METRICS)}
    own = {metric: {dataset: cells[printed.OWN] for dataset, cells in grids[metric].items()} for metric in grids}
    overall = [("COForest, one random start",
                *(number(np.mean([cell.mean_all for cell in own[metric].values()])) for metric in own)),
               ("COForest as <code>coforest fit</code> runs it",
                *(number(np.mean(list(defaults[metric].values()))) for metric in own)),
               ("printed COForest row",
                *(number(np.mean([cell.printed for cell in own[metric].values()])) for metric in own))]
    rows = [(dataset, *(cell for metric in own for cell in
                        (number(own[metric][dataset].mean_all), f'<span class="own">{defaults[metric][dataset]:.3f}'
                         "</span>", number(own[metric][dataset].printed)))) for dataset in found]
    gains = {dataset: defaults["ARI"][dataset] - own["ARI"][dataset].mean_all for dataset in found}
    worse = [dataset for dataset, gain in gains.items() if gain < -0.005]
    behind = f" and behind it on {len(worse)} ({', '.join(worse)})" if worse else ""
    return ("<h3>Beyond one start</h3>\n<p>The result of one random start depends on chance. <code>coforest fit</code> "
            "tries ten to a hundred starts of two kinds in turn, keeps the one that gains most over a single cluster "
            "in both likelihood and tightness, which see no class, and uses the paper's own scaling. Mean over the "
            "datasets:</p>\n" + table(("", *printed.METRICS), overall)
            + table(("", *(f"{metric} {word}" for metric in own for word in ("start", "defaults", "printed"))), rows,
                    "By dataset: one random start, our defaults, printed")
            + f"<p>By ARI the defaults are ahead of the mean random start on {sum(g > 0.005 for g in gains.values())} "
            f"of {len(gains)} datasets{behind}; the rest differ by less than 0.005.</p>\n")


def tell_metric(metric, grid):
    def show(cells, cell):
        better = sum(other.mean > cell.mean + 1e-12 for other in cells.values())
        place = {0: "best", 1: "second"}.get(better, "") if cell.n else ""
        spread = "" if math.isnan(cell.deviation) else f"±{cell.deviation:.2f}"
        ours = f'<span class="{place}">{cell.mean:.4f}{spread}</span>' if cell.n else "-"
        theirs = "-" if math.isnan(cell.printed) else f"{cell.printed:.4f}±{cell.printed_deviation:.2f}"
        among = "" if math.isnan(cell.percentile) else f", {cell.percentile:.0f} %"
        return f"{ours}<br><small>{theirs}{among}</small>"
    rows = [(dataset, *(show(cells, cell) for cell in cells.values())) for dataset, cells in grid.items()]
    if len(grid) > 1:
        ours, theirs = stats.friedman(values_of(grid, "mean")), stats.friedman(values_of(grid, "printed"))
        shown = printed.RANKS[metric] if len(grid) == 12 else theirs.ranks
        rows.append(("mean rank", *(f"{a:.4f}<br><small>{b:.4f}</small>" for a, b in zip(ours.ranks, shown))))
    text = table(("", *printed.METHODS), rows,
                 f"{metric}: our mean±deviation, best <b>bold</b>, second <u>underlined</u>; below it the printed one "
                 "and its percentile among our ten-run means")
    if len(grid) < 2:
        return text + "<p>With fewer than two datasets there is nothing to rank over.</p>\n"
    differences = [stats.critical_difference(len(grid), len(printed.METHODS), alpha) for alpha in (0.05, 0.1)]
    ahead = np.sum(ours.ranks > ours.ranks[-1] + differences[0])
    return text + (
        f"<p>{metric}, Friedman on our means: χ² = {ours.chi_square:.2f}, p = {ours.p:.2g} (corrected for ties "
        f"{ours.p_tied:.2g}; Iman and Davenport F = {ours.f:.2f}, p = {ours.p_f:.2g}). On the printed means of the "
        f"same datasets: χ² = {theirs.chi_square:.2f}, p = {theirs.p:.2g} (corrected {theirs.p_tied:.2g}); printed p = "
        f"{printed.P_VALUES[metric]:g}. Critical differences of Bonferroni and Dunn: {differences[0]:.4f} at 0.05, "
        f"{differences[1]:.4f} at 0.1 (printed for twelve datasets: {printed.CRITICAL_DIFFERENCES[0]} and "
        f"{printed.CRITICAL_DIFFERENCES[1]}). At 0.05 COForest is ahead of {ahead} of 10 counterparts in our "
        "runs.</p>\n")


TABLES_CHOICES = """<p>Run i of every method has seed i and begins with the same k random rows; the table's means are
those of the first runs, whatever they are. The distribution of ten-run means is drawn from all runs. No seed was chosen
by its score. COForest uses the scaling of the authors' released program here. Three things the paper does not say but
its figures show: NS was run with 5 classes (printed: 4), DS with the second decision as its class, and SB with the 21
attributes that vary (printed: 35). CBDM has no result where attributes are independent (CE, NS, LS). With the 47 rows of
SB many values are equally good modes, and the lowest code wins, so its figures depend on how values are numbered.</p>
"""


def tell_tables(lab, found):
    grids = make_grids(found, lab.runs)
    text = TABLES_CHOICES + "".join(tell_own_row(metric, grid) for metric, grid in grids.items())
    text += tell_agreement("CA", grids["CA"]) + tell_deviations(grids["CA"]) + tell_defaults(found, grids)
    names = list(printed.METHODS)
    for metric, grid in grids.items():
        means = lab.out / f"means_{metric.lower()}.svg"
        figures.draw_means(means, metric, grid)
        text += f"<h3>{metric}</h3>\n" + picture(means, f"{metric} of every method on every dataset")
        text += tell_metric(metric, grid)
        if len(grid) < 2:
            continue
        text += '<div class="pair">\n'
        for field, words in (("mean", "our means"), ("printed", "the printed means")):
            path = lab.out / f"ranks_{metric.lower()}{'_printed' if field == 'printed' else ''}.svg"
            figures.draw_ranks(path, names, stats.friedman(values_of(grid, field)).ranks,
                               stats.critical_difference(len(grid), len(names), 0.05))
            text += f"<div><h4>Ranks of {words}</h4>{picture(path, f'Mean ranks of {words}')}</div>\n"
        text += "</div>\n"
    write_summary(lab, grids)
    return text


def write_summary(lab, grids):
    fields = ("n", "mean", "deviation", "mean_all", "low", "middle", "high", "printed", "printed_deviation",
              "percentile")
    rows = [(metric, dataset, method, *(getattr(cell, field) for field in fields)) for metric, grid in grids.items()
            for dataset, cells in grid.items() for method, cell in cells.items()]
    write_csv(lab.out / "tables_summary.csv",
              ("metric", "dataset", "method", "runs", "mean", "deviation", "mean_of_all_runs", "ten_run_p5",
               "ten_run_p50", "ten_run_p95", "printed_mean", "printed_deviation", "percentile_of_printed"), rows)
    tests = []
    for metric, grid in grids.items():
        for field in ("mean", "printed") if len(grid) > 1 else ():
            test = stats.friedman(values_of(grid, field))
            tests.append((metric, "ours" if field == "mean" else "printed", len(grid), test.chi_square, test.p,
                          test.chi_square_tied, test.p_tied, test.f, test.p_f, *test.ranks))
    write_csv(lab.out / "tables_ranks.csv", ("metric", "means", "datasets", "chi_square", "p", "chi_square_tied",
                                             "p_tied", "f", "p_f", *(f"rank_{name}" for name in printed.METHODS)),
              tests)


# ---- The others

def tell_toy(lab, found):
    best = sum(np.nanmax(one["rglg"][:, 0]) > stats.mean(one["fcg"][:, 0]) for one in found.values())
    spread = np.mean([np.ptp(one["rglg"][:, 0]) for one in found.values()])
    semantic = sum(stats.mean(one["slg"][:, 0]) > stats.mean(one["fcg"][:, 0]) for one in found.values())
    figures.draw_toy(lab.out / "toy.svg", found)
    return (f"<p>k-modes with hop counts along a graph over each attribute's values. Some random line graph beats the "
            f"mean of the complete graphs on {best} of {len(found)} datasets, and between the worst and the best trial "
            f"CA differs by {spread:.2f} on average: the structure matters, and so does the start, which changes with "
            f"every trial. The lines in semantic order beat the complete graphs on {semantic} datasets. That some trial "
            "beats a mean proves little by itself; the paper's figure shows the same. Where all attributes are binary "
            "(HF, DS) every graph is the same and the curves coincide.</p>\n"
            + picture(lab.out / "toy.svg", "CA of the toy graphs, trials sorted, on every dataset"))


def tell_ablation(lab, found):
    def not_worse(a, b):
        """Datasets on which a's mean CA is at least b's; differences below a thousandth are none."""
        return sum(stats.mean(one[a][:, 0]) >= stats.mean(one[b][:, 0]) - 0.001 for one in found.values())
    rows = [(f"{experiments.ABLATIONS[a]} than {experiments.ABLATIONS[b]}", f"{not_worse(a, b)} of {len(found)}",
             "-" if shown is None else f"{shown} of 12") for (a, b), shown in printed.ABLATIONS.items()]
    figures.draw_ablation(lab.out / "ablation.svg", found)
    return ("<p>Datasets on which the first is not worse than the second, by mean CA and to a thousandth. The bars are "
            "means over all runs; the whiskers show how far a ten-run mean strays.</p>\n"
            + table(("not worse", "our runs", "printed"), rows)
            + picture(lab.out / "ablation.svg", "CA of COForest and its ablations"))


def tell_convergence(lab, found):
    rows = []
    for dataset, one in found.items():
        passes, rises, rises_new = one["runs"].T
        rows.append((dataset, f"{np.median(passes):.0f}", passes.max(), f"{100 * np.mean(passes <= 15):.0f} %",
                     f"{100 * np.mean(rises > 0):.1f} %", f"{100 * np.mean(rises_new > 0):.1f} %"))
    figures.draw_convergence(lab.out / "convergence.svg", found)
    return ("<p>Passes are counted from the first forest on; the k-modes start before it is not among them. The paper "
            "says that L falls with every new forest and that most runs end within 15 iterations. Over all our "
            "runs:</p>\n"
            + table(("", "median passes", "most", "runs within 15", "runs in which L rose under one forest",
                     "runs in which L rose with a new forest"), rows)
            + "<p>L can rise under one forest because the mean distance to a cluster's members favours tight clusters. "
            "Across forests it is measured with other distances, so a comparison says little either way.</p>\n"
            + picture(lab.out / "convergence.svg", "L of COForest in every pass"))


def tell_time(lab, found):
    rows = []
    for name, ours in printed.METHODS.items():
        cells = []
        for points in (found["n"][ours], found["l"][ours]):
            if not points:
                cells += ["-"] * 3
                continue
            (x0, y0), (x1, y1) = points[0][:2], points[-1][:2]
            slope = math.log(y1 / y0) / math.log(x1 / x0) if len(points) > 1 and min(y0, y1) > 0 else math.nan
            cells += [f"{x1}", f"{y1:.3g} s", number(slope, ".2f")]
        rows.append((name, *cells))
    figures.draw_time(lab.out / "time.svg", found, experiments.time_axes(lab))
    return ("<p>Independent, uniform columns with five values, k = 5, one random start, one thread, each fit timed once, "
            "in seconds of the processor. Methods that compare every pair of attributes grow with l²; a point that was "
            f"likely to take more than {experiments.time_cap(lab)} s was left out, with all larger ones. The exponent is "
            "the slope between the first and the last point: 1 is linear.</p>\n"
            + table(("", "largest n", "time", "exponent", "largest l", "time", "exponent"), rows)
            + picture(lab.out / "time.svg", "Seconds of every method against rows and against attributes"))


def tell_tsne(lab, found):
    figures.draw_tsne(lab.out / "tsne.svg", found)
    rows = [(experiments.MAPS[method], f"{100 * one['by_distance']:.1f} %", f"{100 * one['on_map']:.1f} %")
            for method, one in found.items()]
    return ("<p>Rows of AC, placed by scikit-learn's t-SNE on the sum over the attributes of each method's value "
            "distances. COForest's come from a fit with our defaults, which sees no class. How many of a row's ten "
            "nearest rows have its class:</p>\n" + table(("", "by distance", "on the map"), rows)
            + "<p>Equal shares mean that the maps differ in looks more than in what they keep together.</p>\n"
            + picture(lab.out / "tsne.svg", "Maps of AC under three value distances"))


def tell_mixed(lab, found):
    rows = [(dataset, *(cell for m, method in enumerate(experiments.MIXED) for cell in
                        (number(stats.mean(one[method][:, 0])), f"{printed.MIXED[dataset][m]:g}")))
            for dataset, one in found.items()]
    figures.draw_mixed(lab.out / "mixed.svg", found)
    return ("<p>Mean CA, with quantities scaled to 0..1. COForest learns its distances on the categories and "
            "k-prototypes uses them. The supplement does not print numbers or say how the quantities were scaled, and "
            "ek-prototypes is known from its abstract only: our version of it is a reconstruction, so its bars say "
            "little.</p>\n"
            + table(("", *(cell for word in experiments.MIXED.values() for cell in (word, "printed, about"))), rows)
            + picture(lab.out / "mixed.svg", "CA on mixed data, ours beside the printed"))


# ---- Files

def write_csv(path, header, rows):
    def text(cell):
        return "" if isinstance(cell, float) and math.isnan(cell) else str(cell)
    lines = [",".join(map(text, row)) for row in (header, *rows)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def write_page(path, sections, lab):
    """sections: (name, title, HTML or None)"""
    links = "\n".join(f'<a href="#{name}">{name}</a>' for name, _, _ in sections)
    body = "".join(f'<section id="{name}">\n<h2>{title}</h2>\n'
                   + (text or f"<p>Not run yet: <code>paper/run {name}</code>.</p>\n") + "</section>\n"
                   for name, title, text in sections)
    path.write_text(
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>COForest's experiments, run again</title>\n<style>{STYLE}</style>\n</head>\n<body>\n"
        "<h1>COForest's experiments, run again</h1>\n<p>The experiments of “Learning Order Forest for "
        "Qualitative-Attribute Data Clustering” (ECAI 2024) and its supplement, run again from the data, beside the "
        f"printed figures. Made with {html.escape(lab.version)}. Everything below is made from the numbers in the CSV "
        f"files next to this page.</p>\n<nav>{links}</nav>\n{body}</body>\n</html>\n", encoding="utf-8")
