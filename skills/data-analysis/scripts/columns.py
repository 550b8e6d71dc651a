"""What kind of values a column of text has, and the values themselves. Used by the scripts beside it."""

import math
import re
import unicodedata
from datetime import datetime

import numpy as np
import pandas as pd

MISSING = {
    "",
    "na",
    "n/a",
    "nan",
    "null",
    "none",
    "-",
    "--",
    "—",
    "/",
    "#n/a",
    "无",
    "空",
    "暂无",
    "缺失",
    "未知",
    "nil",
    "?",
}
TRUE = {"true", "yes", "y", "是", "对", "有"}
FALSE = {"false", "no", "n", "否", "错", "没有"}
UNITS = {"万": 1e4, "亿": 1e8, "千": 1e3, "k": 1e3, "m": 1e6}
TOTALS = re.compile(r"^(grand )?(sub)?totals?$|^sum$|^(合计|总计|小计|总和|汇总)$", re.I)
SHARE = 0.95

NUMBER = re.compile(
    r"^\(?([-+]?)(?:[¥$€£]|rmb|usd|cny)?\s*(-?)(\d{1,3}(?:,\d{3})+|\d+|\d*(?=\.\d))(\.\d+)?(e[-+]?\d+)?\s*(万|亿|千|k|m)?\s*(%|元|美元|个|件|人|台|天|小时)?\)?$",
    re.I,
)
DATE = re.compile(
    r"^(\d{4})\s*(?:[-/.]|年)\s*(\d{1,2})(?:\s*(?:[-/.]|月)\s*(\d{1,2})日?)?月?(?:[ T]+(\d{1,2}):(\d{2})(?::(\d{2})(?:\.\d+)?)?(?:Z|[+-]\d{2}:?\d{2})?)?$"
)
COMPACT = re.compile(r"^((?:19|20)\d{2})(0[1-9]|1[0-2])(0[1-9]|[12]\d|3[01])$")
EUROPEAN = re.compile(r"^(\d{1,2})[-/.](\d{1,2})[-/.](\d{4})(?:[ T]+(\d{1,2}):(\d{2})(?::(\d{2}))?)?$")


def plain(text):
    """Full-width digits and signs as their usual forms."""
    return unicodedata.normalize("NFKC", text).strip()


def is_missing(text):
    return plain(text).lower() in MISSING


def number_of(text):
    """A number as people write it: sign, thousands, currency, percent, Chinese units; None if it is none."""
    found = NUMBER.match(plain(text))
    if found is None or found[3] == "" and found[4] is None:
        return None
    value = float((found[3] or "0").replace(",", "") + (found[4] or "") + (found[5] or ""))
    value *= UNITS.get((found[6] or "").lower(), 1)
    value = value / 100 if found[7] == "%" else value
    negative = found[1] == "-" or found[2] == "-" or plain(text).startswith("(")
    return (-value if negative else value) if math.isfinite(value) else None


def date_of(text, day_first):
    text = plain(text)
    found = DATE.match(text)
    if found:
        parts = [found[1], found[2], found[3] or 1, found[4] or 0, found[5] or 0, found[6] or 0]
    elif compact := COMPACT.match(text):
        parts = [compact[1], compact[2], compact[3], 0, 0, 0]
    elif european := EUROPEAN.match(text):
        first, second = (european[1], european[2]) if day_first else (european[2], european[1])
        parts = [european[3], second, first, european[4] or 0, european[5] or 0, european[6] or 0]
    else:
        return None
    try:
        return datetime(*map(int, parts))
    except ValueError:
        return None


def typed(texts):
    """`{kind, series, missing, odd, note}` of a column: number, date, yes/no, id or text."""
    values = [plain(text) for text in texts]
    gone = [value.lower() in MISSING for value in values]
    there = [value for value, missing in zip(values, gone) if not missing]
    base = {"missing": sum(gone), "odd": [], "note": None}
    if not there:
        return {**base, "kind": "empty", "series": pd.Series([None] * len(values), dtype=object)}
    for read in (typed_yes_no, typed_date, typed_number):
        found = read(values, gone, there)
        if found is not None:
            return {**base, **found}
    text = pd.Series([None if missing else value for value, missing in zip(texts, gone)], dtype=object)
    looks_like_id = len(set(there)) == len(there) > 1 and all(
        re.fullmatch(r"[\w-]{4,40}", one) and re.search(r"\d", one) for one in there
    )
    return {**base, "kind": "id" if looks_like_id else "text", "series": text}


