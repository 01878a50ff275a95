"""The sections of bench/run: what is measured, beside what, and what is wanted of it."""
import itertools
import math
import os
import shlex
import statistics
import sys

import peers
from measuring import ONE_THREAD, Failure, TooLong, Wanted, figure, in_turn, run, slope

GB = 1e9
PEER_S = 120  # that a peer with ten starts is given
BEFORE_S = 1200  # that an earlier build is given
SHORT_S, SHORT_CALLS = 0.1, 5  # beside a peer, our calls of less than SHORT_S are made so many times

# The bounds, in one place. A figure without one is printed all the same.
WANTED = {
    "pass": Wanted(most=4),              # label and count every row, in times of reading the codes
    "fit_passes": Wanted(most=2),        # the same, on average over the passes of a fit
    "pass_in_cache": Wanted(most=8),     # ns a row
    "kmodes_default": Wanted(least=1000),
    "kmodes_random": Wanted(least=200),
    "kmeans": Wanted(least=10),
    "faster_kmodes": Wanted(least=10),
    "whole": Wanted(least=30),
    "csv_pandas": Wanted(least=3.33),    # reading the file alone takes so many times as long as a whole fit
    "csv_pandas_words": Wanted(least=8.33),
    "csv_polars": Wanted(least=1),
    "csv_polars_words": Wanted(least=1),
    "exponent": Wanted(0.95, 1.05),
    "memory": Wanted(most=1),            # of twice the encoded table and 50 MB
    "values_memory": Wanted(most=4),     # GB
    "clusters": Wanted(most=1.3),        # cost a row and cluster at k = 1,000, in times of that at k = 16
    "threads": Wanted(least=1.8),
    "noisy_csv": Wanted(least=0.91),     # csv.reader over the same file
    "never_slower": Wanted(least=1),
    "shapes": Wanted(least=0.95),        # where one thread does all, single ratios scatter around 1
}

# Whole default fits: rows, columns, clusters, noise, values, what two threads should gain over one, and how many times as
# long the peers with ten starts should take.
DEFAULT_FITS = [
    (8_000, 22, 2, 0.5, 6, None, {"kmeans": Wanted(least=3)}),
    (8_000, 22, 20, 0.5, 6, Wanted(least=1.7), {"kmeans": Wanted(least=3)}),
    (30_000, 14, 5, 0.5, 8, None, {"kmeans": Wanted(least=15)}),
    (100_000, 20, 5, 0.3, 5, None,
     {"kmeans": Wanted(least=50), "stepmix": Wanted(least=500), "kmodes_default": Wanted(least=500)}),
    (300_000, 20, 5, 0.7, 5, Wanted(least=1.7), None),
    (20_000, 50, 100, 0.5, 5, Wanted(least=1.7), {"kmeans": Wanted(least=10)}),
    (1_000_000, 20, 5, 0.3, 5, Wanted(least=1.5), None),
]

# Default fits beside an earlier build: what the table is, how it is made, options, and how many times as long that build
# should take, both on one thread.
BEFORE_FITS = [
    ("8,000 x 22, -k auto", lambda t: t.planted(8_000, 22, 20, 0.5, 6), ["-k", "auto", "--label", "class"],
     Wanted(least=8)),
    ("20,000 x 50, k = 300", lambda t: t.planted(20_000, 50, 100, 0.5, 5), ["-k", 300, "--label", "class"],
     Wanted(least=4)),
    ("20,000 x 50, k = 1,000", lambda t: t.planted(20_000, 50, 100, 0.5, 5), ["-k", 1000, "--label", "class"],
     Wanted(least=5)),
    ("100,000 values, 2 rows each, k = 20", lambda t: t.as_words(t.many_values(200_000, 100_000)), ["-k", 20],
     Wanted(least=6)),
    ("100,000 values, 20 rows each, k = 20", lambda t: t.as_words(t.many_values(2_000_000, 100_000)), ["-k", 20],
     Wanted(least=6)),
]


