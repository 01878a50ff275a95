#!/usr/bin/env python3
"""Looks at reports in a real browser.

    tests/browser/run.py --coforest build/coforest [--out DIR]

Makes the reports of Zoo (twice, once with its number of clusters to be found), Voting, a mixed table, one with a column
of 40 values, one of 100 columns and one of hostile names with 200 columns, opens each in headless Chromium and checks what a reader relies on: nothing runs or loads that came from the data, no complaint in the console, figures
equal to the JSON of the same run, no page wider than the window, no name broken inside a word, headers that stay,
charts over the full width, few pages on paper, names for screen readers, sorting, filtering, hovering and the keyboard
work, and everything is there without a script. --out keeps screenshots for three widths, light and dark, and a
PDF, to be looked at. Without Chromium it says so and passes.
"""
import argparse
import base64
import json
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile

import cdp
import hostile
from checks import Checks

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
MOST_BYTES = 5_000_000
WIDTHS = (400, 800, 1400)
MOST_PAGES = {"zoo": 4, "found": 4, "voting": 4, "mixed": 6, "towns": 5, "wide": 10}  # of A4; details are left to the screen
SECTIONS = ["table", "clusters", "marks", "profile", "trees", "importance", "map", "rows", "convergence", "scores"]


def make_report(coforest, work, name, args):
    page = work / f"{name}.html"
    done = subprocess.run([coforest, "fit", *args, "--report", str(page), "--json"], check=True, capture_output=True)
    return page, json.loads(done.stdout)


def write_towns(path):
    """A column of 40 values, some of them long, and no classes."""
    chance = random.Random(5)
    towns = (["Llanfairpwllgwyngyll", "Santa Cruz de Tenerife", "Castrop-Rauxel", "Saint-Barth\u00e9lemy", "Ho Chi Minh City"]
             + [f"Town {i}" for i in range(35)])
    status = ["employed full time", "retired", "in education", "looking for work"]
    with open(path, "w", encoding="utf-8") as out:
        out.write("town,employment status of the respondent,household_type\n")
        for _ in range(600):
            group = chance.randrange(4)
            town = chance.choice(towns[10 * group:10 * group + 10]) if chance.random() < 0.85 else chance.choice(towns)
            job = status[group] if chance.random() < 0.7 else chance.choice(status)
            out.write(f"{town},{job},{chance.choice(['single', 'couple', 'family'])}\n")


def check_safety(check, browser, name):
    check.equal(browser.complaints(), [], f"{name}: console")
    check.equal(len(browser.requests()), 1, f"{name}: requests {browser.requests()}")
    check.equal(browser.ask("document.querySelectorAll('script').length"), 1, f"{name}: scripts")
    check.equal(browser.ask("document.querySelectorAll('img,iframe,object,embed,link,form,base,b b,td i:not(.sw)')"
                            ".length"), 0, f"{name}: elements that no report has")
    check.equal(browser.ask("[...document.querySelectorAll('*:not(#tip)')].filter(e => [...e.attributes].some(a => "
                            "/^on|^style$|^src$|^srcdoc$/.test(a.name))).length"), 0, f"{name}: risky attributes")
    check.equal(browser.ask("[...document.querySelectorAll('[href]')].filter(e => "
                            "!/^#[a-z]+$/.test(e.getAttribute('href'))).length"), 0, f"{name}: links that lead away")
    check.that("PWNED" not in browser.ask("document.title"), f"{name}: the title was taken over")


def check_figures(check, browser, name, told):
    def figure(key):
        return browser.ask(f"(document.querySelector('[data-key={key}]') || {{}}).textContent")

    for key in ("n_rows", "n_distinct_rows", "k"):  # of large tables distinct rows are not counted
        check.equal((figure(key) or "").replace(",", ""), str(told[key] or ""), f"{name}: {key}")
    check.equal(figure("n_used"), str(sum(a["used"] for a in told["attributes"])), f"{name}: columns used")
    for key in ("log_likelihood", "objective"):
        check.equal(figure(key), f"{told[key]:.2f}", f"{name}: {key}")
    for key in told.get("scores", {}):
        check.equal(figure(key), f"{told['scores'][key]:.4f}", f"{name}: {key}")
    sizes = browser.ask("[...document.querySelectorAll('#clusters ~ .scroll tbody tr')].map(r => "
                        "Number(r.cells[1].getAttribute('data-v')))")
    check.equal(sizes[:told["k"]], told["sizes"], f"{name}: sizes")


