#!/usr/bin/env python3
"""Prints a presentation as Markdown: titles, text with its levels, tables, pictures, charts with their numbers,
speaker notes."""

import argparse
import os

import deck as decks
from deck import A, P, R

C = "{http://schemas.openxmlformats.org/drawingml/2006/chart}"
CHARACTERS_DEFAULT = 30_000
POINTS_MAX = 30


def slide_lines(deck, name, number):
    slide = deck.part(name)
    links = deck.links(name)
    shapes = decks.shapes_of(slide)
    title = next(
        (" ".join(text for _, text in decks.text_of(one)).strip() for one in shapes if decks.is_title(one)), ""
    )
    hidden = " (hidden)" if slide.get("show") == "0" else ""
    lines = [f"## Slide {number}: {title or '(no title)'}{hidden}", ""]
    for shape in shapes:
        if not decks.is_title(shape):
            lines += shape_lines(deck, shape, links)
    notes = deck.linked(name, "notesSlide")
    if notes is not None:
        text = [
            line
            for shape in decks.shapes_of(deck.part(notes))
            if (decks.placeholder_of(shape) or ("",))[0] == "body"
            for _, line in decks.text_of(shape)
            if line.strip()
        ]
        lines += [f"> Note: {line}" for line in text]
    return lines + [""]


def shape_lines(deck, shape, links):
    if shape.tag == f"{P}pic":
        described = shape.find(f"*/{P}cNvPr")
        link = shape.find(f"{P}blipFill/{A}blip")
        target = links.get(link.get(f"{R}embed"), ("", "missing"))[1] if link is not None else "missing"
        return [f"![{described.get('descr') or described.get('name', '')}]({os.path.basename(target)})"]
    if shape.tag == f"{P}graphicFrame":
        rows = decks.rows_of(shape)
        if rows:
            texts = [[cell.replace("|", "\\|").replace("\n", " ") for cell in row] for row in rows]
            return [
                "| " + " | ".join(row) + " |" if index else "| " + " | ".join(row) + " |\n|" + " --- |" * len(row)
                for index, row in enumerate(texts)
            ] + [""]
        chart = next((one for one in shape.iter(f"{C}chart")), None)
        target = links.get(chart.get(f"{R}id"), ("", ""))[1] if chart is not None else ""
        return (
            chart_lines(deck.part(target))
            if target in deck.names
            else [f"[{decks.name_of(shape)}: a drawing or diagram that is not text]"]
        )
    kind = (decks.placeholder_of(shape) or ("",))[0]
    if kind in ("sldNum", "dt", "ftr"):
        return []
    return [
        f"{'  ' * level}- {line}" for level, text in decks.text_of(shape) for line in text.split("\n") if line.strip()
    ]


def chart_lines(chart):
    """The numbers that a chart keeps of its table."""
    lines = [
        "[chart: "
        f"{' '.join(decks.paragraph_text(one) for one in chart.findall(f'{C}chart/{C}title//{A}p')) or 'no title'}]"
    ]
    for series in chart.iter(f"{C}ser"):
        name = next((one.text for one in series.findall(f"{C}tx//{C}v")), "series")
        labels = [one.text or "" for one in series.findall(f"{C}cat//{C}v")] or [
            one.text or "" for one in series.findall(f"{C}xVal//{C}v")
        ]
        values = [one.text or "" for one in series.findall(f"{C}val//{C}v")] or [
            one.text or "" for one in series.findall(f"{C}yVal//{C}v")
        ]
        pairs = [f"{label} {value}".strip() for label, value in zip(labels + [""] * len(values), values)]
        lines.append(f"- {name}: {', '.join(pairs[:POINTS_MAX])}{' …' if len(pairs) > POINTS_MAX else ''}")
    return lines


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", help=".pptx")
    parser.add_argument("--slides", help="3 or 2-5 (default: all)")
    parser.add_argument(
        "--characters", type=int, default=CHARACTERS_DEFAULT, help=f"printed at most (default {CHARACTERS_DEFAULT})"
    )
    parser.add_argument("--media", help="folder into which pictures are copied")
    wanted = parser.parse_args()
    deck = decks.Deck(wanted.file)
    if not deck.slides:
        raise decks.Refusal(f"{wanted.file} has no slides")
    first, last = range_of(wanted.slides, len(deck.slides))
    lines = [f"# {os.path.basename(wanted.file)}: {len(deck.slides)} slides", ""]
    for number in range(first, last + 1):
        lines += slide_lines(deck, deck.slides[number - 1], number)
    text = "\n".join(lines)
    print(text[: wanted.characters])
    if len(text) > wanted.characters:
        print(f"[cut after {wanted.characters} of {len(text)} characters: read on with --slides]")
    if wanted.media:
        copy_media(deck, wanted.media)
    return 0


def range_of(text, count):
    if text is None:
        return 1, count
    first, _, last = text.partition("-")
    if not first.isdigit() or last and not last.isdigit() or not 1 <= int(first) <= int(last or first) <= count:
        raise decks.Refusal(f"--slides {text!r}: the file has slides 1-{count}; write 3 or 2-5")
    return int(first), int(last or first)


def copy_media(deck, folder):
    os.makedirs(folder, exist_ok=True)
    for name in sorted(one for one in deck.names if one.startswith("ppt/media/") and not one.endswith("/")):
        with open(os.path.join(folder, os.path.basename(name)), "wb") as file:
            file.write(deck.parts.read(name))
        print(f"written: {os.path.join(folder, os.path.basename(name))}")


if __name__ == "__main__":
    decks.run(main)