class Bench:
    """What every section needs: the program, the peers, the tables, the book, and how much to do."""

    def __init__(self, coforest, python, tables, book, options, env):
        self.coforest, self.python, self.tables, self.book = coforest, python, tables, book
        self.quick, self.repeats, self.most_s = options.quick, options.repeats, options.most_seconds
        self.program, self.env = options.program, env
        self.before = options.before and (options.before / "coforest").resolve()
        self.folder = tables.folder

    def wanted(self, key):
        """The bound; a try-out on small tables has none."""
        return None if self.quick else WANTED.get(key)

    def size(self, full, quick):
        return quick if self.quick else full

    def speeds(self, *options):
        """What `bench_passes` says, with the speeds by (work, kernel, threads)."""
        told = run([self.coforest.parent / "bench" / "bench_passes", *options]).json()
        told["by"] = {(s["work"], s["kernel"], s["threads"]): s for s in told["speeds"]}
        return told

    def chosen(self, told, work, threads=1):
        return told["by"][work, None if work == "read" else told["kernel"], threads]

    def fit(self, table, k, *options):
        """A whole `coforest fit` process: what it said, and the process."""
        done = run([self.coforest, "fit", table, "-k", k, "--json", *options])
        return done.json(), done

    def peer(self, *arguments, threads=1, most_s=None):
        if self.python is None:
            raise Failure("it has not been fetched")
        env = {**self.env, **{name: str(threads) for name in ONE_THREAD}}
        return run([self.python, peers.__file__, *arguments], env, most_s)


# ---- pass ------------------------------------------------------------------------------------------


def kernel_pass(b):
    """One pass beside reading the codes once, on one thread, in processor time."""
    large = b.size(10_000_000, 1_000_000)
    works = {
        "large": lambda: b.speeds("--rows", large, "--threads", 1, "--repeats", 3, "--chosen"),
        "noisy": lambda: b.speeds("--rows", large, "--threads", 1, "--repeats", 1, "--chosen", "--noise", 0.7),
        "small": lambda: b.speeds("--rows", 100_000, "--threads", 1, "--repeats", 9, "--chosen"),
    }
    told = in_turn(works, b.repeats)

    def multiple(t, work):
        return b.chosen(t, work)["processor_s"] / b.chosen(t, "read")["processor_s"]

    def fit_multiple(t, what):
        fit = t["fits"][0]  # its clock's time as processor time: it has one thread
        return fit[what] * fit["processor_s"] / fit["elapsed_s"] / ns(t, "read")

    def ns(t, work):
        return 1e9 * b.chosen(t, work)["processor_s"] / t["n_rows"]

    size = f"{large:,} x 20"
    b.book.note(f"kernel {told['large'][0]['kernel']}, {told['large'][0]['kernel_why']}")
    b.book.line(f"{size}, reading the codes", [ns(t, "read") for t in told["large"]], "ns a row")
    b.book.line(f"{size}, every row labelled and counted", [multiple(t, "first") for t in told["large"]],
                "times reading", b.wanted("pass"))
    b.book.line(f"{size}, every row labelled, none moves", [multiple(t, "again") for t in told["large"]],
                "times reading")
    for noise, runs in (("0.3", told["large"]), ("0.7", told["noisy"])):
        b.book.line(f"{size}, noise {noise}: mean over a fit's passes, with skipping",
                    [fit_multiple(t, "ns_per_row_and_pass") for t in runs], "times reading", b.wanted("fit_passes"))
        b.book.line(f"{size}, noise {noise}: the same with the start and its seeding",
                    [fit_multiple(t, "ns_per_row_visit") for t in runs], "times reading")
    for work, words in (("read", "reading the codes"), ("first", "every row labelled and counted"),
                        ("again", "every row labelled, none moves")):
        b.book.line(f"100,000 x 20, {words}", [ns(t, work) for t in told["small"]], "ns a row",
                    b.wanted("pass_in_cache") if work == "first" else None)


