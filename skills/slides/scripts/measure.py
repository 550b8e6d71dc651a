"""How much room a text takes, by the widths of a real font. Used by pptx_make.py and pptx_check.py."""

import functools
import os
import re

FONTS = (
    "/usr/share/fonts/truetype/wqy/wqy-microhei.ttc",
    "/usr/share/fonts/opentype/noto/NotoSansCJK-Regular.ttc",
    "/usr/share/fonts/google-noto-sans-cjk-fonts/NotoSansCJK-Regular.ttc",
    "/usr/share/fonts/noto-cjk/NotoSansCJK-Regular.ttc",
)
LINE = 1.2
MEASURED_AT = 100
PIECE = re.compile(r"[\u2e80-\uffef]|\s+|[^\s\u2e80-\uffef]+")


@functools.cache
def font():
    """A font with Chinese; None where Pillow or the font is missing, and widths are guessed."""
    try:
        from PIL import ImageFont
    except ImportError:
        return None
    path = next((one for one in FONTS if os.path.exists(one)), None)
    return None if path is None else ImageFont.truetype(path, MEASURED_AT)


@functools.lru_cache(20_000)
def em_width(text):
    """The width of a text, in parts of its size."""
    if font() is None:
        return sum(1 if ord(one) > 0x2E7F else 0.58 for one in text)
    return font().getlength(text) / MEASURED_AT


def lines_needed(text, size, width):
    """How many lines a paragraph takes at a size, in a width in points."""
    return sum(wrapped(line, size, width) for line in text.split("\n"))


def wrapped(line, size, width):
    count, used = 1, 0.0
    for piece in PIECE.findall(line):
        wide = em_width(piece) * size
        if used + wide <= width:
            used += wide
        elif piece.isspace():
            continue
        elif wide <= width:
            count, used = count + 1, wide
        else:
            rest = wide - (width - used)
            extra = max(1, -(-rest // width))
            count, used = count + int(extra), rest - (extra - 1) * width
    return count


def height_of(paragraphs, sizes, width, gap=0.0):
    """The height of paragraphs `(level, text)` in points; `sizes` is a size per level, `gap` the space between them in
    points."""
    total = 0.0
    for level, text in paragraphs:
        size = sizes(level)
        total += lines_needed(text or " ", size, max(1.0, width - indent(level))) * size * LINE + gap
    return total


def indent(level):
    return 22.0 * (level + 1)
