#!/usr/bin/env python3
"""Makes a formatted workbook: from CSV files, one sheet each, or from a plan in JSON with sheets, formulas, formats
and charts."""

import argparse
import csv
import json
import os
import re

import workbook as books

ROWS_MAX = 1_048_575
WIDTH_MAX = 60
CHARTS = ("bar", "line", "pie", "scatter")
NUMBER = re.compile(r"^-?(?:0|[1-9]\d{0,14})(?:\.\d+)?$")


def plan_of_csv(paths):
    """A plan with one sheet a file; numbers become numbers, what has leading zeros or is very long stays text."""
    sheets = []
    for path in paths:
        rows = read_csv(path)
        name = re.sub(r"[\[\]:*?/\\]", " ", os.path.splitext(os.path.basename(path))[0]).strip()[:31] or "Sheet"
        sheets.append({"name": name, "rows": [[as_value(cell) for cell in row] for row in rows]})
    return {"sheets": sheets}


def read_csv(path):
    if not os.path.isfile(path):
        raise books.Refusal(f"there is no file {path}")
    with open(path, "rb") as file:
        data = file.read()
    for encoding in ("utf-8-sig", "gb18030", "cp1252"):
        try:
            text = data.decode(encoding)
            break
        except UnicodeDecodeError:
            continue
    else:
        raise books.Refusal(f"{path} is no text")
    head = text.split("\n", 1)[0]
    separator = max(",\t;|", key=head.count)
    rows = [row for row in csv.reader(text.splitlines(keepends=True), delimiter=separator) if row]
    if not rows:
        raise books.Refusal(f"{path} has no rows")
    return rows


def as_value(cell):
    cell = cell.strip()
    return (float(cell) if "." in cell else int(cell)) if NUMBER.match(cell) and len(cell) <= 15 else cell


def read_plan(path):
    if not os.path.isfile(path):
        raise books.Refusal(f"there is no file {path}: write the plan first, such as temp/plan.json")
    try:
        with open(path, encoding="utf-8-sig") as file:
            plan = json.load(file)
    except (json.JSONDecodeError, UnicodeDecodeError) as error:
        raise books.Refusal(f"{path} is no JSON in UTF-8: {error}") from error
    if not isinstance(plan, dict) or not isinstance(plan.get("sheets"), list) or not plan["sheets"]:
        raise books.Refusal('a plan is {"sheets": [{"name": "…", "rows": [[…], …]}, …]}; see references/plan.md')
    return plan


def make(plan, out):
    from openpyxl import Workbook

    book = Workbook()
    book.remove(book.active)
    for number, wanted in enumerate(plan["sheets"], 1):
        add_sheet(book, wanted, number)
    os.makedirs(os.path.dirname(out) or ".", exist_ok=True)
    book.save(out)
    shown = ", ".join(f"{sheet.title} ({sheet.max_row} rows)" for sheet in book.worksheets)
    print(f"written: {out}: {shown}. Now run xlsx_check.py on it")
    return 0


def add_sheet(book, wanted, number):
    where = f"sheet {number}"
    rows = wanted.get("rows") if isinstance(wanted, dict) else None
    if not isinstance(rows, list) or not rows or not all(isinstance(row, list) for row in rows):
        raise books.Refusal(f'{where}: "rows" is a list of lists, the header first')
    if len(rows) > ROWS_MAX:
        raise books.Refusal(f"{where}: {len(rows)} rows are more than a sheet holds ({ROWS_MAX}): split them")
    name = str(wanted.get("name") or f"Sheet{number}")
    if len(name) > 31 or re.search(r"[\[\]:*?/\\]", name) or name in book.sheetnames:
        raise books.Refusal(
            f"{where}: the name {name!r} is taken, has more than 31 characters, or one of [ ] : * ? / \\"
        )
    sheet = book.create_sheet(name)
    for row_number, row in enumerate(rows, 1):
        for column, value in enumerate(row, 1):
            if value is not None and value != "":
                put(sheet, row_number, column, value, where)
    dress(sheet, wanted, where)
    for chart in wanted.get("charts", []):
        add_chart(sheet, chart, where)


def put(sheet, row, column, value, where):
    from openpyxl.cell.cell import ILLEGAL_CHARACTERS_RE

    if isinstance(value, (list, dict)):
        raise books.Refusal(
            f"{where}, row {row}: a cell is a text, a number, true, false or null, not "
            f"{json.dumps(value, ensure_ascii=False)[:60]}"
        )
    if isinstance(value, str):
        value = ILLEGAL_CHARACTERS_RE.sub("", value)
        if len(value) > 32767:
            raise books.Refusal(f"{where}, row {row}: a cell holds 32767 characters, not {len(value)}")
    cell = sheet.cell(row, column, value)
    # A text that only begins like a formula, such as "=== total ===", would make the file unreadable.
    if cell.data_type == "f" and re.match(r"=[=\s]|=$", value):
        cell.data_type = "s"


