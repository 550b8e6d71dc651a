#!/usr/bin/env python3
"""Draws a chart of a table as PNG, with a font that has Chinese: bar, line, scatter, histogram, box."""

import argparse
import os

import group
import table as tables
from profile_table import add_file, load

KINDS = ("bar", "line", "scatter", "hist", "box")
BARS_MAX = 30
SERIES_MAX = 10
CHINESE_FONTS = (
    "WenQuanYi Micro Hei",
    "Noto Sans CJK SC",
    "Noto Sans CJK JP",
    "Source Han Sans SC",
    "WenQuanYi Zen Hei",
    "Microsoft YaHei",
    "SimHei",
    "PingFang SC",
)


def plotter():
    """matplotlib without a screen, with the first font of the list that is here."""
    try:
        import matplotlib
    except ImportError as error:
        raise tables.Refusal(
            "matplotlib is not installed here: give the numbers as a table instead, or have the operator install "
            "python3-matplotlib",
            tables.EXIT_LIBRARY,
        ) from error
    matplotlib.use("Agg")
    from matplotlib import font_manager, pyplot

    there = {font.name for font in font_manager.fontManager.ttflist}
    fonts = [name for name in CHINESE_FONTS if name in there]
    pyplot.rcParams["font.sans-serif"] = fonts + pyplot.rcParams["font.sans-serif"]
    pyplot.rcParams["font.family"] = "sans-serif"
    pyplot.rcParams["axes.unicode_minus"] = False
    return pyplot, bool(fonts)


def draw(wanted):
    """The chart as a file, and a line on what it shows."""
    pyplot, has_chinese = plotter()
    figure, axes = pyplot.subplots(figsize=(10, 5.6), dpi=150)
    shown = draw_rows(wanted, axes) if wanted.kind in ("scatter", "hist", "box") else draw_groups(wanted, axes)
    axes.set_title(wanted.title or shown)
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(axis="y", alpha=0.3)
    axes.set_axisbelow(True)
    if max(map(abs, axes.get_ylim())) >= 10_000 and wanted.kind != "hist":
        axes.yaxis.set_major_formatter("{x:,.0f}")
    if wanted.y_label:
        axes.set_ylabel(wanted.y_label)
    figure.tight_layout()
    os.makedirs(os.path.dirname(wanted.out) or ".", exist_ok=True)
    figure.savefig(wanted.out)
    pyplot.close(figure)
    texts = [wanted.title or "", shown, *(label.get_text() for label in axes.get_xticklabels())]
    if not has_chinese and any(ord(character) > 0x2E7F for text in texts for character in text):
        print(
            "! no Chinese font is installed: the chart has boxes instead of characters; have the operator "
            "install fonts-wqy-microhei"
        )
    print(f"written: {wanted.out} ({shown})")
    return 0


