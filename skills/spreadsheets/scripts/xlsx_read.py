#!/usr/bin/env python3
"""Reads a workbook: without --sheet what is in it, with --sheet its rows, formulas beside values; --csv streams a
large sheet into a file."""

import argparse
import csv
import os

import workbook as books

ROWS_DEFAULT = 50
PREVIEW_ROWS = 5
PREVIEW_COLUMNS = 12
CELL_CHARACTERS_MAX = 80
# Formulas, merged and hidden cells are looked for in files up to this size: a larger one takes minutes.
LOOKED_THROUGH_BYTES_MAX = 1024 * 1024


def overview(path):
    """Sheets with their sizes, states, merged cells and first rows; names and what the file has besides."""
    book = books.open_book(path, read_only=True, data_only=True)
    written = books.open_book(path, read_only=True)
    whole = books.open_book(path) if os.path.getsize(path) <= LOOKED_THROUGH_BYTES_MAX else None
    print(f"{path}: {len(book.sheetnames)} sheets")
    for sheet in book.worksheets:
        rows, columns, head = measured(sheet, written[sheet.title])
        notes = [] if sheet.sheet_state == "visible" else [f"{sheet.sheet_state}"]
        full = whole[sheet.title] if whole is not None else None
        if full is not None:
            notes += notes_of(full)
        print(f"\n## {sheet.title}: {rows} rows, {columns} columns" + (f" ({'; '.join(notes)})" if notes else ""))
        for number, row in head:
            print(f"{number}: | " + " | ".join(row[:PREVIEW_COLUMNS]) + " |")
    extra = books.lost_by_saving(path)
    if extra:
        print(
            f"\nThe file has {', '.join(extra)}: openpyxl loses them when it saves. Write results into a file of "
            "their own."
        )
    if whole is not None and len(whole.defined_names.definedName):
        print("\nNames: " + ", ".join(f"{one.name} = {one.attr_text}" for one in whole.defined_names.definedName[:20]))
    return 0


def measured(sheet, formulas):
    """Rows and columns that have something in them, counted by reading: what a file says of its size is often wrong."""
    last, widest, head = 0, 0, []
    first = books.rows_of(formulas, max_row=PREVIEW_ROWS * 4)
    for number, row in enumerate(books.rows_of(sheet), 1):
        # A formula without a stored value is a cell with something in it, too.
        written = next(first, row)
        filled = [index for index, value in enumerate(written) if value is not None]
        if not filled:
            continue
        last, widest = number, max(widest, filled[-1] + 1)
        if len(head) < PREVIEW_ROWS:
            head.append((number, [pair(value, text) for value, text in zip(row, written)][: filled[-1] + 1]))
    return last, widest, head


def notes_of(sheet):
    formulas = sum(1 for cell in books.cells_of(sheet) if cell.data_type == "f")
    notes = [f"{formulas} formulas"] if formulas else []
    if sheet.merged_cells.ranges:
        notes.append(f"merged: {', '.join(str(one) for one in list(sheet.merged_cells.ranges)[:5])}")
    hidden = [name for name, one in sheet.column_dimensions.items() if one.hidden]
    if hidden:
        notes.append(f"hidden columns: {', '.join(hidden)}")
    if any(one.hidden for one in sheet.row_dimensions.values()):
        notes.append("hidden rows")
    if sheet.tables:
        notes.append(f"tables: {', '.join(f'{name} {one.ref}' for name, one in sheet.tables.items())}")
    if sheet.protection.sheet:
        notes.append("protected")
    return notes


def rows_shown(wanted):
    """Rows of one sheet as Markdown with the letters of the columns; where a cell has a formula, `value {=formula}`."""
    from openpyxl.utils import get_column_letter

    first_column, first_row, last_column, last_row = (
        books.box_of(wanted.range) if wanted.range else (None, None, None, None)
    )
    # A sheet that is streamed takes None for the first row as an error.
    limits = {"min_col": first_column, "min_row": first_row or 1, "max_col": last_column, "max_row": last_row}
    values = books.sheet_of(books.open_book(wanted.file, read_only=True, data_only=True), wanted.sheet)
    formulas = books.sheet_of(books.open_book(wanted.file, read_only=True), wanted.sheet)
    shown, total, unknown, begin = 0, 0, 0, (first_column or 1)
    for number, (row, written) in enumerate(
        zip(books.rows_of(values, **limits), books.rows_of(formulas, **limits)),
        first_row or 1,
    ):
        if all(value is None for value in written):
            continue
        total += 1
        if wanted.rows and shown >= wanted.rows:
            continue
        if shown == 0:
            print("| row | " + " | ".join(get_column_letter(begin + index) for index in range(len(written))) + " |")
        shown += 1
        unknown += sum(1 for value, text in zip(row, written) if value is None and is_formula(text))
        print(f"| {number} | " + " | ".join(pair(value, text) for value, text in zip(row, written)) + " |")
    print(
        f"\n{values.title}: {shown} of {total} rows with something in them"
        + ("; --range A51:Z100 or --rows 0 shows more" if shown < total else "")
    )
    if unknown:
        print(
            f"! {unknown} formulas have no stored value: the file was not saved by Excel or WPS since. "
            "xlsx_check.py computes common ones."
        )
    return 0


def is_formula(text):
    return isinstance(text, str) and text.startswith("=") or hasattr(text, "text")


def pair(value, written):
    text = cut(books.cell_text(value))
    if not is_formula(written):
        return text
    return f"{text or '?'} {{{cut(books.cell_text(written))}}}"


def cut(text):
    text = text.replace("|", "\\|")
    return text if len(text) <= CELL_CHARACTERS_MAX else text[: CELL_CHARACTERS_MAX - 1] + "…"


def to_csv(wanted):
    """Streams a sheet into a CSV file; memory stays small whatever its size."""
    sheet = books.sheet_of(books.open_book(wanted.file, read_only=True, data_only=True), wanted.sheet)
    os.makedirs(os.path.dirname(wanted.csv) or ".", exist_ok=True)
    count = 0
    with open(wanted.csv, "w", encoding="utf-8-sig", newline="") as file:
        writer = csv.writer(file)
        for row in books.rows_of(sheet):
            if any(value is not None for value in row):
                writer.writerow([books.cell_text(value) for value in row])
                count += 1
    print(f"written: {wanted.csv} ({sheet.title}, {count} rows)")
    return 0


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", help=".xlsx or .xlsm")
    parser.add_argument("--sheet", help="name of the sheet whose rows are shown")
    parser.add_argument("--range", help="A1:D20, B3, A:C or 2:9")
    parser.add_argument(
        "--rows", type=int, default=ROWS_DEFAULT, help=f"rows shown at most, 0 for all (default {ROWS_DEFAULT})"
    )
    parser.add_argument("--csv", help="write the values of the sheet into this file instead")
    wanted = parser.parse_args()
    if wanted.csv:
        return to_csv(wanted)
    return rows_shown(wanted) if wanted.sheet or wanted.range else overview(wanted.file)


if __name__ == "__main__":
    books.run(main)
