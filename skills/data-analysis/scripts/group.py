#!/usr/bin/env python3
"""Groups a table and sums, counts or averages a column; with --columns a pivot. Prints Markdown, --out writes CSV as
well."""

import argparse
import os

import table as tables
from profile_table import add_file, load, plain_number

HOW = ("sum", "mean", "median", "min", "max", "count", "distinct")
SHOWN_DEFAULT = 30
PIVOT_COLUMNS_MAX = 60


def grouped(wanted):
    """The result as a table, and what was left out on the way."""
    table = load(wanted)
    from columns import frame_of

    frame, columns = frame_of(table, wanted.keep_totals)
    by = [known(name.strip(), frame) for name in wanted.by.split(",")]
    across = known(wanted.columns, frame) if wanted.columns else None
    value = known(wanted.value, frame) if wanted.value else None
    if value is None and wanted.how != "count":
        raise tables.Refusal(f"--how {wanted.how} needs --value with a column; --how count does not")
    notes = list(table.warnings)
    if wanted.where:
        frame = chosen(frame, wanted.where)
    if value is not None and wanted.how not in ("count", "distinct"):
        if columns[value]["kind"] != "number":
            raise tables.Refusal(
                f"{value} is a column of kind {columns[value]['kind']}, not number: --how count or distinct "
                "works, or clean it first"
            )
        lost = int(frame[value].isna().sum())
        if lost:
            notes.append(f"{lost} row(s) without a number in {value} do not count")
    frame, by = by_period(frame, by, columns, wanted.period)
    return summed(frame, by, across, value, wanted.how), notes, len(frame)


def known(name, frame):
    if name in frame.columns:
        return name
    raise tables.Refusal(f"there is no column {name}; there are: {', '.join(map(str, frame.columns))}")


def chosen(frame, where):
    """Rows for which `column=value`, `column!=value`, `column>number` and so on hold; several with ` and ` between
    them."""
    import re

    import pandas as pd

    for part in where.split(" and "):
        found = re.fullmatch(r"\s*(.+?)\s*(!=|>=|<=|=|>|<)\s*(.+?)\s*", part)
        if found is None:
            raise tables.Refusal(f"--where {part!r} is not COLUMN=VALUE, with one of = != > >= < <=")
        name, sign, wanted = known(found[1], frame), found[2], found[3].strip("'\"")
        series = frame[name]
        if series.dtype == object:
            cells, other = series.astype(str), wanted
        else:
            cells = series
            try:
                other = pd.Timestamp(wanted) if "datetime" in str(series.dtype) else float(wanted)
            except ValueError as error:
                raise tables.Refusal(f"{name} is compared with {wanted!r}, which is no number or date") from error
        tests = {"=": cells.eq, "!=": cells.ne, ">": cells.gt, ">=": cells.ge, "<": cells.lt, "<=": cells.le}
        frame = frame[tests[sign](other)]
    if frame.empty:
        raise tables.Refusal(f"no row is left by --where {where!r}")
    return frame


def by_period(frame, by, columns, period):
    """Dates become days, months, quarters or years, so that they make groups."""
    dates = [name for name in by if columns[name]["kind"] == "date"]
    if not dates:
        return frame, by
    forms = {"day": "%Y-%m-%d", "month": "%Y-%m", "year": "%Y"}
    frame = frame.copy()
    for name in dates:
        series = frame[name]
        frame[name] = series.dt.to_period("Q").astype(str) if period == "quarter" else series.dt.strftime(forms[period])
    return frame, by


def summed(frame, by, across, value, how):
    keys = by + ([across] if across else [])
    groups = frame.groupby(keys, dropna=False, sort=True)
    if how == "count":
        result = groups.size() if value is None else groups[value].count()
    else:
        result = getattr(groups[value], {"distinct": "nunique"}.get(how, how))()
    result = result.rename(f"{how} of {value}" if value else "count")
    if across is None:
        return result.reset_index()
    if frame[across].nunique() > PIVOT_COLUMNS_MAX:
        raise tables.Refusal(
            f"{across} has {frame[across].nunique()} values, more than {PIVOT_COLUMNS_MAX} columns: put it into "
            "--by instead"
        )
    return result.unstack(across).reset_index()


def markdown(frame, rows_max):
    heads = [str(name) for name in frame.columns]
    lines = ["| " + " | ".join(heads) + " |", "|" + " --- |" * len(heads)]
    for cells in frame.head(rows_max).itertuples(index=False):
        lines.append("| " + " | ".join(cell_text(cell) for cell in cells) + " |")
    if len(frame) > rows_max:
        lines.append(f"… {len(frame) - rows_max} more rows; --top {len(frame)} shows all, --out writes all")
    return "\n".join(lines)


def cell_text(cell):
    if cell is None or cell != cell:
        return ""
    return f"{plain_number(cell):,}" if isinstance(cell, float) else str(cell).replace("|", "\\|").replace("\n", " ")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    add_file(parser)
    parser.add_argument("--by", required=True, help="columns to group by, with commas between them")
    parser.add_argument("--columns", help="column whose values become columns (pivot)")
    parser.add_argument("--value", help="column that is summed up")
    parser.add_argument("--how", choices=HOW, default="sum", help="default: sum")
    parser.add_argument(
        "--period",
        choices=("day", "month", "quarter", "year"),
        default="month",
        help="how dates in --by are grouped (default: month)",
    )
    parser.add_argument("--where", help="rows that count: 'region=华东 and sold>=10'")
    parser.add_argument(
        "--sort", choices=("group", "value"), default="group", help="by group, or the largest value first"
    )
    parser.add_argument("--top", type=int, default=SHOWN_DEFAULT, help=f"rows shown (default {SHOWN_DEFAULT})")
    parser.add_argument("--keep-totals", action="store_true", help="count rows named total, 合计 and the like, too")
    parser.add_argument("--out", help="write all rows as CSV (UTF-8 with mark, so that Excel shows Chinese)")
    wanted = parser.parse_args()
    result, notes, rows = grouped(wanted)
    if wanted.sort == "value" and not wanted.columns:
        result = result.sort_values(result.columns[-1], ascending=False)
    for note in notes:
        print(f"! {note}")
    print(f"{rows} rows in {len(result)} groups\n")
    print(markdown(result, max(1, wanted.top)))
    if wanted.out:
        os.makedirs(os.path.dirname(wanted.out) or ".", exist_ok=True)
        result.to_csv(wanted.out, index=False, encoding="utf-8-sig")
        print(f"\nwritten: {wanted.out}")
    return 0


if __name__ == "__main__":
    tables.run(main)
