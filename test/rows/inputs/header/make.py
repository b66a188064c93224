#!/usr/bin/env python3
"""Tables with lines around them, written by pandas 3.0, Python's csv, sqlite3 3.40 and PHP 8.2: python3 make.py"""
import csv
import io
import pathlib
import subprocess

import openpyxl
import pandas

here = pathlib.Path(__file__).parent
photo = "https://cdn.example.com/{}.jpg".format
names = ["reference", "name", "image_front"]
rows = [["A-1", "Dress, red", photo(1)], ["A-2", "Hat", photo(2)]]
frame = pandas.DataFrame(rows, columns=names)


def write(name, text, encoding="utf-8"):
    (here / name).write_bytes(text.encode(encoding))


def as_csv(lines, **options):
    text = io.StringIO()
    csv.writer(text, **options).writerows(lines)
    return text.getvalue()


# Titles, comments and groups above the header.
write("pandas-comment.csv", "# exported by the shop, 2026-11-01, 2 products, all\n" + frame.to_csv(index=False))
write("title-quotes.csv", 'Summer "2026" collection\n\n' + frame.to_csv(index=False, sep=";"))
write("title-padded.csv", as_csv([["Export of shop", "", ""], ["as of", "2026-11-01", ""], names, *rows], delimiter=";"))
write("numbers-utf16.csv", as_csv([["Table 1", "", ""], names, *rows], delimiter="\t"), "utf-16")
write("quoted-all.csv", as_csv([["Table 1"], names, *rows], quoting=csv.QUOTE_ALL))
write("groups.csv", as_csv([["Article", "", "Images"], names, *rows]))
write("declared.csv", "sep=;\r\n" + as_csv([["Our export"], names, *rows], delimiter=";"))
groups = pandas.DataFrame(rows, columns=pandas.MultiIndex.from_tuples([("Article", "reference"), ("Article", "name"), ("Photos", "image_front")]))
write("pandas-groups.csv", groups.to_csv(index=False))
sqlite = lambda *flags: subprocess.run(["sqlite3", *flags, ":memory:"], input=f"""create table p (reference, name, image_front);
insert into p values ('A-1', 'Dress', '{photo(1)}'), ('A-2', 'Hat', '{photo(2)}');
select * from p;
.headers off
{"select '(' || count(*) || ' rows)' from p;" if '-csv' in flags else ''}""", text=True, capture_output=True, check=True).stdout
# Lines that are no rows.
write("sqlite-count.csv", sqlite("-header", "-csv"))
write("sqlite-box.txt", sqlite("-header", "-table"))
write("sqlite-markdown.txt", sqlite("-header", "-markdown"))
write("header-again.csv", frame.to_csv(index=False) + frame.head(1).assign(reference="A-3").to_csv(index=False))
report = pandas.concat([frame.assign(price=[49, 19]), pandas.DataFrame([["Total", "", "", 68]], columns=[*names, "price"])])
write("pandas-total.csv", report.to_csv(index=False))
write("footer.csv", as_csv([names, *rows, ["Exported on 2026-11-01 by the shop"], ["Page 1 of 1"]]))
# Spoiled by a program that saved them again.
as_lines = as_csv([names, *rows]).splitlines()
write("one-column.csv", as_csv([[line] for line in as_lines]))
write("one-column-semicolons.csv", as_csv([[line, "", ""] for line in as_lines], delimiter=";"))
write("header-not-quoted.csv", as_lines[0] + "\n" + as_csv([[line] for line in as_lines[1:]]))
write("semicolons-and-commas.csv", as_csv([[";".join(line), "", ""] for line in [names, *rows[1:]]]))
write("commas-and-semicolons.csv", as_csv([[",".join(line), "", ""] for line in [names, *rows[1:]]], delimiter=";"))
php = '<?php $f = fopen("php://output", "w"); foreach (json_decode(stream_get_contents(STDIN)) as $r) fputcsv($f, $r, ",", "\\"", "");'
import json
write("php-title.csv", subprocess.run(["php", "-r", php[6:]], input=json.dumps([["Shop Export"], [], names, *rows]), text=True, capture_output=True, check=True).stdout)
# A workbook with a title, two rows of headers, and a total.
book = openpyxl.Workbook()
for line in [["Summer"], [], ["Article", None, "Photos"], names, *rows, ["Total", "=COUNTA(A5:A6)"]]:
    book.active.append(line)
book.save(here / "total.xlsx")
