"""Chromium through its debugging protocol, with nothing but the standard library."""
import base64
import json
import os
import pathlib
import shutil
import socket
import struct
import subprocess
import tempfile
import time
import urllib.request

PROGRAMS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


def find_program():
    wanted = os.environ.get("COF_CHROMIUM")
    return wanted or next((path for path in map(shutil.which, PROGRAMS) if path), None)


class Socket:
    """As much of a WebSocket (RFC 6455) as talking to one trusted program needs."""

    def __init__(self, url):
        host, path = url.removeprefix("ws://").split("/", 1)
        name, port = host.split(":")
        self.link = socket.create_connection((name, int(port)), timeout=60)
        key = base64.b64encode(os.urandom(16)).decode()
        self.link.sendall((f"GET /{path} HTTP/1.1\r\nHost: {host}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                           f"Sec-WebSocket-Key: {key}\r\nSec-WebSocket-Version: 13\r\n\r\n").encode())
        head = b""
        while not head.endswith(b"\r\n\r\n"):
            head += self.link.recv(1)
        if b" 101 " not in head.split(b"\r\n")[0]:
            raise RuntimeError(head.decode())

    def send(self, text):
        data, mask = text.encode(), os.urandom(4)
        size = len(data)
        head = bytes([0x81]) + (bytes([0x80 | size]) if size < 126 else bytes([0x80 | 126]) + struct.pack(">H", size)
                                if size < 65536 else bytes([0x80 | 127]) + struct.pack(">Q", size))
        self.link.sendall(head + mask + bytes(b ^ mask[i % 4] for i, b in enumerate(data)))

    def exactly(self, n):
        parts = []
        while n > 0:
            part = self.link.recv(min(n, 1 << 20))
            if not part:
                raise RuntimeError("the browser went away")
            parts.append(part)
            n -= len(part)
        return b"".join(parts)

    def receive(self):
        whole = b""
        while True:
            first, second = self.exactly(2)
            size = second & 0x7F
            if size == 126:
                size = struct.unpack(">H", self.exactly(2))[0]
            elif size == 127:
                size = struct.unpack(">Q", self.exactly(8))[0]
            data = self.exactly(size)
            if first & 0x0F in (0, 1, 2):
                whole += data
                if first & 0x80:
                    return whole.decode()


class Browser:
    """One headless browser with one page; remembers what the page said and asked for."""

    def __init__(self, program):
        self.folder = tempfile.TemporaryDirectory(prefix="cof-browser-")
        self.process = subprocess.Popen(
            [program, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
             "--remote-debugging-port=0", f"--user-data-dir={self.folder.name}", "about:blank"],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.count, self.events = 0, []
        self.socket = Socket(self.page_address())
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(domain + ".enable")

    def page_address(self):
        told = pathlib.Path(self.folder.name) / "DevToolsActivePort"
        for _ in range(300):
            if told.exists() and told.read_text().strip():
                port = told.read_text().split()[0]
                with urllib.request.urlopen(f"http://127.0.0.1:{port}/json") as answer:
                    pages = [p for p in json.load(answer) if p["type"] == "page"]
                if pages:
                    return pages[0]["webSocketDebuggerUrl"]
            time.sleep(0.1)
        raise RuntimeError("the browser did not start")

    def call(self, method, **params):
        self.count += 1
        self.socket.send(json.dumps({"id": self.count, "method": method, "params": params}))
        while True:
            message = json.loads(self.socket.receive())
            if message.get("id") == self.count:
                if "error" in message:
                    raise RuntimeError(f"{method}: {message['error']}")
                return message["result"]
            self.events.append(message)

    def open(self, path):
        self.events.clear()
        self.call("Page.navigate", url=pathlib.Path(path).resolve().as_uri())
        while not any(e["method"] == "Page.loadEventFired" for e in self.events):
            self.events.append(json.loads(self.socket.receive()))

    def ask(self, expression):
        done = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in done:
            raise RuntimeError(f"{expression}: {done['exceptionDetails']}")
        return done["result"].get("value")

    def complaints(self):
        """Console output, uncaught errors and policy violations since the page was opened."""
        self.ask("1")
        said = []
        for e in self.events:
            if e["method"] in ("Runtime.consoleAPICalled", "Runtime.exceptionThrown", "Log.entryAdded"):
                said.append(json.dumps(e["params"])[:300])
        return said

    def requests(self):
        return [e["params"]["request"]["url"] for e in self.events if e["method"] == "Network.requestWillBeSent"]

    def look(self, width, height, scheme):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1,
                  mobile=False)
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])

    def screenshot(self, path):
        shot = self.call("Page.captureScreenshot", format="png")
        pathlib.Path(path).write_bytes(base64.b64decode(shot["data"]))

    def press(self, key):
        code, number, text = {"Tab": ("Tab", 9, ""), "Enter": ("Enter", 13, "\r"), " ": ("Space", 32, " ")}[key]
        for kind in ("keyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=key, code=code, windowsVirtualKeyCode=number,
                      **({"text": text} if text and kind == "keyDown" else {}))

    def close(self):
        try:
            self.call("Browser.close")
        except (OSError, RuntimeError):
            pass
        self.process.wait(timeout=30)
        for _ in range(20): # its helpers may still be writing there
            try:
                self.folder.cleanup()
                return
            except OSError:
                time.sleep(0.2)
