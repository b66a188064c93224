"""Makes the lists with several rows per product: a photo library and an ERP as tables of SQLite, joined as people export them.

Needs Python 3 with openpyxl. Run it in this folder.
"""

import csv
import json
import sqlite3

from openpyxl import Workbook

cdn = "https://cdn.example.com/"
db = sqlite3.connect(":memory:")
db.executescript(
    """
    create table articles (ref text primary key, name text, text text, sex text);
    create table photos (file text, ref text, side text, sort integer);
    create table sizes (sku text, ref text, size text, stock integer);
    insert into articles values
      ('D-1', 'Linen dress', 'Soft, light', 'female'), ('C-2', 'Wool coat', null, 'male'), ('H-3', 'Hat', null, null);
    insert into photos values
      ('01.jpg', 'D-1', 'front', 2), ('02.jpg', 'C-2', 'front', 1), ('03.jpg', 'D-1', 'back', 1),
      ('04.jpg', 'H-3', 'front', 1), ('05.jpg', 'C-2', 'detail', null), ('06.jpg', 'D-1', 'detail', 3);
    insert into sizes values
      ('D-1-S', 'D-1', 'S', 3), ('D-1-M', 'D-1', 'M', 0), ('D-1-L', 'D-1', 'L', 9), ('C-2-50', 'C-2', '50', 1);
    """
)


def rows(sql):
    cursor = db.execute(sql)
    return [column[0] for column in cursor.description], cursor.fetchall()


def table(name, sql, encoding="utf-8", **form):
    head, body = rows(sql)
    with open(name, "w", newline="", encoding=encoding) as file:
        writer = csv.writer(file, lineterminator="\n", **form)
        writer.writerow(head)
        writer.writerows(body)


# A photo library: a row per photo, by file name, so that the rows of a product do not stand together.
per_photo = f"""select a.ref as reference, name, text as description, sex, '{cdn}' || file as image_1
  from photos p join articles a on a.ref = p.ref order by file"""
table("library.csv", per_photo)
table("library-utf16.csv", per_photo, "utf-16", delimiter="\t")

# The same with the position of each photo.
table("positions.csv", per_photo.replace(" from", ", sort as position from", 1).replace("\n  from", ", sort as position from"))

# A row per side: each row has one of the columns.
table(
    "sides.csv",
    f"""select a.ref as reference, name,
      case side when 'front' then '{cdn}' || file end as image_front,
      case side when 'back' then '{cdn}' || file end as image_back,
      case side when 'detail' then '{cdn}' || file end as image_detail
    from photos p join articles a on a.ref = p.ref order by a.ref desc, sort desc""",
    delimiter=";",
)

# An ERP: a row per size, each with the same photos in one cell.
table(
    "sizes.csv",
    f"""select s.ref as reference, name, sex, size, stock,
      (select group_concat('{cdn}' || file, ' | ') from photos where ref = s.ref) as images
    from sizes s join articles a on a.ref = s.ref""",
    quoting=csv.QUOTE_ALL,
)

# A shop: the fields in the first row of a product alone, a row per size and per photo after it.
table(
    "shop.csv",
    f"""select ref as reference, case when n = 1 then name else '' end as name, '' as sex, image_1
    from (select a.ref, name, '{cdn}' || file as image_1, row_number() over (partition by a.ref order by file) as n
      from photos p join articles a on a.ref = p.ref
      union all select ref, '', '', 100 + rowid from sizes)
    order by ref, n""",
)

# Two systems disagree.
table(
    "names.csv",
    f"""select a.ref as reference, name || case sort when 3 then ' II' else '' end as name, '{cdn}' || file as image_1
    from photos p join articles a on a.ref = p.ref order by file""",
)

# A burst of photos.
table(
    "burst.csv",
    f"""with recursive n(i) as (select 1 union all select i + 1 from n where i < 21)
    select 'B-9' as reference, 'Boot' as name, '{cdn}' || i || '.jpg' as images from n""",
)

# A cell with a comma that nobody quoted.
with open("unquoted.csv", "w", newline="") as file:
    file.write(f"reference,name,image_1\nD-1,Dress,{cdn}01.jpg\nH-3,Hat,{cdn}04.jpg\nD-1,Dress, long,{cdn}03.jpg\n")

head, body = rows(per_photo + ", sort")
with open("library.ndjson", "w", encoding="utf-8") as file:
    for reference, name, description, sex, url in body:
        row = {"reference": reference, "name": name, "description": description, "sex": sex, "images": [{"url": url}]}
        file.write(json.dumps(row, ensure_ascii=False) + "\n")

head, body = rows(
    f"""select a.ref as reference, name, sex, '{cdn}' || file as image_1, sort as position
    from photos p join articles a on a.ref = p.ref order by file"""
)
book = Workbook()
sheet = book.active
sheet.title = "Photos"
sheet.append(head)
for row in body:
    sheet.append(row)
book.save("library.xlsx")
sheet["C4"] = "male"
book.save("sexes.xlsx")
