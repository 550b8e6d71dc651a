#!/usr/bin/env python3
"""Sets cells of a workbook and keeps everything else; writes a new file. Refuses files of which openpyxl would lose
parts."""

import argparse
import os
import re

import workbook as books
from xlsx_make import as_value


def edit(wanted):
    lost = books.lost_by_saving(wanted.file)
    if lost and not wanted.accept_loss:
        raise books.Refusal(
            f"{wanted.file} has {', '.join(lost)}, which would be lost. Ask the user; with their consent "
            "--accept-loss. Or write the new numbers into a file of their own with xlsx_make.py"
        )
    if os.path.exists(wanted.out) and os.path.samefile(wanted.file, wanted.out):
        raise books.Refusal("--out would overwrite the original: choose another name below outputs/")
    macros = wanted.file.lower().endswith(".xlsm")
    if os.path.splitext(wanted.out)[1].lower() != (".xlsm" if macros else ".xlsx"):
        raise books.Refusal(f"--out ends in {'.xlsm, because the file has macros' if macros else '.xlsx'}")
    book = books.open_book(wanted.file, keep_vba=macros)
    changes = [change_of(text, book) for text in wanted.set]
    for sheet, place, value in changes:
        cell = sheet[place]
        if type(cell).__name__ == "MergedCell":
            raise books.Refusal(f"{sheet.title}!{place} lies inside merged cells: set their first cell")
        before = books.cell_text(cell.value)
        cell.value = value
        print(f"{sheet.title}!{place}: {before or '(empty)'} → {books.cell_text(value) or '(empty)'}")
    os.makedirs(os.path.dirname(wanted.out) or ".", exist_ok=True)
    book.save(wanted.out)
    kept = books.changed_by_saving(wanted.file)
    if kept:
        print(f"! the file has {', '.join(kept)}: they are kept, but finer details of their look may differ; say so")
    print(f"written: {wanted.out} ({len(changes)} cells). Now run xlsx_check.py on it")
    return 0


def change_of(text, book):
    """`Sheet!B2=value` or `B2=value`; a value that begins with = is a formula, one in quotes stays text, none empties
    the cell."""
    found = re.match(r"^(?:(.+)!)?\$?([A-Za-z]{1,3})\$?(\d{1,7})=(.*)$", text, re.S)
    if found is None or int(found[3]) < 1:
        raise books.Refusal(f"--set {text!r} is not Sheet!B2=value")
    sheet = books.sheet_of(book, found[1].strip("'") if found[1] else None)
    raw = found[4]
    quoted = re.fullmatch(r"\"(.*)\"|'(.*)'", raw, re.S)
    value = (
        None
        if raw == ""
        else (quoted[1] or quoted[2] or "")
        if quoted
        else raw
        if raw.startswith("=")
        else as_value(raw)
    )
    return sheet, f"{found[2].upper()}{found[3]}", value


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", help=".xlsx or .xlsm")
    parser.add_argument(
        "--set",
        action="append",
        required=True,
        metavar="SHEET!B2=VALUE",
        help='may be repeated; =SUM(B2:B9) is a formula, "00123" stays text, nothing empties',
    )
    parser.add_argument("--out", required=True, help="a new file, such as outputs/plan.xlsx")
    parser.add_argument("--accept-loss", action="store_true", help="the user agreed to lose what openpyxl cannot keep")
    return edit(parser.parse_args())


if __name__ == "__main__":
    books.run(main)
