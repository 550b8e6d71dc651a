#!/usr/bin/env python3
"""Checks the slides of any presentation: text that does not fit its box, shapes beyond the edge, small print, empty
boxes, missing titles and pictures."""

import argparse
import os

import deck as decks
import measure
from deck import A, EMU_PER_POINT, P, R

SIZE_MIN = 12
# Widths are those of another font than the deck's: a little too much is no finding.
TOLERANCE = 1.06
LINES_MAX = 60


class Styles:
    """Boxes and sizes that a slide takes from its layout and master."""

    def __init__(self, deck, slide_name):
        self.chain = []
        layout = deck.linked(slide_name, "slideLayout")
        master = deck.linked(layout, "slideMaster") if layout else None
        self.chain = [deck.part(one) for one in (layout, master) if one]
        self.master = deck.part(master) if master else None

    def same(self, shape):
        """The placeholders of layout and master that stand behind a shape."""
        wanted = decks.placeholder_of(shape)
        if wanted is None:
            return []
        found = []
        for part in self.chain:
            candidates = [(one, decks.placeholder_of(one)) for one in decks.shapes_of(part)]
            kinds = {"ctrTitle": ("ctrTitle", "title"), "subTitle": ("subTitle", "body")}.get(wanted[0], (wanted[0],))
            fitting = [
                one
                for one, place in candidates
                if place and place[1] == wanted[1] and (wanted[1] != "0" or place[0] in kinds)
            ] or [one for one, place in candidates if place and place[0] in kinds]
            found += fitting[:1]
        return found

    def box(self, shape):
        return next((box for box in (decks.box_of(one) for one in [shape, *self.same(shape)]) if box), None)

    def size(self, shape, level):
        """The size of text on a level in points: of the shape's list style, its layout, the master's styles."""
        tag = f"{A}lvl{level + 1}pPr"
        for one in [shape, *self.same(shape)]:
            found = one.find(f"{P}txBody/{A}lstStyle/{tag}/{A}defRPr")
            if found is not None and found.get("sz"):
                return decks.number(found.get("sz"), 1800) / 100
        kind = (decks.placeholder_of(shape) or ("",))[0]
        style = "titleStyle" if kind in ("title", "ctrTitle") else "bodyStyle" if kind else "otherStyle"
        found = self.master.find(f"{P}txStyles/{P}{style}/{tag}/{A}defRPr") if self.master is not None else None
        return decks.number(found.get("sz"), 1800) / 100 if found is not None and found.get("sz") else 18.0


def check_slide(deck, name):
    slide, styles, links = deck.part(name), Styles(deck, name), deck.links(name)
    shapes = decks.shapes_of(slide)
    found = []
    if not any(decks.is_title(one) and any(text.strip() for _, text in decks.text_of(one)) for one in shapes):
        found.append("it has no title")
    boxes = []
    for shape in shapes:
        title = decks.name_of(shape)
        box = styles.box(shape)
        texts = [(level, text) for level, text in decks.text_of(shape)]
        has_text = any(text.strip() for _, text in texts)
        if box and (
            box[0] < -EMU_PER_POINT
            or box[1] < -EMU_PER_POINT
            or box[0] + box[2] > deck.width + EMU_PER_POINT
            or box[1] + box[3] > deck.height + EMU_PER_POINT
        ):
            found.append(f"{title} reaches beyond the edge of the slide")
        if (
            decks.placeholder_of(shape)
            and shape.tag == f"{P}sp"
            and not has_text
            and decks.placeholder_of(shape)[0] not in ("sldNum", "dt", "ftr", "pic")
        ):
            found.append(f"{title} is an empty placeholder: fill it or take it away")
        if shape.tag == f"{P}pic":
            blip = shape.find(f"{P}blipFill/{A}blip")
            target = links.get(blip.get(f"{R}embed"), ("", ""))[1] if blip is not None else ""
            if target not in deck.names:
                found.append(f"{title}: its picture is not in the file")
        if has_text and box:
            found += check_text(shape, styles, box, texts, title)
        if box and (has_text or shape.tag != f"{P}sp"):
            boxes.append((title, box))
    return found + overlaps(boxes)


def check_text(shape, styles, box, texts, title):
    body = shape.find(f"{P}txBody/{A}bodyPr")
    shrink = body.find(f"{A}normAutofit") if body is not None else None
    scale = decks.number(shrink.get("fontScale"), 100000) / 100000 if shrink is not None else 1
    inset = [
        decks.number(body.get(name) if body is not None else None, int(default)) / EMU_PER_POINT
        for name, default in (("lIns", "91440"), ("rIns", "91440"), ("tIns", "45720"), ("bIns", "45720"))
    ]
    sizes = sizes_of(shape, styles, scale)
    found = []
    smallest = min((size for size in sizes.values()), default=18)
    if smallest < SIZE_MIN:
        found.append(f"{title} has text of {smallest:.0f} points: below {SIZE_MIN} nobody reads it from afar")
    if body is not None and (body.find(f"{A}spAutoFit") is not None or body.get("wrap") == "none"):
        return found
    width, height = box[2] / EMU_PER_POINT - inset[0] - inset[1], box[3] / EMU_PER_POINT - inset[2] - inset[3]
    needed = measure.height_of(texts, lambda level: sizes.get(level, 18), width)
    if needed > height * TOLERANCE + 2:
        found.append(
            f"{title}: its text needs {needed:.0f} points of height, the box has {height:.0f}: shorten it, split "
            "the slide or make the text smaller"
        )
    return found


def sizes_of(shape, styles, scale):
    """The size of text on each level that occurs: what the runs say, else the styles."""
    sizes = {}
    for paragraph in shape.iter(f"{A}p"):
        if not decks.paragraph_text(paragraph).strip():
            continue
        level = decks.level_of(paragraph)
        runs = [decks.number(one.get("sz"), 1800) / 100 for one in paragraph.iter(f"{A}rPr") if one.get("sz")]
        sizes[level] = max(sizes.get(level, 0), (max(runs) if runs else styles.size(shape, level)) * scale)
    return sizes


def overlaps(boxes):
    """Pairs that cover a good part of each other; a small touch is meant."""
    found = []
    for index, (one, a) in enumerate(boxes):
        for other, b in boxes[index + 1 :]:
            wide = min(a[0] + a[2], b[0] + b[2]) - max(a[0], b[0])
            high = min(a[1] + a[3], b[1] + b[3]) - max(a[1], b[1])
            if wide > 0 and high > 0 and wide * high > 0.15 * max(1, min(a[2] * a[3], b[2] * b[3])):
                found.append(f"{one} and {other} cover each other")
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, epilog="Exit code 1: something was found.")
    parser.add_argument("file", help=".pptx")
    wanted = parser.parse_args()
    deck = decks.Deck(wanted.file)
    if not deck.slides:
        raise decks.Refusal(f"{wanted.file} has no slides")
    lines = [
        f"slide {number}: {finding}"
        for number, name in enumerate(deck.slides, 1)
        for finding in check_slide(deck, name)
    ]
    print(f"{os.path.basename(wanted.file)}: {len(deck.slides)} slides, {len(lines)} findings")
    for line in lines[:LINES_MAX]:
        print(line)
    if len(lines) > LINES_MAX:
        print(f"… {len(lines) - LINES_MAX} more")
    if measure.font() is None:
        print("! no font or no Pillow is here to measure with: widths are guessed")
    return 1 if lines else 0


if __name__ == "__main__":
    decks.run(main)