CLIPPED = """[...document.querySelectorAll('svg')].flatMap(svg => { const s = svg.getBoundingClientRect();
    return [...svg.querySelectorAll('text')].filter(t => { const b = t.getBoundingClientRect();
        return b.width > 0 && (b.left < s.left - 1 || b.right > s.right + 1 || b.top < s.top - 1 || b.bottom > s.bottom + 1);
    }).map(t => t.textContent); })"""
OVERLAPPING = """[...document.querySelectorAll('svg')].flatMap(svg => {
    const all = [...svg.querySelectorAll('text')].map(t => [t.textContent, t.getBoundingClientRect()]);
    return all.flatMap(([a, p], i) => all.slice(i + 1).filter(([b, q]) => p.left + 1 < q.right && q.left + 1 < p.right
        && p.top + 4 < q.bottom && q.top + 4 < p.bottom).map(([b]) => a + ' | ' + b)); })"""


def check_numbers(check, browser, name, told):
    """The curve of a number of clusters that was to be found."""
    if "k_curve" not in told:
        return
    for key, want in (("k_kept", told["k"]), ("k_runner_up", told["k_runner_up"])):
        check.equal(browser.ask(f"document.querySelector('[data-key={key}]').textContent"), str(want), f"{name}: {key}")
    check.equal(browser.ask("document.querySelectorAll('#numbers ~ figure circle').length"), len(told["k_curve"]),
                f"{name}: points of the curve")
    said = browser.ask("document.querySelector('#numbers ~ figure circle:last-of-type title').textContent")
    check.that(said.startswith(f"{told['k']} clusters, kept: {max(r['log_likelihood'] for r in told['k_curve']):.2f}"),
               f"{name}: what the kept point says: {said}")


def check_structure(check, browser, name, told):
    cut = any("cut_at" in a for a in told["attributes"])
    sections = [s for s in SECTIONS if s != "scores" or "scores" in told]
    sections = sections[:1] + ["numbers"] * ("k_curve" in told) + sections[1:3] + ["quantities"] * cut + (
        ["others"] * bool(told.get("alternatives"))) + sections[3:]
    check.equal(browser.ask("[...document.querySelectorAll('h2')].map(h => h.id)"), sections, f"{name}: sections")
    check.equal(browser.ask("document.querySelectorAll('h1').length"), 1, f"{name}: h1")
    check.equal(browser.ask("document.querySelectorAll('table:not(:has(caption))').length"), 0, f"{name}: captions")
    check.equal(browser.ask("document.querySelectorAll('svg:not([aria-label])').length"), 0, f"{name}: names of pictures")
    check.equal(browser.ask("[...document.querySelectorAll('input')].filter(i => !i.labels.length).length"), 0,
                f"{name}: labels of inputs")
    browser.ask("document.activeElement.blur()")
    browser.press("Tab")
    check.equal(browser.ask("document.activeElement.className"), "skip", f"{name}: the first Tab finds the skip link")
    check.that(browser.ask("document.activeElement.getBoundingClientRect().left") >= 0, f"{name}: and shows it")


def check_script(check, browser, name, k):
    rows = ("[...document.querySelectorAll('#clusters ~ .scroll table')][0].tBodies[0].rows", "#clusters ~ .scroll th button")
    browser.ask(f"document.querySelectorAll('{rows[1]}')[1].click()")
    sizes = browser.ask(f"[...{rows[0]}].map(r => Number(r.cells[1].getAttribute('data-v')))")
    check.equal(sizes, sorted(sizes), f"{name}: sorting")
    check.equal(browser.ask(f"document.querySelectorAll('#clusters ~ .scroll th')[1].getAttribute('aria-sort')"),
                "ascending", f"{name}: aria-sort")
    browser.ask("(() => { const i = document.querySelector('input[data-filter]'), first = document.querySelector("
                "'#profile-table tbody').getAttribute('data-name'); i.value = first; "
                "i.dispatchEvent(new Event('input')); })()")
    shown = browser.ask("[...document.querySelectorAll('#profile-table tbody')].filter(b => !b.hidden).length")
    total = browser.ask("document.querySelectorAll('#profile-table tbody').length")
    check.that(0 < shown < total, f"{name}: filtering shows {shown} of {total}")
    check.equal(browser.ask("document.getElementById('profile-said').textContent"), f"{shown} of {total} shown",
                f"{name}: what the filter says")
    browser.ask("document.querySelector('.cof-map circle').dispatchEvent(new PointerEvent('pointerover', "
                "{bubbles: true, clientX: 50, clientY: 50}))")
    tip = browser.ask("document.getElementById('tip').hidden ? '' : document.getElementById('tip').textContent")
    check.that("cluster 1" in tip, f"{name}: hovering says {tip!r}")
    browser.ask("document.querySelectorAll('button[data-cluster]')[1].click()")
    groups = browser.ask("document.querySelectorAll('.cof-map g').length")
    check.equal(browser.ask("document.querySelectorAll('.cof-map g.away').length"), groups - 1, f"{name}: legend")
    check.that(groups <= k + 1, f"{name}: groups on the map")
    browser.ask("document.getElementById('tip').hidden = true; "
                "document.querySelectorAll('button[data-cluster]')[1].click()")


