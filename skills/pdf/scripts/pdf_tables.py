#!/usr/bin/env python3
"""Finds tables on pages of a PDF by where their words stand, and writes each as CSV. Check them against the page: a
PDF has no cells."""

import argparse
import csv
import os
import re
import xml.etree.ElementTree as xml

import common_pdf as pdf
from pdf_text import count_of

ROWS_MIN = 3
COLUMNS_MIN = 2
SHOWN_MAX = 8
# What stands before an item of a list is no column.
LIST_MARK = re.compile(r"[•·◦▪■●○–*-]|\(?\d{1,2}[.)、]")


def words_of(path, page, password):
    """The words of a page as (left, right, top, bottom, text)."""
    secret = ["-upw", password] if password else []
    text = pdf.run_poppler(
        "pdftotext",
        ["-bbox", "-enc", "UTF-8", "-f", str(page), "-l", str(page), *secret, path, "-"],
        "positions of words",
    )
    clean = re.sub(r"[\x00-\x08\x0b\x0c\x0e-\x1f]", "", text[text.index("<html") :] if "<html" in text else text)
    clean = re.sub(r"<meta[^>]*>|<title>.*?</title>", "", clean, flags=re.S)
    try:
        root = xml.fromstring(clean)
    except xml.ParseError as error:
        raise pdf.Refusal(
            f"page {page}: the positions of its words cannot be read ({error}); use pdf_text.py --layout"
        ) from error
    words = [one for one in root.iter() if one.tag.endswith("word")]
    return [
        (float(one.get("xMin")), float(one.get("xMax")), float(one.get("yMin")), float(one.get("yMax")), one.text or "")
        for one in words
    ]


def lines_of(words):
    """Words that stand at the same height, from top to bottom, each line as chunks with a wide gap between them."""
    lines = []
    for word in sorted(words, key=lambda one: ((one[2] + one[3]) / 2, one[0])):
        middle = (word[2] + word[3]) / 2
        if lines and abs(middle - lines[-1][0]) <= 0.4 * (word[3] - word[2]):
            lines[-1][1].append(word)
        else:
            lines.append([middle, [word]])
    return [(middle, chunks_of(sorted(line))) for middle, line in lines]


def chunks_of(words):
    chunks = []
    for left, right, top, bottom, text in words:
        gap = left - chunks[-1][1] if chunks else None
        if gap is not None and (gap < 0.9 * (bottom - top) or LIST_MARK.fullmatch(chunks[-1][2])):
            joined = chunks[-1][2] + (" " if gap > 0.12 * (bottom - top) else "") + text
            chunks[-1] = (chunks[-1][0], right, joined, bottom - top)
        else:
            chunks.append((left, right, text, bottom - top))
    return chunks


def tables_of(lines):
    """Runs of lines that have several chunks and stand close together."""
    found, current = [], []
    for middle, chunks in lines:
        far = current and middle - current[-1][0] > 4.5 * max(chunk[3] for chunk in chunks)
        if current and (far or len(chunks) < COLUMNS_MIN and not fits(chunks, current)):
            found.append(current)
            current = []
        if len(chunks) >= COLUMNS_MIN or current:
            current.append((middle, chunks))
    found.append(current)
    tables = [cells_of(run) for run in found if sum(len(chunks) >= COLUMNS_MIN for _, chunks in run) >= ROWS_MIN]
    return [table for table in tables if table and len(table[0]) >= COLUMNS_MIN]


def fits(chunks, current):
    """A lone chunk belongs to a table if it stands within one of its later columns: a cell that goes on in a second
    line."""
    columns = columns_of(current)
    inside = [index for index, (left, right) in enumerate(columns) if chunks[0][0] < right and chunks[0][1] > left]
    return len(inside) == 1


def columns_of(run):
    """Where columns stand: spans of chunks that overlap belong together, unless one line has two chunks in the span."""
    spans = []
    wide = max(len(chunks) for _, chunks in run)
    for left, right, *_ in sorted(chunk for _, chunks in run if len(chunks) >= max(2, wide - 1) for chunk in chunks):
        if spans and left < spans[-1][1]:
            spans[-1] = (spans[-1][0], max(right, spans[-1][1]))
        else:
            spans.append((left, right))
    return spans


def cells_of(run):
    columns = columns_of(run)
    rows = []
    for _, chunks in run:
        row = [""] * len(columns)
        for left, right, text, _ in chunks:
            index = max(
                range(len(columns)), key=lambda place: min(right, columns[place][1]) - max(left, columns[place][0])
            )
            row[index] = f"{row[index]} {text}".strip()
        if len(chunks) == 1 and rows and row[0] == "":
            rows[-1] = [f"{above} {below}".strip() for above, below in zip(rows[-1], row)]
        else:
            rows.append(row)
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__, epilog="Exit code 1: no table was found.")
    parser.add_argument("file")
    parser.add_argument("--pages", help="1-3,7 or -1 for the last (default: all)")
    parser.add_argument("--out", default="outputs", help="folder for the CSV files (default: outputs)")
    parser.add_argument("--password", help="if the file is protected")
    wanted = parser.parse_args()
    count = count_of(wanted.file, wanted.password)
    os.makedirs(wanted.out, exist_ok=True)
    stem = os.path.splitext(os.path.basename(wanted.file))[0]
    found, bare = 0, []
    for page in [index + 1 for index in pdf.pages_of(wanted.pages, count)]:
        words = words_of(wanted.file, page, wanted.password)
        if not words:
            bare.append(page)
        for number, table in enumerate(tables_of(lines_of(words)), 1):
            found += 1
            name = os.path.join(wanted.out, f"{stem}-page-{page}-table-{number}.csv")
            with open(name, "w", encoding="utf-8-sig", newline="") as file:
                csv.writer(file).writerows(table)
            print(f"written: {name} ({len(table)} rows, {len(table[0])} columns)")
            for row in table[:SHOWN_MAX]:
                print("  | " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |")
    if bare:
        print(f"[pages {pdf.ranges(bare)} have no text: scans or pictures; look at them with pdf_look.py]")
    if not found:
        print("no table was found: try pdf_text.py --layout, or look at the page with pdf_look.py")
    return 0 if found else 1


if __name__ == "__main__":
    pdf.run(main)