def draw_groups(wanted, axes):
    if not wanted.x:
        raise tables.Refusal(f"--kind {wanted.kind} needs --x")
    wanted.by, wanted.columns, wanted.value = wanted.x, wanted.series, wanted.y
    result, notes, _ = group.grouped(wanted)
    for note in notes:
        print(f"! {note}")
    names = list(result.columns[1:])
    if len(names) > SERIES_MAX:
        raise tables.Refusal(
            f"{wanted.series} has {len(names)} values, more than {SERIES_MAX} lines in one chart: choose some "
            "with --where"
        )
    if wanted.kind == "bar" and len(result) > BARS_MAX:
        result = result.assign(_all=result[names].sum(axis=1)).nlargest(BARS_MAX, "_all").drop(columns="_all")
        print(f"! only the {BARS_MAX} largest bars are shown")
    labels = result.iloc[:, 0].astype(str).tolist()
    places = range(len(labels))
    width = 0.8 / len(names)
    for index, name in enumerate(names):
        if wanted.kind == "line":
            axes.plot(places, result[name], marker="o", label=str(name))
        else:
            axes.bar(
                [place + (index - (len(names) - 1) / 2) * width for place in places],
                result[name],
                width,
                label=str(name),
            )
    every = max(1, len(labels) // 15)
    tilted = max(map(len, labels), default=0) * len(labels) > 90
    axes.set_xticks(
        list(places)[::every], labels[::every], rotation=35 if tilted else 0, ha="right" if tilted else "center"
    )
    axes.set_xlabel(wanted.x)
    axes.set_ylabel(f"{wanted.how} of {wanted.y}" if wanted.y else "count")
    if len(names) > 1:
        axes.legend(title=wanted.series)
    return f"{wanted.how} of {wanted.y or 'rows'} by {wanted.x}" + (f" and {wanted.series}" if wanted.series else "")


def draw_rows(wanted, axes):
    from columns import frame_of

    table = load(wanted)
    frame, columns = frame_of(table, wanted.keep_totals)
    for warning in table.warnings:
        print(f"! {warning}")
    if wanted.where:
        frame = group.chosen(frame, wanted.where)
    if not wanted.y:
        raise tables.Refusal(f"--kind {wanted.kind} needs --y with a column of numbers")
    for name in (wanted.y, wanted.x if wanted.kind == "scatter" else None):
        if name and columns[group.known(name, frame)]["kind"] not in ("number", "date"):
            raise tables.Refusal(f"{name} is a column of kind {columns[name]['kind']}, not number")
    axes.set_ylabel(wanted.y)
    if wanted.kind == "scatter":
        if not wanted.x:
            raise tables.Refusal("--kind scatter needs --x")
        axes.scatter(frame[wanted.x], frame[wanted.y], alpha=0.6)
        axes.set_xlabel(wanted.x)
        return f"{wanted.y} against {wanted.x}, {len(frame)} rows"
    if wanted.kind == "hist":
        axes.hist(frame[wanted.y].dropna(), bins=min(40, max(5, len(frame) // 5)))
        axes.set(xlabel=wanted.y, ylabel="rows")
        return f"how {wanted.y} is spread, {len(frame)} rows"
    groups = [("all", frame)] if not wanted.x else list(frame.groupby(group.known(wanted.x, frame)))
    if len(groups) > BARS_MAX:
        raise tables.Refusal(
            f"{wanted.x} has {len(groups)} values, more than {BARS_MAX} boxes: choose some with --where"
        )
    axes.boxplot([rows[wanted.y].dropna() for _, rows in groups])
    axes.set_xticks(range(1, len(groups) + 1), [str(name) for name, _ in groups])
    return f"{wanted.y}" + (f" by {wanted.x}" if wanted.x else "")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    add_file(parser)
    parser.add_argument("--kind", choices=KINDS, required=True)
    parser.add_argument("--x", help="column along the bottom: groups for bar, line and box, numbers for scatter")
    parser.add_argument("--y", help="column of numbers; without it bar and line count rows")
    parser.add_argument("--series", help="column with one colour per value (bar, line)")
    parser.add_argument("--how", choices=group.HOW, help="default: sum, or count without --y")
    parser.add_argument(
        "--period",
        choices=("day", "month", "quarter", "year"),
        default="month",
        help="how dates are grouped (default: month)",
    )
    parser.add_argument("--where", help="rows that count: 'region=华东 and sold>=10'")
    parser.add_argument("--keep-totals", action="store_true", help="count rows named total, 合计 and the like, too")
    parser.add_argument("--title", help="title of the chart, in the user's language: say what it shows")
    parser.add_argument("--y-label", help="text along the y axis, in the user's language, with the unit")
    parser.add_argument("--out", required=True, help="PNG, such as outputs/sales-by-month.png")
    wanted = parser.parse_args()
    wanted.how = wanted.how or ("sum" if wanted.y else "count")
    if not wanted.out.lower().endswith((".png", ".svg", ".pdf")):
        raise tables.Refusal(f"--out ends in .png, .svg or .pdf, not {os.path.basename(wanted.out)}")
    return draw(wanted)


if __name__ == "__main__":
    tables.run(main)
