#!/usr/bin/env python3
"""Runs `paper/run --quick` on the tables that come with the program and some made-up ones, and checks what it leaves.

    tests/paper/run.py --coforest PROGRAM --venv DIR

DIR is where paper/run may install its packages. Exits with 77 where they cannot be installed.
"""
import argparse
import csv
import html.parser
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
import xml.etree.ElementTree

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
METRICS = ("ca", "ari", "nmi")
METHODS = {"kmodes": "KMD", "lsm": "LSM", "jdm": "JDM", "cbdm": "CBDM", "ocil": "OCIL", "udm": "UDMC", "dlc": "DLC",
           "h2h": "H2H", "hdc": "HDC", "adc": "ADC", "coforest": "COForest"}
PICTURES = {f"{kind}_{metric}{end}.svg" for metric in METRICS
            for kind, end in (("means", ""), ("ranks", ""), ("ranks", "_printed"))} | {
    "toy.svg", "ablation.svg", "convergence.svg", "time.svg", "tsne.svg", "mixed.svg"}
options = None


class Page(html.parser.HTMLParser):
    """Counts tags and checks that they are closed in order."""

    def __init__(self):
        super().__init__()
        self.open, self.seen, self.outside = [], {}, []

    def handle_starttag(self, tag, attrs):
        self.seen[tag] = self.seen.get(tag, 0) + 1
        self.outside += [value for key, value in attrs if key in ("src", "href") and "://" in (value or "")]
        if tag not in ("meta", "br", "img"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open and self.open[-1] == tag, (tag, self.open[-3:])
        self.open.pop()


def rows_of(path):
    with open(path, encoding="utf-8") as file:
        return list(csv.DictReader(file))


def make_data(folder):
    """Zoo, Voting and Lenses, and made-up tables in the place of AC and of DS with its temperature."""
    for name in ("zoo.csv", "voting.csv", "lenses.csv"):
        shutil.copy(ROOT / "data" / name, folder)
    for name, columns, seed in (("ac.csv", 4, 1), ("plain.csv", 3, 2)):
        subprocess.run([options.coforest, "generate", "--rows", "80", "--columns", str(columns), "-k", "2", "--seed",
                        str(seed), "--out", str(folder / name)], check=True, capture_output=True)
    header, *lines = (folder / "plain.csv").read_text(encoding="utf-8").splitlines()
    mixed = [header.replace(",class", ",temperature,class")]
    for i, line in enumerate(lines):
        values, _, label = line.rpartition(",")
        mixed.append(f"{values},{35 + i % 7 / 2},{label}")
    (folder / "ds_mixed.csv").write_text("\n".join(mixed) + "\n", encoding="utf-8")
    (folder / "plain.csv").unlink()


class Paper(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.work = pathlib.Path(cls.folder.name)
        cls.data, cls.out = cls.work / "data", cls.work / "out"
        cls.data.mkdir()
        make_data(cls.data)
        cls.first = cls.run_paper()

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    @classmethod
    def command(cls, *arguments, data=None, out=None):
        return [sys.executable, str(ROOT / "paper" / "run"), *arguments, "--quick", "--coforest", options.coforest,
                "--data", str(data or cls.data), "--out", str(out or cls.out)]

    @classmethod
    def run_paper(cls, *arguments, **where):
        return subprocess.run(cls.command(*arguments, **where), capture_output=True, text=True, check=False)

    def test_all_experiments_run_and_absent_tables_are_named(self):
        self.assertEqual(self.first.returncode, 0, self.first.stderr)
        self.assertEqual([line.split()[0] for line in self.first.stdout.splitlines()],
                         ["tables", "toy", "ablation", "convergence", "time", "tsne", "mixed", "Wrote:"])
        self.assertIn("hr.csv, ce.csv, cs.csv, sb.csv, ns.csv, ts.csv, hf.csv, ds.csv, ac_mixed.csv", self.first.stderr)
        self.assertIn("UCI Machine Learning Repository", self.first.stderr)
        self.assertNotIn("zo.csv", self.first.stderr)

    def test_page_is_whole_and_needs_nothing_else(self):
        page = Page()
        text = (self.out / "index.html").read_text(encoding="utf-8")
        page.feed(text)
        self.assertEqual(page.open, [])
        self.assertEqual(page.outside, [])
        self.assertEqual(page.seen.get("script", 0), 0)
        self.assertEqual((page.seen["section"], page.seen["img"]), (7, len(PICTURES)))
        self.assertNotIn("nan", text.split("<body>")[1].replace("data:image", "").split("base64")[0])
        first = rows_of(self.out / "tables_summary.csv")[0]
        self.assertIn(f"{float(first['mean']):.4f}±{float(first['deviation']):.2f}", text)

    def test_pictures_are_xml(self):
        self.assertEqual({path.name for path in self.out.glob("*.svg")}, PICTURES)
        for path in self.out.glob("*.svg"):
            xml.etree.ElementTree.parse(path)

    def test_runs_are_those_of_compare(self):
        """Means and Friedman's test as `coforest compare` has them, over the same tables and runs."""
        tables = [str(self.data / name) for name in ("ac.csv", "voting.csv", "zoo.csv", "lenses.csv")]
        done = subprocess.run([options.coforest, "compare", *tables, "--label", "class", "--methods", ",".join(METHODS),
                               "--variant", "authors", "--format", "json",
                               "--ordinal", "age=young<pre-presbyopic<presbyopic",
                               "--ordinal", "spectacle_prescription=myope<hypermetrope",
                               "--ordinal", "tear_production_rate=reduced<normal"], check=True, capture_output=True)
        told = json.loads(done.stdout)
        means = {(row["metric"], row["dataset"], row["method"]): row["mean"]
                 for row in rows_of(self.out / "tables_summary.csv")}
        for dataset, table in zip(("AC", "VT", "ZO", "LS"), told["tables"]):
            for result in table["results"]:
                for metric in METRICS:
                    ours = means[metric.upper(), dataset, METHODS[result["method"]]]
                    wanted = result[metric]["mean"]
                    self.assertEqual(ours == "", wanted is None)
                    self.assertAlmostEqual(float(ours or 0), wanted or 0, places=12)
        for row in rows_of(self.out / "tables_ranks.csv"):
            if row["means"] == "ours":
                for key in ("chi_square", "p", "chi_square_tied", "p_tied", "f", "p_f"):
                    self.assertAlmostEqual(float(row[key]), told["over_all"][row["metric"].lower()][key], places=9)

    def test_finished_fits_are_kept_while_tables_are_the_same(self):
        data, out = self.work / "changed", self.work / "changed_out"
        data.mkdir()
        shutil.copy(self.data / "lenses.csv", data)
        shutil.copy(self.data / "zoo.csv", data)
        self.assertIn("4 parts, 0 kept", self.run_paper("toy", data=data, out=out).stdout)
        lines = (data / "lenses.csv").read_text(encoding="utf-8").splitlines()
        (data / "lenses.csv").write_text("\n".join(lines[:-1]) + "\n", encoding="utf-8")
        self.assertIn("4 parts, 2 kept", self.run_paper("toy", data=data, out=out).stdout)
        kept = (out / "fits.jsonl").read_bytes()
        (out / "fits.jsonl").write_bytes(kept[:-20])  # the last line was cut short
        again = self.run_paper("toy", "mixed", data=data, out=out)
        self.assertIn("4 parts, 3 kept", again.stdout)
        self.assertIn("mixed        left out", again.stdout)
        self.assertEqual(len((out / "fits.jsonl").read_text(encoding="utf-8").splitlines()), 7)

    def test_interrupted_runs_go_on(self):
        out = self.work / "interrupted"
        running = subprocess.Popen(self.command("tables", "--runs", "2000", out=out), stderr=subprocess.PIPE,
                                   stdout=subprocess.PIPE, text=True, start_new_session=True)
        for _ in range(600):
            if (out / "fits.jsonl").exists() and (out / "fits.jsonl").stat().st_size > 0:
                break
            time.sleep(0.05)
        os.killpg(running.pid, signal.SIGINT)
        _, said = running.communicate()
        self.assertEqual(running.returncode, 130, said)
        self.assertIn("will not be run again", said)
        self.assertGreater(len((out / "fits.jsonl").read_text(encoding="utf-8").splitlines()), 0)

    def test_wrong_calls_are_told_in_a_sentence(self):
        self.assertIn("there is no experiment tabels", self.run_paper("tabels").stderr)
        broken = self.work / "broken"
        broken.mkdir()
        (broken / "zo.csv").write_text("a,b\n1,2\n2,1\n", encoding="utf-8")
        done = self.run_paper("toy", data=broken, out=self.work / "broken_out")
        self.assertEqual(done.returncode, 1)
        self.assertIn("class", done.stderr)


def main():
    global options
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--coforest", required=True, type=os.path.abspath)
    parser.add_argument("--venv", required=True, type=os.path.abspath)
    options = parser.parse_args()
    os.environ["COFOREST_PAPER_VENV"] = options.venv
    setup = subprocess.run([sys.executable, str(ROOT / "paper" / "run"), "--help"], capture_output=True, text=True)
    if setup.returncode == 77:
        print([line for line in setup.stderr.splitlines() if line.startswith("SKIPPED")][-1])
        return 77
    result = unittest.main(argv=[sys.argv[0]], exit=False).result
    return 0 if result.wasSuccessful() else 1


if __name__ == "__main__":
    sys.exit(main())
