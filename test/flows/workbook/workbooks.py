"""Writes workbooks with cells that people have, by openpyxl or XlsxWriter: python3 workbooks.py FOLDER COUNT."""

import datetime
import os
import random
import sys

folder, count = sys.argv[1], int(sys.argv[2])

UMLAUTS = ["Kleid grün", "Größe XL", "Hose ß", "Šaty", "robe d'été", "ドレス", "платье", "👗 dress", 'a "quoted", one', "a;b", "tab\there"]
FORMATS = ["General", "0", "0.00", "#,##0", "00000", "0000000000000", "@", '"SKU-"0000', "0%", "0.00E+00", "#,##0.00 [$€-407]", "[Red]0",
           "000-000", "00.00", "0,", "#", "#,##0.0#", "0;(0)", "0;[Red]-0;;@", "[<=99999]00000;00000-0000", '0" kg"', "?0", "# ?/?", "\\A0"]
DATES = ["yyyy-mm-dd", "dd.mm.yyyy", "d/m/yy", "mmm yy", "dddd", "hh:mm", "[h]:mm", "mm/dd/yyyy"]


def cell(rng):
    """A value and the format of its cell."""
    kind = rng.randrange(12)
    if kind <= 3:
        return rng.choice(UMLAUTS), "General"
    if kind == 4:
        return "%05d" % rng.randrange(1000), "@"
    if kind == 5:
        return rng.randrange(10**12, 10**13), rng.choice(["General", "0"])
    if kind == 6:
        return rng.choice([0, -7, rng.randrange(100_000), rng.randrange(10**9)]), rng.choice(FORMATS)
    if kind == 7:
        return rng.choice([0.1 + 0.2, 19.9, 1e-7, 1234567.891, -5.5, 1 / 3, 1e15, 2**53 + 2, 99.99, 1e20]), rng.choice(["General", "0.00"])
    if kind == 8:
        return datetime.date(rng.randrange(1901, 2100), rng.randrange(1, 13), rng.randrange(1, 29)), rng.choice(DATES)
    if kind == 9:
        return rng.choice([True, False]), "General"
    if kind == 10:
        return rng.choice([" leading", "trailing ", "two\nlines", "=not a formula", "'quoted", "#REF", "-1", "+49 30"]), "@"
    return None, "General"


def rows(rng):
    width = rng.randrange(2, 9)
    yield [("column %d" % column, "General") for column in range(width)]
    for _ in range(rng.randrange(1, 30)):
        yield [cell(rng) for _ in range(width)] if rng.random() < 0.9 else []


def by_openpyxl(path, rng):
    import openpyxl

    book = openpyxl.Workbook()
    sheet = book.active
    sheet.title = rng.choice(["Sheet1", "Tabelle 1", "Größen"])
    for number, row in enumerate(rows(rng), 1):
        for column, (value, form) in enumerate(row, 1):
            if value is None:
                continue
            one = sheet.cell(number, column)
            one.value = value
            if isinstance(value, str):
                one.data_type = "s"
            one.number_format = form
    book.save(path)


def by_xlsxwriter(path, rng):
    import xlsxwriter

    book = xlsxwriter.Workbook(path, {"constant_memory": rng.random() < 0.5, "date_1904": rng.random() < 0.2})
    sheet = book.add_worksheet(rng.choice(["Sheet1", "Tabelle 1", "Größen"]))
    for number, row in enumerate(rows(rng)):
        for column, (value, form) in enumerate(row):
            style = book.add_format({"num_format": form})
            if value is None:
                sheet.write_blank(number, column, None, style)
            elif isinstance(value, bool):
                sheet.write_boolean(number, column, value, style)
            elif isinstance(value, str):
                sheet.write_string(number, column, value, style)
            elif isinstance(value, datetime.date):
                sheet.write_datetime(number, column, datetime.datetime(value.year, value.month, value.day), style)
            else:
                sheet.write_number(number, column, value, style)
    book.close()


for seed in range(count):
    by, name = [(by_openpyxl, "openpyxl"), (by_xlsxwriter, "xlsxwriter")][seed % 2]
    by(os.path.join(folder, "%s-%d.xlsx" % (name, seed)), random.Random(seed))