def typed_yes_no(values, gone, there):
    lower = {value.lower() for value in there}
    if not lower <= TRUE | FALSE or len(lower) < 2 and not lower & {"true", "false"}:
        return None
    cells = [None if missing else value.lower() in TRUE for value, missing in zip(values, gone)]
    return {"kind": "yes/no", "series": pd.Series(cells, dtype=object)}


def typed_number(values, gone, there):
    if any(re.fullmatch(r"0\d+", one) for one in there) or all(re.fullmatch(r"\d{15,}[0-9Xx]?", one) for one in there):
        if all(re.fullmatch(r"\d+[Xx]?", one) for one in there):
            text = pd.Series([None if missing else value for value, missing in zip(values, gone)], dtype=object)
            return {
                "kind": "id",
                "series": text,
                "note": "digits that are a name (leading zeros or very long): kept as text",
            }
    numbers = [None if missing else number_of(value) for value, missing in zip(values, gone)]
    read = sum(1 for number in numbers if number is not None)
    if read < SHARE * len(there):
        return None
    odd = [value for value, number, missing in zip(values, numbers, gone) if number is None and not missing]
    series = pd.Series([np.nan if number is None else number for number in numbers], dtype=float)
    written = [
        one
        for one in there
        if re.search(r"[,%¥$€£()万亿千元a-z]", one, re.I) and not re.fullmatch(r"[-+\d.]+e[-+]?\d+", one, re.I)
    ]
    note = f"written with signs or units, such as {written[0]}: read as numbers (percent as share)" if written else None
    return {"kind": "number", "series": series, "odd": odd, "note": note}


def typed_date(values, gone, there):
    firsts = [found for one in there if (found := EUROPEAN.match(one))]
    day_first = any(int(found[1]) > 12 for found in firsts)
    month_first = any(int(found[2]) > 12 for found in firsts)
    if not day_first and not month_first:
        day_first = True
    if all(re.fullmatch(r"\d{1,6}(\.\d+)?", one) for one in there):
        return None
    dates = [None if missing else date_of(value, day_first) for value, missing in zip(values, gone)]
    read = sum(1 for date in dates if date is not None)
    if read < SHARE * len(there):
        return None
    odd = [value for value, date, missing in zip(values, dates, gone) if date is None and not missing]
    note = None
    if firsts and not any(int(found[1]) > 12 or int(found[2]) > 12 for found in firsts):
        note = "day and month cannot be told apart: read as day/month/year; ask"
    elif firsts and day_first and month_first:
        note = "some dates are day/month, some month/day: ask which is meant"
    return {"kind": "date", "series": pd.to_datetime(pd.Series(dates), errors="coerce"), "odd": odd, "note": note}


def frame_of(table, keep_totals=False):
    """The table with typed columns, and what was found out about each. Rows that add up the others are left out."""
    totals = set() if keep_totals else set(total_rows(table))
    if totals:
        shown = ", ".join(str(index + 1) for index in sorted(totals)[:5])
        table.warnings.append(f"{len(totals)} row(s) of totals were left out (row {shown}); they would count twice")
    rows = [row for index, row in enumerate(table.rows) if index not in totals]
    cells = list(zip(*rows)) if rows else [[] for _ in table.names]
    columns = {name: typed(list(texts)) for name, texts in zip(table.names, cells)}
    frame = pd.DataFrame({name: column["series"] for name, column in columns.items()})
    return frame, columns


def total_rows(table):
    """Rows named total, 合计 and the like."""
    return [
        index
        for index, row in enumerate(table.rows)
        if any(TOTALS.match(plain(cell).rstrip(":：").strip()) for cell in row[:3])
    ]
