#!/usr/bin/env python3
"""Workbooks with several sheets, written by openpyxl 3.1 and pandas 3.0: python3 make.py"""
import pathlib

import openpyxl
import pandas

here = pathlib.Path(__file__).parent
photo = "https://cdn.example.com/{}.jpg".format
products = [["reference", "name", "image_front"], ["A-1", "Dress", photo(1)], ["A-2", "Hat", photo(2)]]
german = [["Artikel-Nr.", "Titel", "Foto", "Preis"], ["K-1", "Kleid", photo(1), 49], ["K-2", "Hose", photo(2), 59]]
suppliers = [["Nr", "Name", "Ort"], ["L-1", "Weber", "Ulm"]]
unknown = [["Kod", "Opis", "Link"], ["K-1", "Sukienka", photo(1)]]


def write(name, **sheets):
    book = openpyxl.Workbook()
    book.remove(book.active)
    for title, rows in sheets.items():
        sheet = book.create_sheet(title.replace("_", " "))
        for row in rows:
            sheet.append(row)
    book.save(here / f"{name}.xlsx")


write("articles-first", Artikel=german, Lieferanten=suppliers)
write("suppliers-first", Lieferanten=suppliers, Artikel=german)
write("customers", Kunden=[["ID", "Name", "Ort"], ["1", "Anna", "Ulm"]], Artikel=german)
write("english", Suppliers=[["Supplier No", "Name", "City"], ["1", "Weber", "Ulm"]],
      Items=[["SKU", "Title", "Image 1", "Price"], ["S-1", "Shirt", photo(1), 10]])
write("french", Fournisseurs=[["No", "Nom", "Ville"], ["1", "Weber", "Lyon"]],
      Articles=[["Référence", "Désignation", "Photo"], ["F-1", "Robe", photo(1)]])
write("prices", Prices=[["reference", "name", "price"], ["A-1", "Dress", 49]], Products=products)
write("instructions", Read_me=[["How to fill in this workbook"], ["Each row is one product."]],
      Products=[["Collection 2026"], [], *products])
write("groups", Notes=[["to do"]],
      Products=[["Our summer collection"], ["Article", None, "Photos"], *products])
write("twice", Summer=products, Winter=products)
write("unknown", Artykuly=unknown, Dostawcy=[["Nr", "Name", "Miasto"], ["1", "Weber", "Ulm"]])
write("looks", Models=[["model_id", "name"], ["Amara", "Amara"]],
      Looks=[["product_reference", "model_id", "background", "angle_shot"], ["DRESS-1", "Amara", "white", "full-front"]])
write("to-delete", All=[["product_id", "reference", "name"], ["01HZ0000000000000000000000", "A-1", "Dress"]],
      Delete=[["reference"], ["A-2"]])
with pandas.ExcelWriter(here / "pandas.xlsx") as book:
    pandas.DataFrame({"Nr": [1], "Name": ["Weber"]}).to_excel(book, sheet_name="Lieferanten")
    pandas.DataFrame(german[1:], columns=german[0]).to_excel(book, sheet_name="Artikel", index=False, startrow=2)