def kernels(b):
    """Every kernel on tables of other shapes, in nanoseconds a row of processor time, one thread."""
    shapes = [(100_000, 20, 5, 5), (b.size(10_000_000, 1_000_000), 20, 5, 5), (100_000, 20, 2, 5),
              (100_000, 20, 16, 5), (100_000, 20, 40, 5), (100_000, 20, 300, 5), (100_000, 20, 5, 16),
              (20_000, 20, 5, 1000), (4_000, b.size(2_000, 500), 5, 5)]
    for rows, columns, values, k in shapes:
        told = b.speeds("--rows", rows, "--columns", columns, "--values", values, "-k", k, "--threads", 1, "--repeats",
                        b.repeats, "--no-fit")
        title = f"{rows:,} x {columns:,}, o = {values}, k = {k:,}"
        cost = {(s["kernel"], s["work"]): 1e9 * s["processor_s"] / rows for s in told["speeds"]}
        for (kernel, work), ns in cost.items():
            b.book.line(f"{title}: {kernel or ''} {work}", [ns], "ns a row", silent=True)
        names = [kernel for kernel, work in cost if work == "first"]
        b.book.note(f"{title + ':':<36} reading {figure(cost[None, 'read'])}; first / again: "
                    + ", ".join(f"{name} {figure(cost[name, 'first'])} / {figure(cost[name, 'again'])}"
                                for name in names))


# ---- peers, whole ----------------------------------------------------------------------------------


def beside(b, mine, theirs, what, wanted, bars):
    """Ours is run right before each of theirs; a ratio belongs to such a pair."""
    def pair(work):
        return lambda: (mine(), work())

    pairs = in_turn({name: pair(work) for name, work in theirs.items()}, b.repeats, b.most_s)
    if not pairs:
        return {}
    b.book.line(f"{what}: coforest", [m[0] for runs in pairs.values() for m, _ in runs], "s")
    for name, runs in pairs.items():
        b.book.line(f"{what}: {name}", [t[0] / m[0] for m, t in runs], "times as long", wanted.get(name))
    b.book.curve(bars, "", "times as long as coforest", [(name, [t[0] / m[0] for m, t in runs])
                                                         for name, runs in pairs.items()])
    return pairs


def beside_peers(b):
    """The fit call alone, one start, one thread, data in memory."""
    rows = b.size(100_000, 10_000)
    tables = [(f"{rows:,} x 20 planted", b.tables.planted(rows), peers.FITS),
              (f"{rows:,} x 20, 200 distinct rows", b.tables.duplicates(rows, 200),
               {name: peer for name, peer in peers.FITS.items() if not peer.startswith("kmodes_default")})]
    for title, table, chosen in tables:
        def mine(table=table):
            told, _ = b.fit(table, 5, "--label", "class", "--restarts", 1, "--threads", 1)
            return told["timings"]["fit_s"], told["scores"]["ari"]

        def their(peer, table=table):
            def work():
                told = b.peer("fit", peer, table, 5).json()
                return told["fit_s"], told["ari"]
            return work

        wanted = {name: b.wanted(peer) for name, peer in chosen.items()} if "planted" in title else {}
        pairs = beside(b, mine, {name: their(peer) for name, peer in chosen.items()}, title, wanted, title)
        aris = {name: statistics.median(t[1] for _, t in runs) for name, runs in pairs.items()}
        ours = [m[1] for runs in pairs.values() for m, _ in runs]
        if aris:
            b.book.note("ARI with the planted classes: coforest " + f"{statistics.median(ours):.3f}, "
                        + ", ".join(f"{name} {ari:.3f}" for name, ari in aris.items()))


def whole_processes(b):
    """From the CSV to a file of labels, the interpreter's start included; one start, ours on all cores."""
    rows = b.size(100_000, 10_000)
    table = b.tables.planted(rows)
    labels = b.folder / "labels.txt"

    def mine():
        done = run([b.coforest, "fit", table, "-k", 5, "--ignore", "class", "--restarts", 1, "--labels-out", labels,
                    "--quiet"])
        return done.wall_s, done.peak_bytes

    def their(peer):
        def work():
            done = b.peer("whole", peer, table, 5, labels)
            return done.wall_s, done.peak_bytes
        return work

    theirs = {name: their(peer) for name, peer in peers.FITS.items()}
    if b.program:
        def program():
            done = run([word.format(table=table, k=5, labels=labels) for word in shlex.split(b.program)])
            return done.wall_s, done.peak_bytes
        theirs[os.path.basename(shlex.split(b.program)[0])] = program
    wanted = {name: b.wanted("whole") for name in peers.FITS}
    title = f"{rows:,} x 20, CSV to labels"
    beside(b, mine, theirs, title, wanted, title)
    labels.unlink(missing_ok=True)


