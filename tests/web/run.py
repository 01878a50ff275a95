#!/usr/bin/env python3
"""Uses the page in a real browser, opened from a file.

    tests/web/run.py --page build-wasm/coforest.html --coforest build/coforest [--out DIR]

Clusters Zoo, Voting, a mixed table and one of 100,000 rows and 20 columns in headless Chromium: what is downloaded must be
what the program of this machine writes. Stops a run, labels rows with a model, reads gzip, names beyond ASCII and tables
that are refused; asks whether anything was or can be sent; looks for names of controls, the keyboard and narrow windows.
--out keeps screenshots to be looked at. Without Chromium it says so and passes.
"""
import argparse
import functools
import gzip
import http.server
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tests" / "browser"))
import cdp  # noqa: E402
from checks import Checks  # noqa: E402

MOST_BYTES = 600_000
MOST_TIMES = 2.5
WIDTHS = (400, 800, 1400)
ANY_NAMES = "name,город,城市\n" + "".join(f"r{i},{'Тверь' if i % 2 else 'Omsk'},{'北京' if i % 2 else '上海'}\n" for i in range(40))


class Page:
    """The page as its user sees it."""

    def __init__(self, browser, page, downloads):
        self.browser, self.downloads = browser, downloads
        browser.open(page)
        browser.call("Browser.setDownloadBehavior", behavior="allow", downloadPath=str(downloads))

    def ask(self, expression):
        return self.browser.ask(expression)

    def text(self, name):
        return self.ask(f"document.getElementById('{name}').textContent")

    def wait(self, condition, seconds=120):
        """Until it holds, or the page complains."""
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            if self.ask(condition):
                return True
            time.sleep(0.05)
        return False

    def idle(self, seconds=120):
        return self.wait("document.getElementById('work-part').hidden", seconds)

    def click(self, name):
        self.ask(f"document.getElementById('{name}').click()")

    def give(self, name, path):
        root = self.browser.call("DOM.getDocument", depth=0)["root"]["nodeId"]
        node = self.browser.call("DOM.querySelector", nodeId=root, selector=f"#{name}")["nodeId"]
        self.browser.call("DOM.setFileInputFiles", nodeId=node, files=[str(path)])
        time.sleep(0.1)
        self.idle()

    def choose(self, column, use):
        self.ask(f"""{{ const i = table.columns.findIndex(c => c.name === {json.dumps(column)});
            const s = document.querySelectorAll('#columns select')[i]; s.value = '{use}'; s.onchange(); }}""")

    def fit(self, seconds=300):
        self.click("fit-button")
        return self.idle(seconds)

    def download(self, part, number):
        """The bytes that a click on a link gives."""
        name = self.ask(f"document.querySelectorAll('#{part} a')[{number}].download")
        path = self.downloads / name
        path.unlink(missing_ok=True)
        self.ask(f"document.querySelectorAll('#{part} a')[{number}].click()")
        for _ in range(200):
            if path.exists() and not path.with_name(path.name + ".crdownload").exists():
                return path.read_bytes()
            time.sleep(0.05)
        return b""


def native(coforest, folder, options):
    """Labels, table and model of the program of this machine, and its JSON."""
    files = {"--labels-out": folder / "l.csv", "--table-out": folder / "t.csv", "--model-out": folder / "m.cof"}
    done = subprocess.run([coforest, "fit", *options, "--json", "--threads", "1", *(str(w) for pair in files.items() for w in pair)],
                          check=True, capture_output=True)
    return [path.read_bytes() for path in files.values()], json.loads(done.stdout)


def check_fit(check, page, coforest, folder, name, path, options, k=None, roles=()):
    if path is None:
        page.click("zoo-button")
        page.idle()
        path = ROOT / "data" / "zoo.csv"
    else:
        page.give("table-file", path)
    check.equal(page.text("wrong"), "", f"{name}: reading")
    for column, use in roles:
        page.choose(column, use)
    if k is None:
        page.click("k-auto")
    else:
        page.ask(f"document.getElementById('k').value = {k}; document.getElementById('k').oninput()")
    check.that(page.fit(), f"{name}: the fit ends")
    check.equal(page.text("wrong"), "", f"{name}: fitting")
    want, told = native(coforest, folder, [str(path), "-k", str(k or "auto"), *options])
    got = [page.download("downloads", number) for number in range(4)]
    check.equal(got[0], want[0], f"{name}: labels")
    check.equal(got[1], want[1], f"{name}: table with clusters")
    check.that(got[3].startswith(b"<!DOCTYPE html>"), f"{name}: report")
    check.that(f"{told['k']} cluster" in page.text("result-summary"), f"{name}: {page.text('result-summary')}")
    check.that(page.ask("document.getElementById('report').srcdoc.length > 10000"), f"{name}: the report is shown")
    return got, told