def dress(sheet, wanted, where):
    """Header, widths, formats, a frozen first row and a filter: what makes a sheet readable."""
    from openpyxl.styles import Alignment, Font, PatternFill
    from openpyxl.utils import get_column_letter

    for cell in sheet[1]:
        cell.font = Font(bold=True, color="FFFFFF")
        cell.fill = PatternFill("solid", fgColor="1F4E79")
        cell.alignment = Alignment(horizontal="center", vertical="center", wrap_text=True)
    sheet.freeze_panes = "A2"
    if sheet.max_row > 2:
        sheet.auto_filter.ref = f"A1:{get_column_letter(sheet.max_column)}{sheet.max_row}"
    heads = [books.cell_text(cell.value) for cell in sheet[1]]
    formats = wanted.get("formats", {})
    for head, form in formats.items():
        if head not in heads:
            raise books.Refusal(f"{where}: formats name a column {head}; there are: {', '.join(heads)}")
        for row in range(2, sheet.max_row + 1):
            sheet.cell(row, heads.index(head) + 1).number_format = str(form)
    for index in range(1, sheet.max_column + 1):
        widest = max(
            (
                books.width_of(books.cell_text(sheet.cell(row, index).value))
                for row in range(1, min(sheet.max_row, 500) + 1)
                if sheet.cell(row, index).data_type != "f"
            ),
            default=0,
        )
        sheet.column_dimensions[get_column_letter(index)].width = min(WIDTH_MAX, max(9, widest + 3))
    if wanted.get("total"):
        for column in range(1, sheet.max_column + 1):
            sheet.cell(sheet.max_row, column).font = Font(bold=True)


def add_chart(sheet, wanted, where):
    """`{"kind", "title", "x": header, "y": [headers], "at": "F2", "rows": [2, 13]}`"""
    from openpyxl import chart as charts
    from openpyxl.chart import Reference, Series

    heads = [books.cell_text(cell.value) for cell in sheet[1]]
    kind = wanted.get("kind")
    names = wanted.get("y") if isinstance(wanted.get("y"), list) else [wanted.get("y")]
    if kind not in CHARTS:
        raise books.Refusal(f"{where}: a chart is one of {', '.join(CHARTS)}, not {kind}")
    unknown = [name for name in [wanted.get("x"), *names] if name not in heads]
    if unknown:
        raise books.Refusal(f"{where}: a chart names the column {unknown[0]}; there are: {', '.join(heads)}")
    first, last = wanted.get("rows", [2, sheet.max_row])
    made = {"bar": charts.BarChart, "line": charts.LineChart, "pie": charts.PieChart, "scatter": charts.ScatterChart}[
        kind
    ]()
    along = Reference(sheet, min_col=heads.index(wanted["x"]) + 1, min_row=first, max_row=last)
    for name in names:
        values = Reference(sheet, min_col=heads.index(name) + 1, min_row=first, max_row=last)
        made.series.append(Series(values, along, title=name) if kind == "scatter" else Series(values, title=name))
    if kind != "scatter":
        made.set_categories(along)
    made.title = wanted.get("title")
    made.width, made.height = 18, 9
    sheet.add_chart(made, wanted.get("at", f"{'ABCDEFGHIJKLMNOPQRSTUVWXYZ'[min(25, sheet.max_column + 1)]}2"))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs="+", help="one plan (.json), or CSV files, one sheet each")
    parser.add_argument("--out", required=True, help="such as outputs/sales.xlsx")
    wanted = parser.parse_args()
    if not wanted.out.lower().endswith(".xlsx"):
        raise books.Refusal(f"--out ends in .xlsx, not {os.path.basename(wanted.out)}")
    is_plan = wanted.files[0].lower().endswith(".json")
    if is_plan and len(wanted.files) > 1:
        raise books.Refusal("one plan at a time; it can have many sheets")
    try:
        import openpyxl  # noqa: F401
    except ImportError as error:
        raise books.Refusal(
            "openpyxl is not installed here: write CSV instead, or have the operator install python3-openpyxl",
            books.EXIT_LIBRARY,
        ) from error
    return make(read_plan(wanted.files[0]) if is_plan else plan_of_csv(wanted.files), wanted.out)


if __name__ == "__main__":
    books.run(main)
