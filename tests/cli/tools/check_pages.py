#!/usr/bin/env python3
"""check_pages.py DIR: the SVG files are XML, the page is whole and asks nothing of anybody."""
import html.parser
import json
import pathlib
import sys
import xml.etree.ElementTree as xml

folder = pathlib.Path(sys.argv[1])
VOID = {"meta", "br", "link", "img", "hr"}


class Page(html.parser.HTMLParser):
    """Counts tags and checks that they are closed in order."""

    def __init__(self):
        super().__init__()
        self.open, self.seen, self.outside = [], {}, []

    def handle_starttag(self, tag, attrs):
        self.seen[tag] = self.seen.get(tag, 0) + 1
        self.outside += [v for k, v in attrs if k in ("src", "href") and v and "://" in v]
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.seen[tag] = self.seen.get(tag, 0) + 1

    def handle_endtag(self, tag):
        assert self.open and self.open[-1] == tag, (tag, self.open[-3:])
        self.open.pop()


for path in sorted(folder.glob("*.svg")):
    root = xml.parse(path).getroot()
    width, height = (float(root.get(k)) for k in ("width", "height"))
    beyond = [t.text for t in root.iter() if t.tag.endswith("text")
              and not (0 <= float(t.get("x")) <= width and 0 <= float(t.get("y")) <= height)]
    numbers = path.read_text(encoding="utf-8")
    print(path.name, "beyond the edge:", beyond, "not a number:", "nan" in numbers or "inf" in numbers.lower().replace("info", ""))
for path in sorted(folder.glob("*.json")):
    json.loads(path.read_text(encoding="utf-8"))
page = Page()
page.feed((folder / "index.html").read_text(encoding="utf-8"))
print("unclosed:", page.open, "scripts:", page.seen.get("script", 0), "outside:", page.outside)
print("sections:", page.seen["section"], "pictures:", page.seen["svg"], "tables:", page.seen["table"])