def check_stop(check, page, path):
    """With twelve clusters, where there are five, few starts agree, and the restarts take much longer than a look at the page."""
    page.give("table-file", path)
    page.ask("document.getElementById('k').value = 12; document.getElementById('k').oninput();"
             "document.getElementById('restarts').value = 1000")
    page.click("fit-button")
    check.that(page.wait("/Restart [3-9]/.test(document.getElementById('progress-text').textContent)"), "stop: progress is told")
    began = time.monotonic()
    page.click("stop-button")
    check.that(page.idle(60), "stop: it ends")
    print(f"stopped after {time.monotonic() - began:.1f} s")
    check.that("best result so far" in page.text("result-summary"), f"stop: {page.text('result-summary')} {page.text('wrong')}")
    check.equal(page.download("downloads", 0).count(b"\n"), 100001, "stop: labels")
    page.click("fit-button")
    page.wait("running !== null")
    page.ask("running.abandon()")
    check.that(page.idle(10) and "Nothing was kept" in page.text("wrong"), f"stop twice: {page.text('wrong')}")
    page.ask("document.getElementById('restarts').value = ''")


def check_predict(check, page, coforest, folder, model):
    rows = ROOT / "data" / "voting.csv"
    packed = folder / "votes.csv.gz"
    packed.write_bytes(gzip.compress(rows.read_bytes()))
    saved = folder / "voting.cof"
    saved.write_bytes(model)
    page.give("model-file", saved)
    page.give("new-file", packed)
    page.click("predict-button")
    page.idle()
    check.equal(page.text("wrong"), "", "predict")
    want = subprocess.run([coforest, "predict", str(saved), str(rows), "-q"], check=True, capture_output=True).stdout
    check.equal(page.download("predict-downloads", 0), want, "predict: labels, from gzip")
    check.that(b"cluster" in page.download("predict-downloads", 1), "predict: table")
    native_model = folder / "m.cof"
    page.give("model-file", native_model)
    page.click("predict-button")
    page.idle()
    check.equal(page.download("predict-downloads", 0), want, "predict: with a model of this machine")


def check_refusals(check, page, folder):
    cases = {"empty.csv": (b"", "empty"), "packed.csv.zst": (b"\x28\xb5\x2f\xfd\0\0", "zstd"),
             "broken.csv.gz": (gzip.compress(b"a,b\n1,2\n" * 50)[:20], "damaged"), "ragged.csv": (b"a,b\n1,2\n1\n", "line 3")}
    for name, (data, word) in cases.items():
        (folder / name).write_bytes(data)
        page.give("table-file", folder / name)
        said = page.text("wrong")
        check.that(word in said and name.split(".")[0] in said, f"{name}: {said}")
    large = folder / "large.csv"
    with open(large, "wb") as file:
        file.truncate(251_000_000)
    page.give("table-file", large)
    check.that("250 MB" in page.text("wrong"), f"large: {page.text('wrong')}")
    large.unlink()


def check_names(check, page, coforest, folder):
    path = folder / "данные 表.csv"
    path.write_text(ANY_NAMES, encoding="utf-8")
    page.give("table-file", path)
    check.that("данные 表.csv: 40 rows" in page.text("table-summary"), f"names: {page.text('table-summary')}")
    page.ask("document.getElementById('k').value = 2; document.getElementById('k').oninput()")
    page.fit()
    want, _ = native(coforest, folder, [str(path), "-k", "2"])
    check.equal(page.download("downloads", 1), want[1], "names: table with clusters")
    page.choose("name", "use")  # an identifier can be clustered on all the same
    page.fit()
    want, _ = native(coforest, folder, [str(path), "-k", "2", "--columns", "name", "--columns", "город", "--columns", "城市"])
    check.equal(page.download("downloads", 0), want[0], "names: identifier used")