# ---- whole default fits ----------------------------------------------------------------------------


def default_tables(b):
    """Title, table, row of DEFAULT_FITS; a try-out has the small ones only."""
    for shape in DEFAULT_FITS:
        rows, columns, k, noise, values = shape[:5]
        if rows <= b.size(10_000_000, 10_000):
            yield (f"{rows:,} x {columns}, k = {k}, {noise * 100:.0f} % noise",
                   b.tables.planted(rows, columns, k, noise, values), shape)


def default_call(b, table, k, threads):
    """Seconds of a default fit call, and its ARI."""
    told, _ = b.fit(table, k, "--label", "class", "--threads", threads)
    return told["timings"]["fit_s"], told["scores"]["ari"]


def default_call_beside(b, table, k, threads):
    """The same; a call of a few milliseconds, which one interruption can double, is the median of several processes."""
    calls = [default_call(b, table, k, threads)]
    while len(calls) < SHORT_CALLS and calls[0][0] < SHORT_S:
        calls.append(default_call(b, table, k, threads))
    return statistics.median(seconds for seconds, _ in calls), calls[0][1]


def default_peers(b):
    """Whole default fits beside peers with ten starts: the fit call alone, on one thread each, then on two each.

    A peer that has not ended after two minutes is stopped, and counts as if it had."""
    for title, table, (_, _, k, _, _, _, wanted) in default_tables(b):
        if wanted is not None:
            for threads in (1, 2):
                default_peers_of(b, title if threads == 1 else f"{title}, two threads", table, k, threads, wanted)


def default_peers_of(b, title, table, k, threads, wanted):
    chosen = {name: peer for name, peer in peers.TEN_STARTS.items() if peer == "kmeans" or len(wanted) > 1}

    def their(peer):
        def work():
            try:
                told = b.peer("fit", peer, table, k, 10, threads=threads, most_s=PEER_S).json()
            except TooLong as failure:
                b.book.note(f"{peer}: {failure}; it takes longer than this line says")
                return PEER_S, math.nan
            return told["fit_s"], told["ari"]
        return work

    pairs = beside(b, lambda: default_call_beside(b, table, k, threads),
                   {name: their(peer) for name, peer in chosen.items()}, title,
                   {name: None if b.quick else wanted.get(peer) for name, peer in chosen.items()},
                   f"{title}, default fit")
    if pairs:
        b.book.note("ARI with the planted classes: " + ", ".join(
            [f"coforest {statistics.median(m[1] for runs in pairs.values() for m, _ in runs):.3f}"]
            + [f"{name} {statistics.median(t[1] for _, t in runs):.3f}" for name, runs in pairs.items()]))


def default_threads(b):
    """Whole default fits on two threads beside one, the fit call by the clock."""
    for title, table, (_, _, k, _, _, wanted, _) in default_tables(b):
        works = {n: lambda n=n, table=table, k=k: default_call(b, table, k, n)[0] for n in (1, 2)}
        spent = in_turn(works, 2 * b.repeats + 1, b.most_s)
        b.book.line(f"{title}: two threads", [one / two for one, two in zip(spent[1], spent[2])], "times as fast",
                    None if b.quick else wanted or WANTED["never_slower"])
    for rows in (100, 300, 1_000, 3_000):
        table = b.tables.planted(rows)
        works = {n: lambda n=n, table=table: default_call(b, table, 5, n)[0] for n in (1, 2)}
        spent = in_turn(works, 10 * b.repeats + 1, b.most_s)  # they take milliseconds
        b.book.line(f"{rows:,} x 20, k = 5: two threads", [one / two for one, two in zip(spent[1], spent[2])],
                    "times as fast", b.wanted("never_slower"))


