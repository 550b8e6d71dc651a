"""Reads the outline of a deck from Markdown. Used by pptx_make.py."""

import re

from deck import Refusal

ITEM = re.compile(r"^(\s*)(?:[-*+]|\d{1,3}[.)])\s+(.*)$")
PICTURE = re.compile(r"^\s*!\[([^\]]*)\]\(([^)\s]+)[^)]*\)\s*$")
NOTE = re.compile(r"^\s*>\s?(?:(?:Notes?|备注|讲稿)\s*[:：])?\s*(.*)$", re.I)
TABLE_RULE = re.compile(r"^\s*\|?(\s*:?-+:?\s*\|)*\s*:?-+:?\s*\|?\s*$")
SLIDES_MAX = 200


def read_outline(text):
    """{"title", "subtitle", "notes", "slides": [{"title", "columns": [{"head", "text"}], "table", "picture",
    "notes"}]}"""
    deck = {"title": "", "subtitle": [], "notes": [], "slides": []}
    slide, lines = None, text.lstrip("\ufeff").replace("\r\n", "\n").replace("\r", "\n").split("\n")
    for number, line in enumerate(lines, 1):
        if line.startswith("# "):
            if not deck["title"] and slide is None:
                deck["title"] = plain(line[2:])
                continue
            slide = new_slide(plain(line[2:]), is_section=True)
            deck["slides"].append(slide)
        elif line.startswith("## "):
            slide = new_slide(plain(line[3:]))
            deck["slides"].append(slide)
        elif not line.strip() or re.fullmatch(r"\s*([-*_])(\s*\1){2,}\s*", line):
            continue
        elif slide is None:
            note = NOTE.match(line)
            (deck["notes"] if note else deck["subtitle"]).append(plain(note[1] if note else line))
        else:
            add_line(slide, line, number)
    if not deck["slides"] and not deck["title"]:
        raise Refusal("the outline has no slide: begin each with '## Title', the deck with '# Title'")
    if len(deck["slides"]) > SLIDES_MAX:
        raise Refusal(f"the outline has {len(deck['slides'])} slides, more than {SLIDES_MAX}")
    return deck


def new_slide(title, is_section=False):
    return {"title": title, "columns": [], "table": [], "picture": None, "notes": [], "section": is_section}


def add_line(slide, line, number):
    if found := PICTURE.match(line):
        if slide["picture"] is not None:
            raise Refusal(f"line {number}: a slide has room for one picture; begin another slide")
        slide["picture"] = (found[2], plain(found[1]))
    elif line.lstrip().startswith("|"):
        if not TABLE_RULE.match(line):
            inner = re.sub(r"^\s*\||(?<!\\)\|\s*$", "", line)
            slide["table"].append([plain(cell.replace("\\|", "|")) for cell in re.split(r"(?<!\\)\|", inner)])
    elif line.startswith("### "):
        if len(slide["columns"]) == 2 or len(slide["columns"]) == 1 and slide["columns"][0]["head"] == "":
            raise Refusal(f"line {number}: a slide has at most two columns (###), and no text before them")
        slide["columns"].append({"head": plain(line[4:]), "text": []})
    elif found := NOTE.match(line):
        slide["notes"].append(found[1])
    else:
        if not slide["columns"]:
            slide["columns"].append({"head": "", "text": []})
        found = ITEM.match(line)
        # A line that is no item of a list gets no mark.
        level = min(2, len(found[1].expandtabs(4)) // 2) if found else -1
        slide["columns"][-1]["text"].append((level, plain(found[2] if found else line)))


def plain(text):
    """Without the marks of Markdown, which a slide would show as they are."""
    text = re.sub(r"!?\[([^\]]*)\]\(([^)\s]+)[^)]*\)", r"\1", text)
    text = re.sub(r"\*\*(.+?)\*\*|__(.+?)__|`(.+?)`", lambda found: found[1] or found[2] or found[3], text)
    return re.sub(r"[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]", "", text).strip()
