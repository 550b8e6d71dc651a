#!/usr/bin/env python3
"""Checks a workbook before it is handed over: formula errors, wrong references, circles, sums that miss rows, numbers
stored as text."""

import argparse
import json
import re

import workbook as books

FORMULAS_MAX = 20_000
SHOWN_MAX = 20
NUMBER_TEXT = re.compile(r"^\s*[-+¥$€]?\s*\d{1,3}(,?\d{3})*(\.\d+)?\s*%?\s*$")
SUM_ABOVE = re.compile(r"^=SUM\(\$?([A-Z]{1,3})\$?(\d+):\$?\1\$?(\d+)\)$", re.I)


def check(path):
    """What was found, with the computed value of every formula."""
    book = books.open_book(path)
    stored = books.open_book(path, data_only=True)
    formulas = [(sheet, cell) for sheet in book.worksheets for cell in books.cells_of(sheet) if cell.data_type == "f"]
    if len(formulas) > FORMULAS_MAX:
        raise books.Refusal(f"{path} has {len(formulas)} formulas, more than {FORMULAS_MAX}: check a part of it")
    from formulas import Computer, Error, Unknown

    computer = Computer(book)
    found = {"formulas": len(formulas), "computed": 0, "errors": [], "warnings": [], "not_computed": [], "values": {}}
    for sheet, cell in formulas:
        place = f"{sheet.title}!{cell.coordinate}"
        written = books.cell_text(cell.value)
        kept = stored[sheet.title][cell.coordinate].value
        try:
            value = computer.value(sheet, cell.column, cell.row)
            found["computed"] += 1
            found["values"][place] = books.cell_text(value)
            if kept is not None and differs(kept, value):
                found["warnings"].append(
                    f"{place} {written}: the stored value is {books.cell_text(kept)}, computed it is "
                    f"{books.cell_text(value)}"
                )
        except Error as error:
            found["errors"].append(f"{place} {written}: {error}")
        except Unknown as unknown:
            if kept in books.ERRORS:
                found["errors"].append(f"{place} {written}: {kept} (stored)")
            else:
                found["not_computed"].append(f"{place} {written}: {unknown}")
        if "#REF!" in written and not found["errors"][-1:] == [f"{place} {written}: #REF!"]:
            found["errors"].append(f"{place} {written}: it refers to cells that are gone")
        short = sum_misses(sheet, cell)
        if short:
            found["warnings"].append(f"{place} {written}: {short}")
    for sheet in book.worksheets:
        found["errors"] += [
            f"{sheet.title}!{cell.coordinate}: {cell.value}" for cell in books.cells_of(sheet) if cell.data_type == "e"
        ]
        found["warnings"] += numbers_as_text(sheet)
    return found


def differs(kept, value):
    if isinstance(kept, (int, float)) and isinstance(value, (int, float)):
        return abs(kept - value) > 1e-6 * max(1, abs(kept))
    return False


def sum_misses(sheet, cell):
    """A sum right below a column of numbers that does not take in all of them."""
    found = SUM_ABOVE.match(cell.value) if isinstance(cell.value, str) else None
    if found is None or found[1].upper() != cell.column_letter or int(found[3]) >= cell.row:
        return None
    first, last = int(found[2]), int(found[3])
    below = [row for row in range(last + 1, cell.row) if is_number(sheet, row, cell.column)]
    above = [row for row in range(max(1, first - 1), first) if is_number(sheet, row, cell.column)]
    missed = above + below
    return f"it leaves out row {', '.join(map(str, missed[:5]))}" if missed else None


def is_number(sheet, row, column):
    cell = sheet._cells.get((row, column))
    return cell is not None and isinstance(cell.value, (int, float))


def numbers_as_text(sheet):
    """Columns of numbers with some that are text: sums pass over them."""
    told = []
    columns = {}
    for cell in books.cells_of(sheet):
        columns.setdefault(cell.column, []).append(cell)
    for column in columns.values():
        texts = [
            cell
            for cell in column
            if cell.data_type == "s" and NUMBER_TEXT.match(str(cell.value)) and not re.match(r"\s*0\d", str(cell.value))
        ]
        numbers = [cell for cell in column if cell.data_type == "n" and cell.value is not None]
        if texts and numbers:
            told.append(
                f"{sheet.title}!{texts[0].coordinate}: {len(texts)} number(s) stored as text beside "
                f"{len(numbers)} real ones, such as {texts[0].value!r}: sums pass over them"
            )
    return told


def main():
    parser = argparse.ArgumentParser(description=__doc__, epilog="Exit code 1: there are errors or warnings.")
    parser.add_argument("file", help=".xlsx or .xlsm")
    parser.add_argument("--values", action="store_true", help="print the computed value of every formula as well")
    parser.add_argument("--json", action="store_true", help="everything as JSON")
    wanted = parser.parse_args()
    found = check(wanted.file)
    bad = found["errors"] or found["warnings"]
    if wanted.json:
        print(json.dumps(found, ensure_ascii=False, indent=1))
        return 1 if bad else 0
    print(
        f"{wanted.file}: {found['formulas']} formulas, {found['computed']} computed, {len(found['errors'])} "
        f"errors, {len(found['warnings'])} warnings"
    )
    for name in ("errors", "warnings", "not_computed"):
        for line in found[name][:SHOWN_MAX]:
            print(f"{name.removesuffix('s').replace('_', ' ')}: {line}")
        if len(found[name]) > SHOWN_MAX:
            print(f"… {len(found[name]) - SHOWN_MAX} more; --json has all")
    if wanted.values:
        for place, value in found["values"].items():
            print(f"{place} = {value}")
    return 1 if bad else 0


if __name__ == "__main__":
    books.run(main)