def default_shapes(b):
    """The same for tables of many shapes; the least of their medians counts."""
    worst, where, n_shapes = math.inf, None, 0
    for rows, columns, values, k in itertools.product(b.size([100, 250, 700, 2_000, 6_000, 20_000, 50_000], [100, 2_000]),
                                                      b.size([2, 6, 20, 80, 300], [2, 20]), b.size([2, 5, 40], [5]), (2, 12)):
        if rows * columns > 4_000_000 or values ** columns < 2 * k:
            continue
        table = b.tables.planted(rows, columns, 4, 0.5, values)
        works = {n: lambda n=n, table=table, k=k: default_call(b, table, k, n)[0] for n in (1, 2)}
        spent = in_turn(works, 3 * b.repeats + 1, b.most_s / 10)
        if len(spent) < len(works):
            continue
        ratio = statistics.median(one / two for one, two in zip(spent[1], spent[2]))
        n_shapes += 1
        if ratio < worst:
            worst, where = ratio, f"{rows:,} x {columns} of {values} values, k = {k}"
    b.book.line(f"two threads, the worst of {n_shapes} shapes ({where})", [worst], "times as fast", b.wanted("shapes"))


def default_before(b):
    """Whole default fits beside an earlier build (--before), the fit call, one thread each."""
    if b.before is None:
        b.book.note("left to --before BUILD")
        return
    for title, make, options, wanted in b.size(BEFORE_FITS, BEFORE_FITS[:1]):
        table = make(b.tables)
        command = ["fit", table, *options, "--threads", 1, "--json"]

        def pair(command=command):
            now, before = (run([program, *command], most_s=BEFORE_S).json() for program in (b.coforest, b.before))
            return before["timings"]["fit_s"] / now["timings"]["fit_s"]

        ratios = in_turn({title: pair}, b.repeats, b.most_s).get(title, [])
        if ratios:
            b.book.line(f"{title}: the earlier build", ratios, "times as long", None if b.quick else wanted)


def whole_sweeps(b):
    """Seconds of default fit calls against rows, columns, values, clusters and threads, for one picture."""
    base = {"rows": 100_000, "columns": 20, "values": 5, "k": 5, "threads": 1}
    sweeps = {"rows": b.size([10_000, 30_000, 100_000, 300_000, 1_000_000, 3_000_000, 10_000_000], [1_000, 10_000]),
              "columns": b.size([5, 10, 20, 50, 100, 200], [5, 20]), "values": b.size([2, 5, 16, 50, 200, 1_000], [2, 16]),
              "k": b.size([2, 5, 10, 20, 50, 100], [2, 10]), "threads": b.size([1, 2], [1])}
    for name, at in sweeps.items():
        works = {}
        for x in at:
            shape = {**base, name: x}
            table = b.tables.planted(shape["rows"], shape["columns"], shape["k"], 0.5, shape["values"])
            works[x] = lambda shape=shape, table=table: default_call(b, table, shape["k"], shape["threads"])[0]
        spent = in_turn(works, b.repeats, b.most_s)
        b.book.curve(f"default fit against {name}", {"k": "clusters k"}.get(name, name), "seconds", list(spent.items()),
                     panel="time of a default fit")
        for x, seconds in spent.items():
            b.book.line(f"{name} {x:,}: default fit", seconds, "s")


# ---- csv -------------------------------------------------------------------------------------------


def beside_readers(b):
    """A whole `coforest fit`, all defaults, two threads, beside merely reading the same file."""
    noisy = b.size(300_000, 30_000)
    table = b.tables.planted(noisy, noise=0.7)

    def job():
        done = run([b.coforest, "fit", table, "-k", 5, "--ignore", "class", "--threads", 2])
        return done.wall_s, done.processor_s

    def reader():
        told = b.peer("read", "csv", table).json()
        return told["read_s"], told["processor_s"]

    title = f"{noisy:,} x 20, 70 % noise"
    beside(b, job, {"csv.reader": reader}, title, {"csv.reader": b.wanted("noisy_csv")}, title)
    rows = b.size(1_000_000, 100_000)
    digits = b.tables.planted(rows)
    for title, table in ((f"{rows:,} x 20 as digits", digits), (f"{rows:,} x 20 as words", b.tables.as_words(digits))):
        def mine(table=table):
            done = run([b.coforest, "fit", table, "-k", 5, "--ignore", "class", "--threads", 2])
            return done.wall_s, done.processor_s

        def their(reader, table=table):
            def work():
                told = b.peer("read", reader, table, threads=2).json()
                return told["read_s"], told["processor_s"]
            return work

        theirs = {name: their(reader) for name, reader in peers.READERS.items()}
        kind = "_words" if table is not digits else ""
        wanted = {name: b.wanted(f"csv_{reader}{kind}") for name, reader in peers.READERS.items()}
        pairs = beside(b, mine, theirs, title, wanted, title)
        for name, runs in pairs.items():
            b.book.line(f"{title}: {name}, processor time", [t[1] / m[1] for m, t in runs], "times as long")