CONTRAST = """(() => {
  const light = c => { const [r, g, b] = c.match(/[0-9.]+/g).slice(0, 3).map(x => x / 255)
    .map(x => x <= 0.03928 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4); return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
  const of = name => { const e = document.createElement('p'); e.style.color = `var(--${name})`;
    document.body.appendChild(e); const c = getComputedStyle(e).color; e.remove(); return light(c); };
  const ratio = (a, b) => (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
  return [['ink', 'page'], ['soft', 'page'], ['soft', 'card'], ['link', 'page'], ['ink', 'bar'], ['ink', 'card']]
    .map(([a, b]) => ratio(of(a), of(b)));
})()"""


def check_looks(check, browser, name, out):
    for scheme in ("light", "dark"):
        for width in WIDTHS:
            browser.look(width, 1200, scheme)
            wide = browser.ask("document.documentElement.scrollWidth")
            check.that(wide <= width, f"{name}: {wide} wide in a window of {width}")
            for place in browser.ask("[...document.querySelectorAll('h2')].map(h => h.id)") if out else []:
                browser.ask(f"document.getElementById('{place}').scrollIntoView()")
                browser.screenshot(out / f"{name}-{width}-{scheme}-{place}.png")
        ratios = browser.ask(CONTRAST)
        check.that(min(ratios) >= 4.5, f"{name}: contrast in {scheme}: {ratios}")
    pdf = base64.b64decode(browser.call("Page.printToPDF", printBackground=True, paperWidth=8.27, paperHeight=11.69)
                           ["data"])
    check.that(pdf.startswith(b"%PDF") and len(pdf) > 20000, f"{name}: PDF of {len(pdf)} bytes")
    pages = len(re.findall(rb"/Type\s*/Page\b", pdf))
    check.that(0 < pages <= MOST_PAGES.get(name, 20), f"{name}: {pages} pages on paper")
    browser.call("Emulation.setEmulatedMedia", media="print")
    check.equal(browser.ask(PARTED), 0, f"{name}: headings of trees stay with them on paper")
    browser.call("Emulation.setEmulatedMedia", media="")
    if out:
        (out / f"{name}.pdf").write_bytes(pdf)


BROKEN = """[...document.querySelectorAll('table bdi')].filter(e => !/[\\s-]/.test(e.textContent) && /^[ -~]{1,23}$/.test(e.textContent) &&
  [...e.childNodes].some(part => { const whole = document.createRange(); whole.selectNodeContents(part);  // a <wbr> parts a range
  return new Set([...whole.getClientRects()].map(r => Math.round(r.top))).size > 1; })).map(e => e.textContent).slice(0, 3)"""
STAYS = """(() => { const t = document.querySelector('#profile-table .scroll'), head = t.querySelector('thead th:last-child');
  t.scrollTop = 1e6; t.scrollLeft = 1e6; const box = t.getBoundingClientRect(), first = t.querySelector('tbody th');
  const ok = Math.abs(head.getBoundingClientRect().top - box.top) < 3 && Math.abs(first.getBoundingClientRect().left -
  box.left) < 3; t.scrollTop = t.scrollLeft = 0; return ok || t.scrollHeight <= t.clientHeight; })()"""