class Listener(http.server.BaseHTTPRequestHandler):
    heard = []

    def do_GET(self):
        self.heard.append(self.path)
        self.send_response(200)
        self.send_header("Access-Control-Allow-Origin", "*")
        self.end_headers()

    do_POST = do_HEAD = do_OPTIONS = do_GET

    def log_message(self, *args):
        pass


TRIES = """(async () => { const to = 'http://127.0.0.1:PORT/';
  const worker = `onmessage = async () => { try { await fetch('${to}worker'); postMessage('sent'); } catch { postMessage('refused'); } }`;
  const inside = new Worker(URL.createObjectURL(new Blob([worker])));
  const said = new Promise(r => { inside.onmessage = e => r(e.data); inside.postMessage(1); });
  const image = new Image(); image.src = to + 'image'; document.body.append(image);
  const frame = document.createElement('iframe'); frame.src = to + 'frame'; document.body.append(frame);
  const script = document.createElement('script'); script.src = to + 'script'; document.body.append(script);
  const style = document.createElement('link'); style.rel = 'stylesheet'; style.href = to + 'style'; document.body.append(style);
  const form = document.createElement('form'); form.action = to + 'form'; document.body.append(form); form.submit();
  navigator.sendBeacon(to + 'beacon', 'x');
  let page = 'sent'; try { await fetch(to + 'fetch'); } catch { page = 'refused'; }
  let socket = 'sent'; try { await new Promise((r, f) => { const s = new WebSocket(to.replace('http', 'ws') + 'socket'); s.onopen = r; s.onerror = f; }); } catch { socket = 'refused'; }
  const answers = [await said, page, socket];
  await new Promise(r => setTimeout(r, 500));
  return answers.join(); })()"""


def check_silence(check, browser, page):
    """Nothing was sent while everything above was done, and the policy does not let anything be sent."""
    asked = [url for url in browser.requests() if not url.startswith(("file:", "blob:", "data:", "about:"))]
    check.equal(asked, [], "requests")
    check.equal([said for said in browser.complaints() if "favicon" not in said], [], "console")
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Listener) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        check.equal(page.ask(TRIES.replace("PORT", str(server.server_port))), "refused,refused,refused", "tries to send")
        server.shutdown()
    check.equal(Listener.heard, [], "what a server heard")


def check_server(check, browser, page, path):
    """The page works from a server as well, and asks it for nothing but itself."""
    class Server(http.server.SimpleHTTPRequestHandler):
        asked = []

        def do_GET(self):
            self.asked.append(self.path)
            super().do_GET()

        def log_message(self, *args):
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Server, directory=str(path.resolve().parent))) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        browser.call("Page.navigate", url=f"http://127.0.0.1:{server.server_port}/{path.name}")
        page.wait("typeof program !== 'undefined' && document.readyState === 'complete'")
        page.click("zoo-button")
        page.idle()
        page.fit()
        check.that("7 clusters of 101 rows" in page.text("result-summary"), f"from a server: {page.text('result-summary')}")
        check.equal(Server.asked, [f"/{path.name}"], "what the server was asked for")
        server.shutdown()


def check_screen_reader(check, browser):
    tree = browser.call("Accessibility.getFullAXTree")["nodes"]
    wanted = {"button", "link", "combobox", "textbox", "spinbutton", "checkbox", "radio", "table", "heading", "region"}
    nameless = [n["role"]["value"] for n in tree if not n.get("ignored") and n.get("role", {}).get("value") in wanted
                and not n.get("name", {}).get("value", "").strip()]
    check.equal(nameless, [], "controls without a name")


def check_keyboard(check, browser, page):
    """Zoo by keyboard alone."""
    page.ask("document.getElementById('zoo-button').focus()")
    browser.press("Enter")
    page.idle()
    check.equal(page.ask("document.activeElement.id"), "columns-title", "keyboard: the columns get the focus")
    for _ in range(100):
        if page.ask("document.activeElement.id") == "fit-button":
            break
        browser.press("Tab")
    check.equal(page.ask("document.activeElement.id"), "fit-button", "keyboard: Tab reaches the button")
    browser.press("Enter")
    time.sleep(0.1)
    page.idle()
    page.wait("document.activeElement.id === 'result-title'", 5)
    check.equal(page.ask("document.activeElement.id"), "result-title", "keyboard: the result gets the focus")


