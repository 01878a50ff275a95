"""The command: reads what is asked, runs the experiments, and writes their files and the page."""
import argparse
import os
import pathlib
import shutil
import sys
import time

import experiments
import page
import printed
from lab import Failure, Lab

HERE = pathlib.Path(__file__).resolve().parent


def score_rows(found):
    return [(part, series, run + 1, *values) for part, each in found.items() for series, scores in each.items()
            for run, values in enumerate(scores.tolist())]


def convergence_rows(found):
    return [row for dataset, one in found.items() for row in
            [(dataset, "curve", *point) for point in one["curve"]]
            + [(dataset, "run", run + 1, *counts) for run, counts in enumerate(one["runs"].tolist())]]


def time_rows(found):
    return [(axis, method, *point) for axis, each in found.items() for method, points in each.items()
            for point in points]


def tsne_rows(found):
    return [(method, row + 1, *point, one["classes"][row]) for method, one in found.items()
            for row, point in enumerate(one["points"].tolist())]


SCORES = ("run", "ca", "ari", "nmi")
# name: (title, what it runs, columns of its CSV, rows of its CSV, its section of the page)
EXPERIMENTS = {
    "tables": ("Eleven methods on twelve datasets", experiments.tables, ("dataset", "method", *SCORES), score_rows,
               page.tell_tables),
    "toy": ("The toy experiment: which graph over the values?", experiments.toy, ("dataset", "graph", *SCORES),
            score_rows, page.tell_toy),
    "ablation": ("The ablations", experiments.ablation, ("dataset", "method", *SCORES), score_rows,
                 page.tell_ablation),
    "convergence": ("Convergence", experiments.convergence,
                    ("dataset", "series", "pass_or_run", "objective_or_passes", "rebuild_or_rises", "rises_new_forest"),
                    convergence_rows, page.tell_convergence),
    "time": ("Execution time", experiments.time,
             ("axis", "method", "size", "processor_seconds", "seconds", "passes"), time_rows, page.tell_time),
    "tsne": ("Maps of AC by t-SNE", experiments.tsne, ("method", "row", "x", "y", "class"), tsne_rows, page.tell_tsne),
    "mixed": ("Mixed data", experiments.mixed, ("dataset", "method", *SCORES), score_rows, page.tell_mixed),
}


def find_program(given):
    built = [HERE.parent / folder / "coforest" for folder in ("build", "build-release")]
    for path in [given] if given else [*map(str, built), "coforest"]:
        if shutil.which(path):
            return shutil.which(path)
    raise Failure(f"there is no program {given}" if given else
                  "there is no program coforest; build it with scripts/demo, or name one with --coforest")


def find_data(given):
    folder = pathlib.Path(given or os.environ.get("COFOREST_DATA") or HERE.parent.parent / "shared" / "data")
    if not folder.is_dir() and given:
        raise Failure(f"there is no folder {folder}; --data says where the tables are")
    return folder


def read_arguments():
    parser = argparse.ArgumentParser(
        prog="paper/run", description="Runs the experiments of the COForest paper and its supplement again and puts the "
        "results beside the printed figures.")
    parser.add_argument("experiment", nargs="*", metavar="EXPERIMENT", help=f"{', '.join(EXPERIMENTS)} (default: all)")
    parser.add_argument("--quick", action="store_true", help="fewer runs and smaller tables")
    parser.add_argument("--runs", type=int, default=printed.RUNS, help="runs behind each mean (default: 10)")
    parser.add_argument("--data", metavar="DIR", help="where the tables are (default: COFOREST_DATA, else "
                        "../shared/data beside the source tree); those that are not there are left out")
    parser.add_argument("--out", metavar="DIR", default=HERE / "out", type=pathlib.Path,
                        help="where the files go (default: paper/out); fits that are kept there are not run again")
    parser.add_argument("--coforest", metavar="PROGRAM", help="the program (default: build/coforest, else coforest)")
    parser.add_argument("--threads", type=int, default=0, help="threads to use (default: all cores)")
    given = parser.parse_args()
    for name in given.experiment:
        if name not in EXPERIMENTS:
            parser.error(f"there is no experiment {name}; there are {', '.join(EXPERIMENTS)}")
    if given.runs < 1:
        parser.error("--runs must be at least 1")
    return given


def run_experiment(lab, name, wanted):
    """Its section of the page; None if there is nothing to show."""
    _, run, columns, rows, tell = EXPERIMENTS[name]
    lab.running = wanted
    lab.begin()
    begun = time.monotonic()
    found = run(lab)
    lab.show("")
    if not found:
        if wanted:
            print(f"{name:12} left out: its tables are not there")
        return None
    page.write_csv(lab.out / f"{name}.csv", columns, rows(found))
    text = tell(lab, found)
    if wanted:
        print(f"{name:12} {lab.n_parts} parts, {lab.n_kept} kept from before, {time.monotonic() - begun:.1f} s",
              flush=True)
    return text + (f"<p><small>Runs behind a mean: {lab.runs}. The fits took {lab.seconds:.1f} s. Data: "
                   f'<a href="{name}.csv">{name}.csv</a>.</small></p>\n')


def run_all(given):
    data = find_data(given.data)
    program = find_program(given.coforest)
    given.out.mkdir(parents=True, exist_ok=True)
    lab = Lab(program, data, given.out, given.runs, given.quick, given.threads)
    if lab.absent:
        print(f"Left out, not in {data}: {', '.join(lab.absent)}. They come from the UCI Machine Learning Repository; "
              "paper/README.md says in which form, and --data or COFOREST_DATA says where they are.", file=sys.stderr)
    sections = [(name, EXPERIMENTS[name][0], run_experiment(lab, name, name in (given.experiment or EXPERIMENTS)))
                for name in EXPERIMENTS]
    page.write_page(given.out / "index.html", sections, lab)
    print(f"Wrote:       {given.out / 'index.html'}")


def main():
    given = read_arguments()
    try:
        run_all(given)
    except (Failure, OSError) as failure:
        print(f"paper/run: {failure}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print(f"paper/run: interrupted; finished fits are kept in {given.out / 'fits.jsonl'} and will not be run again",
              file=sys.stderr)
        return 130
    return 0