def check_reading(check, browser, name):
    """What is read: whole words, headers that stay, the file's name, the reason of the choice, named points."""
    for width in WIDTHS:
        browser.look(width, 700, "light")
        check.equal(browser.ask(BROKEN), [], f"{name}: names broken inside a word at {width}")
        for what, question in (("cut off", CLIPPED), ("on each other", OVERLAPPING)):
            words = browser.ask(question.replace("'svg'", "'figure.fit svg, figure.map svg'"))
            check.equal(words[:3], [], f"{name}: words {what} at {width}")
        check.that(browser.ask(STAYS), f"{name}: the head and the first column of the profile stay at {width}")
        check.equal(browser.ask("[...document.querySelectorAll('figure.fit')].filter(f => f.scrollWidth > f.clientWidth)"
                                ".length"), 0, f"{name}: charts that have to be scrolled at {width}")
    browser.look(1400, 1200, "light")
    check.that("/" not in browser.ask("document.querySelector('h1').textContent"), f"{name}: a path in the title")
    check.that(browser.ask("!document.querySelector('[data-key=best_restart]') || /was kept because/.test("
                           "document.querySelector('#clusters').parentNode.textContent)"), f"{name}: why it was kept")
    shares = browser.ask("[...document.querySelectorAll('figure.map, figure.fit')].map(f => f.querySelector('svg')"
                         ".getBoundingClientRect().width / f.parentNode.getBoundingClientRect().width)")
    check.that(min(shares) > 0.97, f"{name}: charts over the full width: {shares}")
    few = browser.ask("document.querySelectorAll('.cof-map circle').length") <= 150
    check.that(not few or browser.ask(NAMELESS) == 0, f"{name}: each of few points has a name")


NAMELESS = "document.querySelectorAll('.cof-map circle').length - document.querySelectorAll('.cof-name text').length"
PARTED = """[...document.querySelectorAll('#tree-list details, h2 + p')].filter(e =>
  getComputedStyle(e).breakInside !== 'avoid').length"""


def check_restarts(check, browser, name, told):
    """Every restart is a dot, also where many end alike; a curve of a single point is no chart."""
    dots = "[...document.querySelectorAll('figure.fit circle title')].filter(t => /^restart /.test(t.textContent)).length"
    values = {r.get("balance", r["log_likelihood"]) for r in told["restart_records"]}
    if len(values) > 1:
        check.equal(browser.ask(dots), min(200, told["n_restarts"]), f"{name}: dots of restarts")
    check.equal(browser.ask("[...document.querySelectorAll('#convergence ~ figure polyline')].filter(p => "
                            "p.points.length > 1).length > 0 || !document.querySelector('#convergence ~ figure')"), True,
                f"{name}: a chart of a single pass")


SCALES = """[...document.querySelectorAll('#tree-list figure:not(.own) text')].filter(t => /^length [0-9]/.test(t.textContent))
  .map(t => { let bar = t; for (let i = 0; i < 3; i++) bar = bar.previousElementSibling;
  return (bar.getAttribute('x2') - bar.getAttribute('x1')) / Number(t.textContent.slice(7)); })"""


def check_keyboard(check, browser, name):
    browser.ask("document.querySelector('#clusters ~ .scroll th button').focus()")
    browser.press("Enter")
    check.that(browser.ask("document.querySelector('#clusters ~ .scroll th').hasAttribute('aria-sort')"),
               f"{name}: Enter sorts")
    browser.ask("document.querySelector('#tree-list summary').focus()")
    before = browser.ask("document.querySelector('#tree-list details').open")
    browser.press("Enter")
    check.equal(browser.ask("document.querySelector('#tree-list details').open"), not before, f"{name}: Enter folds")
    browser.press("Enter")
    if browser.ask("!!document.getElementById('zoom')"):
        browser.ask("document.getElementById('zoom').focus()")
        browser.press(" ")
        shown = [browser.ask(f"getComputedStyle(document.querySelector('#tree-list .{c}')).display") for c in ("one", "own")]
        check.equal(shown, ["none", "block"], f"{name}: Space zooms the trees")
        browser.press(" ")
    scales = browser.ask(SCALES)
    check.that(scales and max(scales) - min(scales) < 0.02 * max(scales), f"{name}: trees of one scale: {scales[:5]}")


NAMED = {"image", "img", "button", "checkbox", "searchbox", "textbox", "region", "table", "link", "heading", "navigation"}


def check_screen_reader(check, browser, name):
    """Everything a screen reader stops at has a name."""
    tree = browser.call("Accessibility.getFullAXTree")["nodes"]
    nameless = [n["role"]["value"] for n in tree if not n.get("ignored") and n.get("role", {}).get("value") in NAMED
                and not n.get("name", {}).get("value", "").strip()]
    check.equal(nameless[:5], [], f"{name}: elements without a name")
    check.that(sum(n.get("role", {}).get("value") in ("image", "img") for n in tree) > 2, f"{name}: pictures are found")
    check.equal(browser.ask("document.querySelectorAll('td:not([class]) > i.sw:not([aria-hidden])').length"), 0,
                f"{name}: swatches are hidden from readers")