def check_looks(check, browser, page, out):
    for width in WIDTHS:
        for scheme in ("light", "dark"):
            browser.look(width, 1000, scheme)
            time.sleep(0.2)
            check.that(page.ask("document.documentElement.scrollWidth <= innerWidth"), f"wider than {width}")
            if out:
                for place in ("table-part", "fit-part", "result-part", "predict-part"):
                    page.ask(f"document.getElementById('{place}').scrollIntoView()")
                    time.sleep(0.2)
                    browser.screenshot(out / f"{place}-{width}-{scheme}.png")
    browser.look(1400, 1000, "light")


def check_speed(check, coforest, page, folder, path):
    """Beside the program of this machine with one thread; the least of five, because other work disturbs."""
    command = [coforest, "fit", str(path), "-k", "5", "--label", "class", "--threads", "1", "--json", "--report",
               str(folder / "speed.html"), "--labels-out", str(folder / "labels.csv"), "--model-out", str(folder / "speed.cof"), "--table-out", str(folder / "speed.csv")]
    here, there = [], []
    for _ in range(5):
        here.append(json.loads(subprocess.run(command, check=True, capture_output=True).stdout)["timings"])
        page.fit()
        there.append(page.ask("result.timings"))
    for key in ("read_s", "fit_s", "total_s"):
        a, b = (min(times[key] for times in side) for side in (here, there))
        print(f"100,000 x 20, k = 5, {key}: here {a:.3f} s, in the page {b:.3f} s, {b / a:.2f} times")
    check.that(b < MOST_TIMES * a, f"speed: {b / a:.2f} times the time of this machine")


def main():
    parser = argparse.ArgumentParser(description="Uses the page in headless Chromium.")
    parser.add_argument("--page", type=pathlib.Path, required=True)
    parser.add_argument("--coforest", required=True, help="the program of this machine")
    parser.add_argument("--out", type=pathlib.Path, help="keep screenshots here")
    args = parser.parse_args()
    program = cdp.find_program()
    if program is None:
        print("SKIPPED: the page is not tested, because Chromium is not here (apt-get install chromium)")
        return 77
    coforest, check = os.path.abspath(args.coforest), Checks()
    if args.out:
        args.out.mkdir(parents=True, exist_ok=True)
    check.that(args.page.stat().st_size < MOST_BYTES, f"{args.page.stat().st_size} bytes")
    with tempfile.TemporaryDirectory(prefix="cof-web-") as work:
        folder = pathlib.Path(work)
        (folder / "down").mkdir()
        for name, options in {"mixed": ["mixed", "--rows", "300", "--seed", "2"],
                              "large": ["planted", "--rows", "100000", "--columns", "20", "--values", "5", "-k", "5"]}.items():
            subprocess.run([coforest, "generate", "--out", str(folder / f"{name}.csv"), "--kind", *options], check=True, capture_output=True)
        browser = cdp.Browser(program)
        try:
            browser.look(1400, 1000, "light")
            page = Page(browser, args.page, folder / "down")
            classes = [("class", "label")]
            check_keyboard(check, browser, page)
            check_fit(check, page, coforest, folder, "zoo", None, ["--label", "class"], roles=classes)
            check_looks(check, browser, page, args.out)
            check_screen_reader(check, browser)
            check_fit(check, page, coforest, folder, "mixed", folder / "mixed.csv", ["--label", "class"], 3, classes)
            large = check_fit(check, page, coforest, folder, "large", folder / "large.csv", ["--label", "class"], 5, classes)
            check.that(large[1]["n_rows"] == 100000, "large: rows")
            check_speed(check, coforest, page, folder, folder / "large.csv")
            check_stop(check, page, folder / "large.csv")
            check_names(check, page, coforest, folder)
            got, _ = check_fit(check, page, coforest, folder, "voting", ROOT / "data" / "voting.csv", ["--label", "class"], 2, classes)
            check_predict(check, page, coforest, folder, got[2])
            check_refusals(check, page, folder)
            check_silence(check, browser, page)
            check_server(check, browser, page, args.page)
        finally:
            browser.close()
    print(f"{check.passed} passed, {check.failed} failed")
    return 1 if check.failed else 0


if __name__ == "__main__":
    sys.exit(main())