# ---- curves ----------------------------------------------------------------------------------------


def sweep(b, name, x_label, shapes):
    """Uniform tables, the paper's start, a limited number of passes. Seconds of start, passes and forests divided by the
    passes; the whole call has preparations too, a millisecond on the smallest tables."""
    def work(rows, columns):
        def fit():
            told, done = b.fit(b.tables.uniform(rows, columns), 5, "--restarts", 1, "--threads", 1, "--init", "random",
                               "--max-passes", 10, "--max-rebuilds", 1)
            passes = told["row_visits"] / (told["n_distinct_rows"] or told["n_rows"])
            spent = told["timings"]
            return (spent["start_s"] + spent["pass_s"] + spent["forest_s"]) / passes, done.peak_bytes, spent["fit_s"]
        return fit

    results = in_turn({x: work(rows, columns) for x, rows, columns in shapes}, b.repeats, b.most_s)
    x = list(results)
    times = {at: [seconds for seconds, _, _ in runs] for at, runs in results.items()}
    calls = {at: [whole for _, _, whole in runs] for at, runs in results.items()}
    rounds = min(len(runs) for runs in times.values())
    b.book.line(f"{name}: exponent of the time a pass",
                [slope(x, [times[at][r] for at in x]) for r in range(rounds)], "",
                b.wanted("exponent"))
    b.book.line(f"{name}: exponent of the time of the call",
                [slope(x, [calls[at][r] for at in x]) for r in range(rounds)], "")
    b.book.curve(f"time of a pass against {name}", x_label, "milliseconds a pass",
                 [(at, [1e3 * seconds for seconds in times[at]]) for at in x],
                 exponent=slope(x, [statistics.median(times[at]) for at in x]))
    bounds = {at: 2 * rows * columns + 50e6 for at, rows, columns in shapes}
    peaks = {at: max(peak for _, peak, _ in runs) for at, runs in results.items()}
    worst = max(x, key=lambda at: peaks[at] / bounds[at])
    b.book.line(f"{name}: peak memory, at worst ({worst:,})", [peaks[worst] / bounds[worst]],
                "of 2 x the codes + 50 MB", b.wanted("memory"))
    b.book.curve(f"peak memory against {name}", x_label, "peak memory, MB", [(at, [peaks[at] / 1e6]) for at in x],
                 bound=[bounds[at] / 1e6 for at in x], bound_name="2 x the encoded table + 50 MB")


def curves(b):
    """Time and memory against rows and against columns."""
    n = [10_000, 30_000, 100_000, 300_000, 1_000_000, 3_000_000, 10_000_000]
    n = b.size(n, n[:4])
    sweep(b, "rows", "rows, of 20 columns", [(rows, rows, 20) for rows in n])
    fixed = b.size(20_000, 5_000)
    columns = [10, 30, 100, 300, 1_000, 3_000, 10_000]
    columns = b.size(columns, columns[:4])
    sweep(b, "columns", f"columns, of {fixed:,} rows", [(c, fixed, c) for c in columns])


# ---- values, clusters, threads ---------------------------------------------------------------------


