"""bench/run --against BUILD: this build beside another one, in pairs.

A round runs the other build, this one, and the other one again, each in processes of their own. It gives two ratios of
processor time: this build to the other, and the other to itself, which shows how far ratios scatter here when nothing
differs. Both divide by the run before in every other round and by the run after in the rest, so that a machine that
slows down steadily favours nobody.
"""
import statistics

from measuring import Failure, Wanted, run

SHAPES = [(1_000, 10), (100_000, 20), (1_000_000, 20)]
QUICK_SHAPES = SHAPES[:2]
PAIRS, QUICK_PAIRS = 31, 5
RATIO = Wanted(most=1.05)

# What is asked of both builds. Where an option is renamed, the older build needs its old name here.
FITS = {"whole fit, given start": ["--init", "kmeans", "--restarts", 10], "whole fit, defaults": []}


def passes_program(coforest):
    """The program that times passes; in older builds it is a verb."""
    program = coforest.parent / "bench" / "bench_passes"
    return [program] if program.exists() else [coforest, "bench", "--json"]


def time_passes(coforest, rows, columns):
    """Processor seconds of the two kinds of pass and of a fit of one start, on a table made in memory."""
    repeats = max(5, 2_000_000 // rows // columns)  # short ones more often
    told = run([*passes_program(coforest), "--threads", 1, "--chosen", "--rows", rows, "--columns", columns, "--repeats",
                repeats]).json()
    seconds = {f"pass, {speed['work']}": speed["processor_s"] for speed in told["speeds"] if speed["work"] != "read"}
    return {**seconds, "fit of one start": told["fits"][0]["processor_s"]}


def time_fits(coforest, table):
    """Processor seconds of whole processes, reading included, and what they came to."""
    seconds, results = {}, {}
    for name, options in FITS.items():
        done = run([coforest, "fit", table, "-k", 5, "--label", "class", "--threads", 1, "--json", *options])
        seconds[name] = done.processor_s
        results[name] = done.json()["objective"]
    return seconds, results


def time_build(coforest, shape, table):
    fits, results = time_fits(coforest, table)
    return {**time_passes(coforest, *shape), **fits}, results


def spread(ratios):
    """The median, the quartiles and the extremes, as people read them."""
    low, middle, high = statistics.quantiles(ratios, n=4, method="inclusive")
    return f"{middle:.3f} ({low:.3f} to {high:.3f}; all {min(ratios):.3f} to {max(ratios):.3f})"


def compare_shape(book, this, other, shape, table, pairs):
    size = f"{shape[0]:,} x {shape[1]}"
    ratios, itself, differing = {}, {}, set()
    for pair in range(pairs):
        runs = [time_build(coforest, shape, table) for coforest in (other, this, other)]
        (before, was), (mine, now), (after, _) = runs
        beside, again = (before, after) if pair % 2 == 0 else (after, before)
        for name, seconds in mine.items():
            ratios.setdefault(name, []).append(seconds / beside[name])
            itself.setdefault(name, []).append(again[name] / beside[name])
        differing |= {name for name in was if was[name] != now[name]}
    for name, values in ratios.items():
        met = RATIO.met(statistics.median(values))
        print(f"  {size + ', ' + name:<40}{spread(values)}; wanted {RATIO}: {'met' if met else 'NOT MET'}")
        print(f"  {'':<40}{spread(itself[name])} the other build to itself", flush=True)
        book.line(f"{size}, {name}", values, "times the other build", RATIO, silent=True)
        book.line(f"{size}, {name}, the other build", itself[name], "times itself", silent=True)
    for name in sorted(differing):
        book.note(f"{size}, {name}: the two builds found different partitions, so their work differs")


def compare(book, this, other, tables, quick, pairs):
    """Everything, shape by shape; both builds read the same tables."""
    if not other.exists():
        raise Failure(f"there is no {other}; give the folder of another build")
    pairs = pairs or (QUICK_PAIRS if quick else PAIRS)
    book.open("against", f"processor time of this build in times of {other}, one thread, {pairs} pairs; "
              "median (quartiles; extremes)")
    for shape in QUICK_SHAPES if quick else SHAPES:
        compare_shape(book, this, other, shape, tables.planted(*shape), pairs)