def check_without_script(check, browser, name, page):
    browser.call("Emulation.setScriptExecutionDisabled", value=True)
    browser.open(page)
    tree = browser.call("DOM.getDocument", depth=0)
    text = browser.call("DOM.getOuterHTML", nodeId=tree["root"]["nodeId"])["outerHTML"]
    check.equal(browser.complaints(), [], f"{name}: console without a script")
    check.that(all(f'id="{s}"' in text for s in SECTIONS[:-1]), f"{name}: sections without a script")
    boxes = browser.call("DOM.querySelectorAll", nodeId=tree["root"]["nodeId"], selector="[data-script]")["nodeIds"]
    for box in boxes[:3]:
        try:
            shown = browser.call("DOM.getBoxModel", nodeId=box)
        except RuntimeError:
            shown = None
        check.that(shown is None, f"{name}: a control that needs a script shows without one")
    browser.call("Emulation.setScriptExecutionDisabled", value=False)


def look_at(check, browser, name, page, told, out):
    check.that(page.stat().st_size < MOST_BYTES, f"{name}: {page.stat().st_size} bytes")
    browser.look(1400, 1200, "light")
    browser.open(page)
    check_safety(check, browser, name)
    check_figures(check, browser, name, told)
    check_structure(check, browser, name, told)
    check_numbers(check, browser, name, told)
    check_looks(check, browser, name, out)
    check_reading(check, browser, name)
    check_restarts(check, browser, name, told)
    check_keyboard(check, browser, name)
    check_screen_reader(check, browser, name)
    browser.look(1400, 1200, "light")
    check_script(check, browser, name, told["k"])
    check_safety(check, browser, name)
    check_without_script(check, browser, name, page)


def main():
    parser = argparse.ArgumentParser(description="Looks at reports in headless Chromium.")
    parser.add_argument("--coforest", required=True, help="the program under test")
    parser.add_argument("--out", type=pathlib.Path, help="keep screenshots here")
    parser.add_argument("--large", action="store_true", help="also a table of 1,000,000 rows and 200 columns")
    args = parser.parse_args()
    program = cdp.find_program()
    if program is None:
        print("SKIPPED: browser tests need Chromium (apt-get install chromium)")
        return 0
    coforest, check = os.path.abspath(args.coforest), Checks()
    if args.out:
        args.out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="cof-report-") as folder:
        work = pathlib.Path(folder)
        hostile.write(work / "hostile.csv", 1500, 200, 13)
        runs = {"zoo": ["--demo"],
                "found": ["--demo", "-k", "auto"],
                "voting": [str(ROOT / "data" / "voting.csv"), "-k", "2", "--label", "class"],
                "hostile": [str(work / "hostile.csv"), "-k", "13", "--label", "true <i>class</i>", "--restarts", "2"]}
        subprocess.run([coforest, "generate", "--rows", "2000", "--columns", "100", "--values", "5", "-k", "6", "--kind",
                        "planted", "--out", str(work / "wide.csv")], check=True, capture_output=True)
        runs["wide"] = [str(work / "wide.csv"), "-k", "6", "--label", "class", "--restarts", "4"]
        subprocess.run([coforest, "generate", "--kind", "mixed", "--rows", "300", "--seed", "2", "--out",
                        str(work / "mixed.csv")], check=True, capture_output=True)
        runs["mixed"] = [str(work / "mixed.csv"), "--label", "class"]
        write_towns(work / "towns.csv")
        runs["towns"] = [str(work / "towns.csv"), "-k", "4"]
        if args.large:
            hostile.write_large(work / "large.csv", coforest, 1000000, 200)
            runs["large"] = [str(work / "large.csv"), "-k", "5", "--label", "true <i>class</i>", "--restarts", "1"]
        browser = cdp.Browser(program)
        try:
            for name, options in runs.items():
                page, told = make_report(coforest, work, name, options)
                look_at(check, browser, name, page, told, args.out)
        finally:
            browser.close()
    print(f"{check.passed} passed, {check.failed} failed")
    return 1 if check.failed else 0


if __name__ == "__main__":
    sys.exit(main())
