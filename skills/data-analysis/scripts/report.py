#!/usr/bin/env python3
"""Writes the beginning of a report on a table: what it has, what is wrong with it, charts of the main columns. You add
the findings."""

import argparse
import contextlib
import io
import json
import os

import chart
import group
import table as tables
from profile_table import add_file, load, profile

CHARTS_MAX = 4
GROUPS_MAX = 20


def write(wanted):
    """The report and its charts in one folder."""
    found = profile(load(wanted))
    folder = os.path.dirname(wanted.out) or "."
    os.makedirs(folder, exist_ok=True)
    stem = os.path.splitext(os.path.basename(wanted.out))[0]
    pictures = []
    for index, (options, title) in enumerate(charts_for(found["columns_found"])):
        name = f"{stem}-{index + 1}.png"
        group_options = {"how": "sum" if options.get("y") else "count", "x": None, "y": None, "series": None, **options}
        with contextlib.redirect_stdout(io.StringIO()):
            chart.draw(
                argparse.Namespace(
                    **{
                        **vars(wanted),
                        **group_options,
                        "title": title,
                        "where": None,
                        "period": "month",
                        "keep_totals": False,
                        "y_label": None,
                        "out": os.path.join(folder, name),
                    }
                )
            )
        pictures.append(f"![{title}]({name})")
        print(f"written: {os.path.join(folder, name)}")
    with open(wanted.out, "w", encoding="utf-8") as file:
        file.write("\n".join(lines_of(found, wanted.title, pictures)) + "\n")
    print(
        f"written: {wanted.out}. Now write the findings where it says so, with numbers from group.py, and remove "
        "what does not matter"
    )
    return 0


def charts_for(columns):
    """At most one line over time, bars of the groups, and how numbers are spread: what a reader looks for first."""
    numbers = [one["name"] for one in columns if one["kind"] == "number" and one["distinct"] > 1]
    dates = [one["name"] for one in columns if one["kind"] == "date" and one["distinct"] > 1]
    groups = [one["name"] for one in columns if one["kind"] in ("text", "yes/no") and 1 < one["distinct"] <= GROUPS_MAX]
    main = numbers[0] if numbers else None
    wanted = [({"kind": "line", "x": dates[0], "y": main}, f"{main or 'count'} / {dates[0]}")] if dates else []
    wanted += [({"kind": "bar", "x": name, "y": main}, f"{main or 'count'} / {name}") for name in groups[:2]]
    wanted += [({"kind": "hist", "y": name}, name) for name in numbers[:2]]
    return wanted[:CHARTS_MAX]


def lines_of(found, title, pictures):
    facts = ", ".join(
        f"{key} {json.dumps(found[key], ensure_ascii=False)}"
        for key in ("kind", "encoding", "separator", "sheet")
        if key in found
    )
    lines = [
        f"# {title or os.path.basename(found['file'])}",
        "",
        "## Findings",
        "",
        "<!-- Write here, first what matters most: one sentence and one number each. -->",
        "",
    ]
    lines += ["## Data", "", f"`{found['file']}`: {found['rows']} rows, {found['columns']} columns ({facts}).", ""]
    lines += [f"- {warning}" for warning in found["warnings"]] + ([""] if found["warnings"] else [])
    lines += ["| column | kind | distinct | missing | from – to, or most frequent |", "| --- | --- | --- | --- | --- |"]
    for one in found["columns_found"]:
        span = (
            f"{one['min']:,} – {one['max']:,}"
            if "min" in one
            else f"{one['first']} – {one['last']}"
            if "first" in one
            else "; ".join(f"{value} ({count})" for value, count in list(one.get("top", {}).items())[:3])
        )
        cells = [one["name"], one["kind"], str(one["distinct"]), str(one["missing"]), span]
        lines.append("| " + " | ".join(group.cell_text(cell) for cell in cells) + " |")
    return lines + ["", "## Charts", "", *"\n\n".join(pictures).split("\n")]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    add_file(parser)
    parser.add_argument("--title", help="title, in the user's language")
    parser.add_argument(
        "--out", default="outputs/report.md", help="default: outputs/report.md; charts are written beside it"
    )
    return write(parser.parse_args())


if __name__ == "__main__":
    tables.run(main)
