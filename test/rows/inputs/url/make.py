"""Writes the inputs next to this file with the standard library of Python 3, as programs of shops use it."""

import csv
import html
import json
import pathlib
import string
import urllib.parse

here = pathlib.Path(__file__).parent
base = "https://cdn.example.com/"
a, b = base + "a.jpg", base + "b.jpg"


def table(name, rows, **dialect):
    with open(here / name, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n", **dialect)
        writer.writerow(["reference", "name", "images"])
        writer.writerows([f"U-{line}", title, cell] for line, (title, cell) in enumerate(rows, 2))


# Programs that put texts together.
missing = {}
table(
    "programs.csv",
    [
        ("html.escape", html.escape(base + "a.jpg?w=1&h=2")),
        ("urljoin of nothing", urllib.parse.urljoin(base, missing.get("file", ""))),
        ("str(None)", base + str(missing.get("file"))),
        ("str(nan)", base + str(float("nan")) + ".jpg"),
        ("Template, no value", string.Template(base + "${sku}.jpg").safe_substitute(missing)),
        ("quoted braces", base + urllib.parse.quote("{{sku}}.jpg")),
        ("a list as text", str([a, b])),
        ("a list as JSON", json.dumps([a, b])),
        ("joined by ::", "::".join([a, b])),
        ("joined by nothing", "".join([a, b])),
        ("joined by a comma", ",".join([a, b])),
        ("joined by |", "|".join([a, b])),
        ("one too many", a + ","),
        ("quoted twice", json.dumps(a)),
        ("lost letters", base + "caf\u00e9.jpg".encode("latin-1").decode("utf-8", "replace")),
        ("urlunsplit without a scheme", urllib.parse.urlunsplit(("", "cdn.example.com", "/a.jpg", "", ""))),
        ("quote of all", urllib.parse.quote(a)),
        ("unquote", urllib.parse.unquote(base + "red%20bag.jpg")),
        ("right", base + urllib.parse.quote("plaża/red bag.jpg")),
    ],
)

# The same texts as objects, one image each.
with open(here / "programs.ndjson", "w", encoding="utf-8") as file:
    for line, url in enumerate(
        [
            html.escape(base + "a.jpg?w=1&h=2"),
            "\u200b" + a + "\ufeff",
            "::".join([a, b]),
            base + "red bag.jpg",
            base + "red\u00a0bag.jpg",
            "//cdn.example.com/a.jpg",
            json.dumps(a),
            base + urllib.parse.quote("plaża.jpg"),
        ],
        1,
    ):
        file.write(json.dumps({"reference": f"N-{line}", "name": "x", "images": [{"url": url}]}) + "\n")