def values(b):
    """The cost of a pass against the number of values; a column of a million values."""
    rows, counts = b.size(1_000_000, 100_000), [2, 5, 16, 40, 300, 5_000, 100_000, 1_000_000]
    points = []
    for o in b.size(counts, counts[:6]):
        told = b.speeds("--rows", rows, "--columns", 5, "--values", o, "--threads", 1, "--chosen", "--no-fit",
                        "--repeats", b.repeats)
        points.append((o, [1e9 * b.chosen(told, "first")["processor_s"] / rows]))
        b.book.line(f"{rows:,} x 5, o = {o:,}: every row labelled and counted", points[-1][1], "ns a row")
    b.book.curve("cost of a row against values", f"values a column, {rows:,} rows of 5 columns", "ns a row", points)
    rows, many = b.size(10_000_000, 1_000_000), b.size(1_000_000, 100_000)
    table = b.tables.many_values(rows, many)
    runs = [b.fit(table, 5, "--restarts", 1, "--threads", 1, "--columns", "many,a,b,c,d", "--max-rebuilds", 5)
            for _ in range(b.size(min(b.repeats, 3), 1))]
    title = f"{rows:,} rows, a column of {many:,} values"
    b.book.line(f"{title}: peak memory", [done.peak_bytes / GB for _, done in runs], "GB", b.wanted("values_memory"))
    b.book.line(f"{title}: five forests", [told["timings"]["forest_s"] for told, _ in runs], "s")
    b.book.line(f"{title}: the fit", [told["timings"]["fit_s"] for told, _ in runs], "s")
    b.book.line(f"{title}: whole process", [done.wall_s for _, done in runs], "s")


def clusters(b):
    """The cost of a row and cluster from few clusters to a thousand."""
    rows, counts = b.size(1_000_000, 50_000), [2, 5, 16, 50, 200, 1000]
    works = {k: lambda k=k: b.speeds("--rows", rows, "-k", k, "--threads", 1, "--chosen", "--no-fit", "--repeats",
                                     1 if k > 50 else 5) for k in counts}
    told = in_turn(works, b.repeats, b.most_s)
    cost = {k: [1e9 * b.chosen(t, "again")["processor_s"] / rows / k for t in runs] for k, runs in told.items()}
    for k, values_of in cost.items():
        b.book.line(f"{rows:,} x 20, k = {k:,}: every row labelled", values_of, "ns a row and cluster")
    n = min(len(cost[16]), len(cost[1000]))
    b.book.line(f"{rows:,} x 20, k = 1,000 beside k = 16", [cost[1000][r] / cost[16][r] for r in range(n)],
                "times a row and cluster", b.wanted("clusters"))
    b.book.curve("cost of a row and cluster against clusters", f"clusters k, {rows:,} rows of 20 columns",
                 "ns a row and cluster", list(cost.items()))


def threads(b):
    """Two threads beside one, by the clock: beyond the caches of one core, and beyond all of them."""
    sizes = b.size([1_000_000, 10_000_000], [1_000_000])
    works = {rows: lambda rows=rows: b.speeds("--rows", rows, "--threads", 2, "--chosen", "--repeats",
                                              30_000_000 // rows) for rows in sizes}
    for rows, told in in_turn(works, b.repeats).items():
        for work, words in (("read", "reading the codes"), ("first", "every row labelled and counted"),
                            ("again", "every row labelled, none moves")):
            gain = [b.chosen(t, work, 1)["elapsed_s"] / b.chosen(t, work, 2)["elapsed_s"] for t in told]
            b.book.line(f"{rows:,} x 20, {words}", gain, "times as fast",
                        b.wanted("threads") if work != "read" else None)
        b.book.line(f"{rows:,} x 20, a whole fit",
                    [t["fits"][1]["elapsed_s"] / t["fits"][0]["elapsed_s"] for t in told], "times as fast",
                    b.wanted("threads"))


SECTIONS = {"pass": kernel_pass, "kernels": kernels, "peers": beside_peers, "whole": whole_processes,
            "default_peers": default_peers, "default_threads": default_threads, "default_shapes": default_shapes,
            "default_before": default_before, "sweeps": whole_sweeps, "csv": beside_readers, "curves": curves,
            "values": values, "clusters": clusters, "threads": threads}


def run_sections(b, names):
    for name in names:
        b.book.open(name, SECTIONS[name].__doc__.strip().splitlines()[0])
        try:
            SECTIONS[name](b)
        except Failure as failure:
            print(f"  {name}: cut short ({failure})", file=sys.stderr)
