"""Markdown as a list of blocks: headings, paragraphs, lists, tables, code, quotes, pictures, rules. Used by
pdf_make.py."""

import re
from html import escape

HEADING = re.compile(r"^(#{1,6})\s+(.*?)\s*#*$")
ITEM = re.compile(r"^(\s*)([-*+]|\d{1,9}[.)])\s+(.*)$")
FENCE = re.compile(r"^\s*(```+|~~~+)")
PICTURE = re.compile(r"^\s*!\[([^\]]*)\]\(([^)\s]+)[^)]*\)\s*$")
RULE = re.compile(r"^\s*([-*_])(\s*\1){2,}\s*$")
TABLE_RULE = re.compile(r"^\s*\|?(\s*:?-+:?\s*\|)*\s*:?-+:?\s*\|?\s*$")
BREAK_PAGE = re.compile(r"^\s*<!--\s*page\s*-->\s*$")


def blocks_of(text):
    """Blocks as tuples whose first word is the kind."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n").lstrip("\ufeff").split("\n")
    blocks, place = [], 0
    if lines[0].strip() == "---" and "---" in [line.strip() for line in lines[1:30]]:
        place = 1 + [line.strip() for line in lines[1:30]].index("---") + 1
    while place < len(lines):
        line = lines[place]
        block, place = block_at(lines, place) if line.strip() else (None, place + 1)
        if block is not None:
            blocks.append(block)
    return blocks


def block_at(lines, place):
    """The block that begins here, and the line after it."""
    line = lines[place]
    if FENCE.match(line):
        return code_at(lines, place)
    if BREAK_PAGE.match(line):
        return ("page",), place + 1
    if found := HEADING.match(line):
        return ("heading", len(found[1]), found[2]), place + 1
    if found := PICTURE.match(line):
        return ("picture", found[2], found[1]), place + 1
    if RULE.match(line):
        return ("rule",), place + 1
    if "|" in line and place + 1 < len(lines) and "|" in lines[place + 1] and TABLE_RULE.match(lines[place + 1]):
        return table_at(lines, place)
    if line.lstrip().startswith(">"):
        return quote_at(lines, place)
    if ITEM.match(line):
        return list_at(lines, place)
    return paragraph_at(lines, place)


def code_at(lines, place):
    mark = FENCE.match(lines[place])[1]
    end = next((index for index in range(place + 1, len(lines)) if lines[index].strip().startswith(mark)), len(lines))
    return ("code", "\n".join(lines[place + 1 : end])), end + 1


def table_at(lines, place):
    aligns = [
        ("right" if one.endswith(":") and not one.startswith(":") else "center" if one.endswith(":") else "left")
        for one in cells_of(lines[place + 1])
    ]
    rows, end = [cells_of(lines[place])], place + 2
    while end < len(lines) and "|" in lines[end] and lines[end].strip():
        rows.append(cells_of(lines[end]))
        end += 1
    width = max(map(len, rows))
    return ("table", [row + [""] * (width - len(row)) for row in rows], (aligns + ["left"] * width)[:width]), end


def cells_of(line):
    inner = re.sub(r"^\s*\||(?<!\\)\|\s*$", "", line)
    return [cell.strip().replace("\\|", "|") for cell in re.split(r"(?<!\\)\|", inner)]


def quote_at(lines, place):
    end, inside = place, []
    while end < len(lines) and lines[end].lstrip().startswith(">"):
        inside.append(re.sub(r"^\s*>\s?", "", lines[end]))
        end += 1
    return ("quote", joined(inside)), end


def list_at(lines, place):
    """Items as (level, mark or number, text)."""
    items, indents, end = [], [], place
    while end < len(lines):
        line = lines[end]
        found = ITEM.match(line)
        if found:
            indent = len(found[1].expandtabs(4))
            while indents and indent < indents[-1]:
                indents.pop()
            if not indents or indent > indents[-1]:
                indents.append(indent)
            items.append([len(indents) - 1, found[2] if found[2][0].isdigit() else "•", found[3]])
        elif line.strip() and line.startswith((" ", "\t")):
            items[-1][2] = joined([items[-1][2], line.strip()])
        elif line.strip() or not (end + 1 < len(lines) and ITEM.match(lines[end + 1])):
            break
        end += 1
    return ("list", items), end


def paragraph_at(lines, place):
    end = place
    while end < len(lines) and lines[end].strip():
        if end > place and (
            HEADING.match(lines[end])
            or FENCE.match(lines[end])
            or ITEM.match(lines[end])
            or PICTURE.match(lines[end])
            or lines[end].lstrip().startswith(">")
        ):
            break
        end += 1
    return ("paragraph", joined(lines[place:end])), end


def joined(lines):
    """Lines of one paragraph as one; between two Chinese characters no blank is wanted."""
    text = ""
    for line in lines:
        hard = line.endswith(("  ", "\\"))
        line = line.strip().removesuffix("\\")
        wide = text and line and ord(text[-1]) > 0x2E7F and ord(line[0]) > 0x2E7F
        text += ("" if not text or wide or text.endswith("\n") else " ") + line + ("\n" if hard else "")
    return text.strip()


def inline(text, bold, code_font):
    """The marks within a line as reportlab's tags; everything else is escaped."""
    kept = []

    def keep(tagged):
        kept.append(tagged)
        return f"\x00{len(kept) - 1}\x00"

    text = text.replace("\x00", "")
    text = re.sub(
        r"`+([^`]+)`+",
        lambda found: keep(f'<font name="{code_font}" backColor="#f0f0f0">{escape(found[1])}</font>'),
        text,
    )
    text = re.sub(r"!?\[([^\]]*)\]\(([^)\s]+)[^)]*\)", lambda found: keep(link(found[1], found[2])), text)
    text = re.sub(r"<(https?://[^>\s]+)>", lambda found: keep(link(found[1], found[1])), text)
    text = re.sub(r"\\([\\`*_{}\[\]()#+.!|-])", lambda found: keep(escape(found[1])), text)
    text = escape(text, quote=False)
    text = re.sub(r"\*\*(.+?)\*\*|__(.+?)__", lambda found: bold(found[1] or found[2]), text)
    text = re.sub(
        r"(?<![\w*])\*([^*\s][^*]*)\*(?!\w)|(?<!\w)_([^_\s][^_]*)_(?!\w)",
        lambda found: f"<i>{found[1] or found[2]}</i>",
        text,
    )
    text = re.sub(r"~~(.+?)~~", r"<strike>\1</strike>", text)
    while "\x00" in text:
        text = re.sub(r"\x00(\d+)\x00", lambda found: kept[int(found[1])], text)
    return text.replace("\n", "<br/>")


def link(text, address):
    shown = escape(text or address)
    if not re.match(r"(https?://|mailto:)", address):
        return shown
    return f'<link href="{escape(address)}" color="#1a5fb4">{shown}</link>'
