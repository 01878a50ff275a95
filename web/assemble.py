#!/usr/bin/env python3
"""Puts the page together: one file with the program, which loads nothing else.

    web/assemble.py --program coforest.wasm --allow cofi_report_js.txt cofi_report_css.txt --version 0.2.0 --out coforest.html

--allow: script and style of the report, which is shown inside the page and therefore has to satisfy its policy too.
"""
import argparse
import base64
import gzip
import hashlib
import pathlib
import re

HERE = pathlib.Path(__file__).resolve().parent
LARGEST = "250"  # MB of text: with all copies, less than the 4 GB that a program in a page can have


def hash_of(data):
    return "'sha256-" + base64.b64encode(hashlib.sha256(data).digest()).decode() + "'"


def main():
    parser = argparse.ArgumentParser(description="Puts the page together.")
    parser.add_argument("--program", type=pathlib.Path, required=True)
    parser.add_argument("--allow", type=pathlib.Path, nargs=2, required=True)
    parser.add_argument("--version", required=True)
    parser.add_argument("--out", type=pathlib.Path, required=True)
    args = parser.parse_args()

    style = (HERE / "page.css").read_text()
    script = (HERE / "page.js").read_text().replace("@LARGEST@", LARGEST)
    report_script, report_style = (hash_of(path.read_bytes()) for path in args.allow)
    packed = gzip.compress(args.program.read_bytes(), 9, mtime=0)
    parts = {
        # A worker from a blob and a report in a frame have this policy too. Nothing may be fetched from anywhere.
        "POLICY": "default-src 'none'; base-uri 'none'; form-action 'none'; worker-src blob:; img-src data:; "
                  f"style-src {hash_of(style.encode())} {report_style}; "
                  f"script-src {hash_of(script.encode())} {report_script} 'wasm-unsafe-eval'",
        "STYLE": style, "SCRIPT": script, "WORKER": (HERE / "worker.js").read_text(), "VERSION": args.version,
        "LARGEST": LARGEST, "ZOO": (HERE.parent / "data" / "zoo.csv").read_text(),
        "PROGRAM": base64.b64encode(packed).decode(),
    }
    page = re.sub("@([A-Z]+)@", lambda found: parts[found[1]], (HERE / "page.html").read_text())
    args.out.write_text(page)


if __name__ == "__main__":
    main()
