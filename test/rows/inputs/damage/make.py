# Makes the inputs of damage.test.ts with pandas 3.0, openpyxl 3.1 and the codecs of Python:
#   python3 -m venv /tmp/rows && /tmp/rows/bin/pip install pandas openpyxl && /tmp/rows/bin/python make.py
# Texts of programs in JavaScript come from Node.

import csv
import json
import os
import subprocess

import openpyxl
import pandas

os.chdir(os.path.dirname(os.path.abspath(__file__)))


def photo(number):
    return f"https://cdn.example.com/{number}.jpg"


def frame(references, names):
    photos = [photo(number) for number in range(1, len(names) + 1)]
    return pandas.DataFrame({"reference": references, "name": names, "image_front": photos})


def write_csv(name, rows, **options):
    with open(name, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n", **options)
        writer.writerow(["reference", "name", "image_front"])
        writer.writerows([*row, photo(number)] for number, row in enumerate(rows, 1))


# A column with a gap holds floats; the row of the gap was dropped later.
gap = frame([1001, None, 1003], ["Item 1", "gone", "Item 3"])
gap.dropna().to_csv("gap.csv", index=False, lineterminator="\n")

# Codes of two kinds: those that are numbers became floats.
mixed = frame([1001.0, "A-12", 1003.0], ["Item 1", "Item 2", "Item 3"])
mixed.to_csv("mixed.csv", index=False, lineterminator="\n")

# Versions with decimals are no damage.
versions = frame(["1.0", "1.1", "2.0", "2.1"], ["First", "Second", "Third", "Fourth"])
versions.to_csv("versions.csv", index=False, lineterminator="\n")

# EANs as floats, in a short format.
eans = frame([4006381333931.0, 4006381333948.0, 12.0], ["Belt", "Hat", "Scarf"])
eans.to_csv("eans.csv", index=False, lineterminator="\n", float_format="%.6g")

# Missing values that were made texts.
nothing = [str(value) for value in (float("nan"), None, pandas.NA, pandas.NaT)]
missing = frame(["V-1", "V-2", "V-3", "V-4"], nothing)
missing.to_csv("missing.csv", index=False, lineterminator="\n")

# Codes that were read as dates.
dates = frame(pandas.to_datetime(["2026-03-01", "2026-12-05"]), ["Item 1", "Item 2"])
dates.to_csv("dates.csv", index=False, lineterminator="\n")

# Texts kept from spreadsheets: by a writer of CSV, and by a program that joins cells.
texts = [['="00123"', '="Belt"'], ['="4006381333931"', '="5"" heel"'], ["'=00124", "Hat"]]
write_csv("formula-texts.csv", texts)
with open("formula-texts-bare.csv", "w", encoding="utf-8") as file:
    file.write('="reference";="name";="image_front"\n')
    for number, (reference, name) in enumerate([["00123", "Belt"], ["4006381333931", '5"" heel']], 1):
        file.write(f'="{reference}";="{name}";="{photo(number)}"\n')

# UTF-8 that was read as another encoding, and bytes that were replaced.
french = "Café crème"
write_csv(
    "encoded-twice.csv",
    [
        ["M-1", french.encode().decode("cp1252")],
        ["M-2", french.encode().decode("mac_roman")],
        ["M-3", french.encode().decode("cp850")],
        ["M-4", "Платье летнее".encode().decode("cp1252", "replace").replace("\ufffd", "\x81")],
        ["M-5", french],
        ["M-6", "Платье летнее"],
    ],
)
write_csv("replaced.csv", [["R-1", french.encode("latin-1").decode("utf-8", "replace")], ["R-2", french]])

# What a script makes of values that it does not have.
script = """
const row = {}, rows = [[`${row.sku}-M`, "Belt"], ["S-2", String({})], [String(Number("x")), "Hat"],
  [`S-4-${row.size}`, String(null)], ["S-5", "Undefined"], [new Date(Date.UTC(2026, 2, 1)).toString(), "Date"],
  [String(4006381333931e9), "Large"]];
rows.forEach(([reference, name], at) => console.log(JSON.stringify({ reference, name,
  images: [{ url: `https://cdn.example.com/${at + 1}.jpg` }] })));
"""
with open("script.ndjson", "wb") as file:
    environment = {**os.environ, "TZ": "UTC"}
    file.write(subprocess.run(["node", "-e", script], check=True, capture_output=True, env=environment).stdout)

# Texts in text cells, and the same damage in cells of other types.
book = openpyxl.Workbook()
sheet = book.active
sheet.title = "Artikel"
sheet.append(["reference", "name", "image_front"])
cells = ["4.01E+12", "#BEZUG!", "########", "01.Mrz", "1001.0", "1,001", '="00123"', "K-1"]
for number, text in enumerate(cells, 1):
    sheet.append([None, "#NV" if text == "K-1" else f"Item {number}", photo(number)])
    cell = sheet.cell(row=number + 1, column=1)
    cell.value = text
    cell.data_type = "s"
sheet["A9"].value = pandas.Timestamp("2026-03-01").to_pydatetime()
sheet["A9"].number_format = "d-mmm"
book.properties.created = book.properties.modified = pandas.Timestamp("2026-01-05").to_pydatetime()
book.save("cells.xlsx")
