"""Writes corpus.ndjson: names of products (texts.json) in code pages, as Python's codecs write them.

Each line is {"codepage", "encoding", "language", "names", "bytes"}: `encoding` is the name of the code page for
--encoding, null where no browser reads it; `bytes` is a CSV file, in base64.
"""

import base64
import json
import pathlib

here = pathlib.Path(__file__).parent
texts = json.loads((here / "texts.json").read_text("utf-8"))

# Python's codec, the name for --encoding, the languages of people who save such files.
pages = [
    ("cp1250", "windows-1250", "pl cs hu ro hr"),
    ("cp1251", "windows-1251", "ru uk bg"),
    ("cp1252", "windows-1252", "de fr es pt sv da is fi"),
    ("cp1253", "windows-1253", "el"),
    ("cp1254", "windows-1254", "tr"),
    ("cp1255", "windows-1255", "he"),
    ("cp1256", "windows-1256", "ar"),
    ("cp1257", "windows-1257", "lt lv et"),
    ("cp874", "windows-874", "th"),
    ("iso8859_2", "iso-8859-2", "pl cs hu"),
    ("iso8859_5", "iso-8859-5", "ru"),
    ("iso8859_6", "iso-8859-6", "ar"),
    ("iso8859_7", "iso-8859-7", "el"),
    ("iso8859_15", "iso-8859-15", "fr de"),
    ("mac_roman", "macintosh", "fr de es sv"),
    ("mac_cyrillic", "x-mac-cyrillic", "ru"),
    ("koi8_r", "koi8-r", "ru"),
    ("koi8_u", "koi8-u", "uk"),
    ("cp866", "ibm866", "ru"),
    ("gbk", "gbk", "zh"),
    ("big5", "big5", "zh-TW"),
    ("shift_jis", "shift_jis", "ja"),
    ("euc_jp", "euc-jp", "ja"),
    ("cp949", "euc-kr", "ko"),
    ("cp850", None, "de fr es"),
    ("cp852", None, "pl cs hu"),
    ("cp437", None, "de"),
    ("cp720", None, "ar"),
    ("cp855", None, "ru"),
    ("mac_greek", None, "el"),
    ("mac_latin2", None, "pl cs"),
]
lengths = (1, 2, 5, 15, 40)


def names(language, count, turn):
    """Names of nouns and adjectives, in an order that shows different ones at each turn; only with foreign letters if one."""
    nouns, adjectives = texts[language]
    every = [f"{noun} {adjective}" for noun in nouns for adjective in adjectives]
    mixed = [every[(turn * 17 + at * 29) % len(every)] for at in range(len(every))]
    if count == 1:
        mixed = [name for name in mixed if not name.isascii()]
    return mixed[:count]


def encode(text, codec):
    # The typographic apostrophe is no character of older code pages.
    return (text if codec in ("cp1252", "mac_roman") else text.replace("’", "'")).encode(codec)


with open(here / "corpus.ndjson", "w", encoding="ascii") as out:
    for codec, encoding, languages in pages:
        for language in languages.split():
            for count in lengths:
                rows = names(language, count, count)
                lines = ["reference,name,image_front"]
                for at, name in enumerate(rows):
                    lines.append(f"SKU-{1000 + at},{name},https://cdn.example.com/{at}.jpg")
                end = "\r" if codec.startswith("mac") else "\r\n"
                data = encode(end.join(lines) + end, codec)
                if all(byte < 128 for byte in data):
                    continue
                out.write(json.dumps({
                    "codepage": codec, "encoding": encoding, "language": language, "names": count,
                    "bytes": base64.b64encode(data).decode("ascii"),
                }) + "\n")
