"""coforest-mpi and coforest_mpi.h on 1 to 4 ranks: the files of `coforest fit`, and what happens when a rank fails."""
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import time

import pytest

BUILD = pathlib.Path(os.environ.get("COFOREST_BUILD", "build-release")).resolve()
SOURCE = pathlib.Path(__file__).resolve().parents[2]
ENV = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
pytestmark = pytest.mark.skipif(
    shutil.which("mpirun") is None or not (BUILD / "coforest-mpi").exists(), reason="MPI is not here")


def mpirun(n, program, *arguments, **how):
    return subprocess.run(["mpirun", "--oversubscribe", "-n", str(n), program, *map(str, arguments)], env=ENV,
                          capture_output=True, text=True, timeout=120, **how)


def fit_over(n, *arguments, **how):
    return mpirun(n, BUILD / "coforest-mpi", "fit", *arguments, **how)


def coforest(*arguments):
    done = subprocess.run([BUILD / "coforest", *map(str, arguments)], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout


def table(n, seed):
    """A table with missing cells, a quantity, weights, classes and names."""
    rng = random.Random(seed)
    lines = ["name,a,b,c,d,x,w,class"]
    for i in range(n):
        group = rng.randrange(3)
        cells = [str((group * 2 + c) % 5 if rng.random() < 0.6 else rng.randrange(5)) for c in range(4)]
        if rng.random() < 0.1:
            cells[rng.randrange(4)] = "?"
        lines.append(f"row {i},{','.join(cells)},{rng.gauss(2 * group, 1):.4f},{rng.randrange(1, 4)},{group}")
    return "\n".join(lines) + "\n"


@pytest.fixture(scope="module")
def encoded(tmp_path_factory):
    folder = tmp_path_factory.mktemp("mpi")
    (folder / "t.csv").write_text(table(1003, 1))
    coforest("encode", folder / "t.csv", "-o", folder / "t.cofe", "-q")
    (folder / "tiny.csv").write_text("a,b\nx,1\ny,2\n")
    coforest("encode", folder / "tiny.csv", "-o", folder / "tiny.cofe", "-q")
    coforest("generate", "--rows", 300000, "--columns", 20, "--noise", 0.8, "-o", folder / "long.cofe")
    return folder


COMMON = ["--quiet", "--restarts", 3]
CASES = [["-k", 3, "--label", "class", "--weights", "w"], ["-k", "2:4"], ["-k", 3, "--missing", "drop", "--init", "cao"],
         ["-k", 3, "--missing", "ignore", "--method", "kmodes"], ["-k", 4, "--init", "farthest", "--quantities", "values"]]


@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_files_are_those_of_one_process(encoded, tmp_path, n):
    for i, options in enumerate(CASES):
        outs = {}
        for who in "one", "all":
            files = {key: tmp_path / f"{who}{i}.{key}" for key in ("labels-out", "profiles-out", "cuts-out")}
            arguments = [encoded / "t.cofe", *options, *COMMON]
            arguments += [word for key, path in files.items() for word in (f"--{key}", path)]
            if who == "one":
                coforest("fit", *arguments)
            else:
                done = fit_over(n, *arguments)
                assert done.returncode == 0 and done.stdout == "", (options, done.stdout, done.stderr)
            outs[who] = [path.read_text() for path in files.values()]
        assert outs["one"] == outs["all"], options


def test_ranks_without_rows_and_the_model(encoded, tmp_path):
    done = fit_over(4, encoded / "tiny.cofe", "-k", 2, "--labels-out", "-", "--model-out", tmp_path / "m.cof")
    assert done.returncode == 0, done.stderr
    labels = coforest("fit", encoded / "tiny.cofe", "-k", 2, "--labels-out", "-", "--quiet").split()
    assert done.stdout.split() == labels and len(labels) == 3
    assert "2 clusters of 2 rows" in done.stderr
    out = coforest("predict", tmp_path / "m.cof", encoded / "tiny.csv", "--labels-out", "-")
    assert out.split() == labels


def refused(done, *words):
    """One sentence, no result, another code than 0."""
    said = [line for line in done.stderr.splitlines() if line.startswith("coforest: ")]
    assert done.returncode != 0 and len(said) == 1, done.stderr
    for word in words:
        assert word in said[0], said


def test_the_report_is_that_of_shards_in_one_process(encoded, tmp_path):
    t, pages = encoded / "t.cofe", [tmp_path / "ranks.html", tmp_path / "one.html"]
    assert fit_over(2, t, "-k", 3, "--restarts", 2, "--report", pages[0]).returncode == 0
    coforest("fit", t, "-k", 3, "--restarts", 2, "--shards", 1, "--report", pages[1])
    assert pages[0].read_text() == pages[1].read_text()


def test_bad_usage_is_one_sentence(encoded, tmp_path):
    t = encoded / "t.cofe"
    refused(fit_over(2, encoded / "t.csv", "-k", 3), "coforest encode")
    refused(fit_over(2, t), "number of clusters")
    refused(fit_over(2, t, "-k", 3, "--table-out", tmp_path / "t.csv"), "--table-out")
    refused(fit_over(2, t, "-k", 3, "--shards", 2), "--shards")
    refused(fit_over(2, tmp_path / "none.cofe", "-k", 3), "none.cofe")
    refused(mpirun(2, BUILD / "coforest-mpi", "predict", t), "only fits")
    assert not list(tmp_path.iterdir())


def test_a_rank_that_fails_ends_all(encoded, tmp_path):
    """One rank is in a folder where the table is not."""
    wrapper = tmp_path / "away.sh"
    wrapper.write_text(f'#!/bin/sh\n[ "$OMPI_COMM_WORLD_RANK" = 1 ] && cd /\nexec {BUILD}/coforest-mpi "$@"\n')
    wrapper.chmod(0o755)
    done = mpirun(3, wrapper, "fit", "t.cofe", "-k", 3, "--labels-out", tmp_path / "l.csv", cwd=encoded)
    refused(done, "rank 1: cannot open t.cofe")
    assert [path.name for path in tmp_path.iterdir()] == ["away.sh"]


def start_long(encoded, tmp_path, n_bytes, *options):
    """A run whose journal has so many bytes, and the process ids of its ranks."""
    command = ["mpirun", "--oversubscribe", "-n", "2", BUILD / "coforest-mpi", "fit", encoded / "long.cofe", "-k", "8",
               "--threads", "1", "--labels-out", tmp_path / "l.csv", "--journal", tmp_path / "j", *options]
    running = subprocess.Popen(command, env=ENV, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    journal = tmp_path / "j"
    while not journal.exists() or journal.stat().st_size < n_bytes:
        assert running.poll() is None, running.communicate()
        time.sleep(0.02)
    ranks = subprocess.run(["pgrep", "-P", str(running.pid), "-x", "coforest-mpi"], capture_output=True, text=True)
    return running, [int(pid) for pid in ranks.stdout.split()]


def test_a_killed_rank_leaves_no_file_and_the_journal_goes_on(encoded, tmp_path):
    running, ranks = start_long(encoded, tmp_path, 200_000, "--restarts", "150", "--quiet")
    os.kill(ranks[1], signal.SIGKILL)
    running.communicate(timeout=60)
    assert running.returncode != 0 and [path.name for path in tmp_path.iterdir()] == ["j"]
    again = [encoded / "long.cofe", "-k", 8, "--restarts", 150, "--quiet", "--labels-out"]
    done = fit_over(3, *again, tmp_path / "l.csv", "--journal", tmp_path / "j")
    assert done.returncode == 0, done.stderr
    coforest("fit", *again, tmp_path / "one.csv")
    assert (tmp_path / "l.csv").read_bytes() == (tmp_path / "one.csv").read_bytes()


def test_a_request_to_end_keeps_the_best_result(encoded, tmp_path):
    running, ranks = start_long(encoded, tmp_path, 3_000_000, "--restarts", "1000")
    for rank in ranks:
        os.kill(rank, signal.SIGTERM)
    out, err = running.communicate(timeout=60)
    assert running.returncode == 128 + signal.SIGTERM, err
    assert "interrupted" in err and "8 clusters of 300,000 rows" in out
    assert len((tmp_path / "l.csv").read_text().splitlines()) == 300001


@pytest.mark.parametrize("n", [1, 3, 4])
def test_tables_that_ranks_bring_themselves(tmp_path, n):
    """coforest_mpi.h: every rank has rows of its own, one of them none."""
    rng = random.Random(n)
    rows = [f"{group + rng.randrange(2)},{rng.randrange(3)},v{group},{rng.gauss(3 * group, 1):.3f}"
            for group in (rng.randrange(3) for _ in range(400))]
    cuts = sorted(rng.sample(range(1, 400), n - 1)) if n < 4 else [0, 150, 151]
    parts = [rows[begin:end] for begin, end in zip([0, *cuts], [*cuts, 400])]
    paths = []
    for i, part in enumerate(parts):
        (tmp_path / f"{i}.csv").write_text("a,b,c,x\n" + "\n".join(part) + "\n")
        paths.append(tmp_path / f"{i}.csv" if part else "none")
    program = tmp_path / "rows_on_ranks"
    subprocess.run(["mpicc", "-std=c11", "-Wall", "-Wextra", "-Werror", f"-I{SOURCE}/include",
                    SOURCE / "tests/engines/rows_on_ranks.c", f"-L{BUILD}", f"-Wl,-rpath,{BUILD}", "-lcoforest",
                    "-o", program], check=True)
    done = mpirun(n, program, *paths, tmp_path / "labels")
    assert done.returncode == 0, done.stderr
    got = [int(line) + 1 for i in range(n) for line in (tmp_path / f"labels.{i}").read_text().split()]
    (tmp_path / "whole.csv").write_text("a,b,c,x\n" + "\n".join(rows) + "\n")
    out = coforest("fit", tmp_path / "whole.csv", "-k", 3, "--restarts", 3, "--numeric", "x", "--bins", 4, "--labels-out", "-", "-q")
    assert got == [int(line.split(",")[1]) for line in out.split()[1:]]


@pytest.mark.parametrize("n", [1, 2, 4])
def test_ranks_of_python(n):
    pytest.importorskip("mpi4py")
    done = mpirun(n, sys.executable, SOURCE / "tests/engines/python_ranks.py")
    assert done.returncode == 0 and done.stdout.split() == ["equal"], done.stderr


def test_a_failure_reaches_all_ranks_of_python():
    pytest.importorskip("mpi4py")
    done = mpirun(2, sys.executable, SOURCE / "tests/engines/python_ranks.py", "fail")
    why = "parts of one table must have the same columns"
    assert done.returncode == 0, done.stderr
    for line in f"rank 0 {why}", f"rank 1 the fit on rank 0 failed: {why}":  # mpirun may mix the ends of lines
        assert line in done.stdout


def test_the_header_is_cplusplus_too(tmp_path):
    (tmp_path / "use.cc").write_text('#include "coforest_mpi.h"\nint main() { return sizeof(cof_mpi) == 0; }\n')
    subprocess.run(["mpicxx", "-std=c++11", "-Wall", "-Wextra", "-Werror", "-Wno-cast-function-type",
                    f"-I{SOURCE}/include", "-c", tmp_path / "use.cc", "-o", tmp_path / "use.o"], check=True)
