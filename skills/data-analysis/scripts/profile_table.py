#!/usr/bin/env python3
"""Tells what a table is like: encoding, columns, kinds, missing values, outliers, duplicates. Reads CSV, TSV, JSON,
XLSX, Parquet."""

import argparse
import importlib.util
import json

import table as tables

EXAMPLES_MAX = 3
TOP_MAX = 5
COLUMNS_SHOWN_MAX = 60
CELL_CHARACTERS_MAX = 40


def profile(table):
    """Everything there is to know before computing, as one JSON value."""
    from columns import frame_of

    frame, columns = frame_of(table)
    warnings = list(table.warnings)
    duplicates = int(frame.duplicated().sum()) if len(frame) else 0
    if duplicates:
        warnings.append(f"{duplicates} row(s) are exact copies of an earlier one: ask before removing them")
    told = [column_told(name, column) for name, column in columns.items()]
    for one in told:
        if one["missing"] > 0.5 * max(1, len(frame)) and one["kind"] != "empty":
            warnings.append(f"{one['name']}: {one['missing']} of {len(frame)} values are missing")
        if one["kind"] == "empty":
            warnings.append(f"{one['name']} has no values at all")
    return {**table.facts, "duplicate_rows": duplicates, "warnings": warnings, "columns_found": told}


def column_told(name, column):
    series = column["series"].dropna()
    told = {"name": name, "kind": column["kind"], "missing": column["missing"], "distinct": int(series.nunique())}
    if column["kind"] == "number" and len(series):
        told |= {
            key: plain_number(value)
            for key, value in (
                ("min", series.min()),
                ("median", series.median()),
                ("mean", series.mean()),
                ("max", series.max()),
                ("sum", series.sum()),
            )
        }
        outliers = outliers_of(series)
        if len(outliers):
            told["outliers"] = {
                "count": int(len(outliers)),
                "examples": [plain_number(value) for value in outliers[:EXAMPLES_MAX]],
            }
    elif column["kind"] == "date" and len(series):
        told |= {"first": short_date(series.min()), "last": short_date(series.max())}
    elif column["kind"] in ("text", "yes/no") and len(series):
        counts = series.astype(str).value_counts().head(TOP_MAX)
        told["top"] = {cut(value): int(count) for value, count in counts.items()}
        alike = written_differently(series.astype(str))
        if alike:
            told["same_but_written_differently"] = alike
    elif column["kind"] == "id":
        told["examples"] = [cut(value) for value in series.head(EXAMPLES_MAX)]
    if column["odd"]:
        told["does_not_fit"] = {
            "count": len(column["odd"]),
            "examples": [cut(value) for value in column["odd"][:EXAMPLES_MAX]],
        }
    if column["note"]:
        told["note"] = column["note"]
    return told


def outliers_of(series):
    """Beyond three times the middle half on either side: rare enough to be looked at one by one."""
    low, high = series.quantile(0.25), series.quantile(0.75)
    reach = 3 * (high - low)
    return [] if reach == 0 else series[(series < low - reach) | (series > high + reach)].tolist()


def written_differently(series):
    """Values that differ in case, blanks or width only: they would be two groups."""
    from columns import plain

    forms = {}
    for value in series.unique()[:5000]:
        forms.setdefault("".join(plain(value).lower().split()), []).append(cut(value))
    return [alike for alike in forms.values() if len(alike) > 1][:EXAMPLES_MAX]


def plain_number(value):
    value = float(value)
    if value.is_integer() and abs(value) < 1e15:
        return int(value)
    return round(value, 4) if abs(value) >= 1 else float(f"{value:.6g}")


def short_date(value):
    return (
        value.strftime("%Y-%m-%d")
        if value.hour == value.minute == value.second == 0
        else value.strftime("%Y-%m-%d %H:%M:%S")
    )


def cut(value):
    text = " ".join(str(value).split())
    return text if len(text) <= CELL_CHARACTERS_MAX else text[: CELL_CHARACTERS_MAX - 1] + "…"


def as_text(found):
    """The profile in short lines."""
    facts = [
        f"{key}={json.dumps(found[key], ensure_ascii=False)}"
        for key in ("kind", "encoding", "separator", "sheet")
        if key in found
    ]
    lines = [
        f"{found['file']}: {found['rows']} rows, {found['columns']} columns, {found['duplicate_rows']} duplicate "
        f"rows ({', '.join(facts)})"
    ]
    lines += [f"! {warning}" for warning in found["warnings"]]
    for one in found["columns_found"][:COLUMNS_SHOWN_MAX]:
        rest = {key: value for key, value in one.items() if key not in ("name", "kind", "missing", "distinct")}
        lines.append(
            f"- {one['name']}: {one['kind']}, {one['distinct']} distinct, {one['missing']} missing; "
            f"{json.dumps(rest, ensure_ascii=False)}"
        )
    if len(found["columns_found"]) > COLUMNS_SHOWN_MAX:
        lines.append(f"… and {len(found['columns_found']) - COLUMNS_SHOWN_MAX} more columns; --json has all")
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    add_file(parser)
    parser.add_argument("--json", action="store_true", help="as JSON instead of short lines")
    wanted = parser.parse_args()
    found = profile(load(wanted))
    print(json.dumps(found, ensure_ascii=False, indent=1) if wanted.json else as_text(found))
    return 0


def add_file(parser):
    parser.add_argument("file", help="CSV, TSV, TXT, JSON, JSONL, XLSX or Parquet")
    parser.add_argument("--sheet", help="sheet of a workbook; the first visible one otherwise")
    parser.add_argument("--encoding", help="when the guess is wrong: utf-8, gb18030, big5, cp1252")
    parser.add_argument("--separator", help="when the guess is wrong: one character")
    parser.add_argument(
        "--rows",
        type=int,
        default=tables.ROWS_DEFAULT,
        help=f"rows read at most, 0 for all (default {tables.ROWS_DEFAULT})",
    )


def load(wanted):
    # Looked for, not loaded: a file that cannot be read is refused at once.
    if importlib.util.find_spec("pandas") is None:
        raise tables.Refusal(
            "pandas is not installed here: use Python's csv module, or have the operator install python3-pandas",
            tables.EXIT_LIBRARY,
        )
    if wanted.separator is not None and len(wanted.separator) != 1:
        raise tables.Refusal(f"--separator is one character, not {wanted.separator!r}; for a tab leave it out")
    return tables.load(wanted.file, wanted.sheet, max(0, wanted.rows), wanted.encoding, wanted.separator)


if __name__ == "__main__":
    tables.run(main)
