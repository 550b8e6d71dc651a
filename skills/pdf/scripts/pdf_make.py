#!/usr/bin/env python3
"""Makes a PDF from Markdown: headings, lists, tables, code, quotes, local pictures, links, page numbers; English and
Chinese."""

import argparse
import os

import common_pdf as pdf
from markdown_blocks import blocks_of, inline

TEXT_BYTES_MAX = 5 * 1024 * 1024
# TrueType outlines: reportlab cannot embed the others (Noto CJK). The second number is the face within the file.
FONTS = (
    ("/usr/share/fonts/truetype/wqy/wqy-microhei.ttc", 0, 1),
    ("/usr/share/fonts/truetype/wqy/wqy-zenhei.ttc", 0, 1),
    ("/usr/share/fonts/truetype/arphic/uming.ttc", 0, 0),
    ("/usr/share/fonts/truetype/droid/DroidSansFallbackFull.ttf", 0, 0),
)
DARK = "#14375e"


def choose_fonts(text):
    """The faces for this text: Helvetica where it has all characters, else a Chinese font; and what no font has."""
    from reportlab.pdfbase import pdfmetrics
    from reportlab.pdfbase.cidfonts import UnicodeCIDFont
    from reportlab.pdfbase.ttfonts import TTFont

    try:
        text.encode("cp1252")
        return {
            "plain": "Helvetica",
            "code": "Courier",
            "bold": lambda inside: f"<b>{inside}</b>",
            "title": "Helvetica-Bold",
            "missing": [],
        }
    except UnicodeEncodeError:
        pass
    # Chinese fonts have one weight here: what is bold gets a colour.
    coloured = {"bold": lambda inside: f'<font color="#9a3412">{inside}</font>'}
    for path, face, mono in FONTS:
        if os.path.exists(path):
            fonts = [TTFont("Chinese", path, subfontIndex=face), TTFont("ChineseMono", path, subfontIndex=mono)]
            for font in fonts:
                pdfmetrics.registerFont(font)
            for name in ("Chinese", "ChineseMono"):
                pdfmetrics.registerFontFamily(name, normal=name, bold=name, italic=name, boldItalic=name)
            missing = sorted({one for one in text if ord(one) > 32 and ord(one) not in fonts[0].face.charToGlyph})
            return {"plain": "Chinese", "code": "ChineseMono", "title": "Chinese", "missing": missing, **coloured}
    pdfmetrics.registerFont(UnicodeCIDFont("STSong-Light"))
    pdfmetrics.registerFontFamily(
        "STSong-Light", normal="STSong-Light", bold="STSong-Light", italic="STSong-Light", boldItalic="STSong-Light"
    )
    print(
        "! no Chinese font is installed: the PDF names STSong-Light, which the reader's program has to bring "
        "along; have the operator install fonts-wqy-microhei"
    )
    return {"plain": "STSong-Light", "code": "STSong-Light", "title": "STSong-Light", "missing": [], **coloured}


class Maker:
    """Blocks of Markdown as flowing parts of pages."""

    def __init__(self, fonts, width, size, folder):
        self.fonts, self.width, self.size, self.folder, self.warnings = fonts, width, size, folder, []

    def style(self, text="", **changes):
        from reportlab.lib.styles import ParagraphStyle

        size = changes.pop("size", self.size)
        wide = any(ord(character) > 0x2E7F for character in text)
        return ParagraphStyle(
            "one",
            fontName=changes.pop("font", self.fonts["plain"]),
            fontSize=size,
            leading=size * 1.5,
            spaceAfter=changes.pop("after", 6),
            wordWrap="CJK" if wide else None,
            **changes,
        )

    def paragraph(self, text, **changes):
        from reportlab.platypus import Paragraph

        return Paragraph(inline(text, self.fonts["bold"], self.fonts["code"]), self.style(text, **changes))

    def parts_of(self, block):
        return getattr(self, f"make_{block[0]}")(*block[1:])

    def make_heading(self, level, text):
        size = self.size * {1: 2, 2: 1.5, 3: 1.25}.get(level, 1.1)
        return [
            self.paragraph(
                text,
                size=size,
                font=self.fonts["title"],
                textColor=DARK,
                spaceBefore=size * 0.6,
                after=size * 0.4,
                keepWithNext=1,
            )
        ]

    def make_paragraph(self, text):
        return [self.paragraph(text)]

    def make_quote(self, text):
        return [
            self.paragraph(text, leftIndent=14, textColor="#444444", backColor="#f2f4f7", borderPadding=(3, 6, 4, 6))
        ]

    def make_list(self, items):
        from reportlab.platypus import Paragraph

        made = []
        for level, mark, text in items:
            style = self.style(text, leftIndent=16 + 16 * level, bulletIndent=3 + 16 * level, after=3)
            style.bulletFontName, style.bulletFontSize = self.fonts["plain"], self.size
            made.append(Paragraph(inline(text, self.fonts["bold"], self.fonts["code"]), style, bulletText=mark))
        return made

    def make_code(self, text):
        from reportlab.pdfbase.pdfmetrics import stringWidth
        from reportlab.platypus import Preformatted

        size, room = self.size * 0.85, self.width - 12
        lines = []
        for line in text.expandtabs(4).split("\n"):
            while stringWidth(line, self.fonts["code"], size) > room:
                fit = max(
                    1,
                    next(
                        index
                        for index in range(len(line), 0, -1)
                        if index == 1 or stringWidth(line[:index], self.fonts["code"], size) <= room
                    ),
                )
                lines.append(line[:fit])
                line = line[fit:]
            lines.append(line)
        style = self.style(font=self.fonts["code"], size=size, leftIndent=6, backColor="#f5f5f5", after=8)
        style.leading = size * 1.35
        return [Preformatted("\n".join(lines), style)]

    def make_table(self, rows, aligns):
        from reportlab.lib import colors
        from reportlab.platypus import Spacer, Table

        numbers = {"left": 0, "center": 1, "right": 2}
        cells = [
            [
                self.paragraph(
                    cell,
                    size=self.size * 0.9,
                    after=0,
                    alignment=numbers[align],
                    font=self.fonts["title"] if index == 0 else self.fonts["plain"],
                )
                for cell, align in zip(row, aligns)
            ]
            for index, row in enumerate(rows)
        ]
        made = Table(cells, colWidths=self.widths_of(rows), repeatRows=1)
        made.setStyle(
            [
                ("GRID", (0, 0), (-1, -1), 0.4, colors.HexColor("#bbbbbb")),
                ("BACKGROUND", (0, 0), (-1, 0), colors.HexColor("#e8eef5")),
                ("VALIGN", (0, 0), (-1, -1), "MIDDLE"),
                ("TOPPADDING", (0, 0), (-1, -1), 2),
                ("BOTTOMPADDING", (0, 0), (-1, -1), 4),
            ]
        )
        return [made, Spacer(1, 8)]

    def widths_of(self, rows):
        """Columns as wide as their longest cell wants, within the page; none below a few characters."""
        from reportlab.pdfbase.pdfmetrics import stringWidth

        wanted = [
            min(self.width * 0.6, 14 + max(stringWidth(cell, self.fonts["plain"], self.size * 0.95) for cell in column))
            for column in zip(*rows)
        ]
        least = min(40, self.width / len(wanted))
        wanted = [max(least, one) for one in wanted]
        scale = min(1, self.width / sum(wanted))
        if least * len(wanted) > self.width * 0.99:
            self.warnings.append(
                f"a table has {len(wanted)} columns: too narrow to read; use --landscape or fewer columns"
            )
        return [one * scale for one in wanted]

    def make_picture(self, path, title):
        from reportlab.lib.utils import ImageReader
        from reportlab.platypus import Image, Spacer

        place = next((one for one in (os.path.join(self.folder, path), path) if os.path.isfile(one)), None)
        if place is None or "://" in path:
            self.warnings.append(
                f"the picture {path} is not there and was left out; pictures are files of the workspace"
            )
            return [self.paragraph(f"[{title or path}]", textColor="#aa0000")]
        try:
            width, height = ImageReader(place).getSize()
        except Exception:  # Pillow and reportlab have an error for each kind of damage.
            self.warnings.append(f"the picture {path} cannot be read and was left out")
            return [self.paragraph(f"[{title or path}]", textColor="#aa0000")]
        scale = min(1, self.width / width, 480 / height)
        caption = [self.paragraph(title, size=self.size * 0.9, alignment=1, textColor="#555555")] if title else []
        return [Image(place, width * scale, height * scale), Spacer(1, 3), *caption]

    def make_rule(self):
        from reportlab.platypus import HRFlowable

        return [HRFlowable(width="100%", color="#bbbbbb", spaceBefore=6, spaceAfter=6)]

    def make_page(self):
        from reportlab.platypus import PageBreak

        return [PageBreak()]


def make(wanted):
    text = read_text(wanted.file)
    try:
        from reportlab.lib.pagesizes import A4, LETTER, landscape
        from reportlab.platypus import SimpleDocTemplate
    except ImportError as error:
        raise pdf.Refusal(
            "reportlab is not installed here: write the result as Markdown or HTML instead, or have the operator "
            "install python3-reportlab",
            pdf.EXIT_LIBRARY,
        ) from error
    blocks = blocks_of(text)
    if not blocks:
        raise pdf.Refusal(f"{wanted.file} has nothing to print in it")
    title = wanted.title or next((block[2] for block in blocks if block[0] == "heading"), os.path.basename(wanted.out))
    page = {"a4": A4, "letter": LETTER}[wanted.paper]
    page = landscape(page) if wanted.landscape else page
    fonts = choose_fonts(text + title + "•")
    margin = 56
    maker = Maker(fonts, page[0] - 2 * margin, wanted.size, os.path.dirname(wanted.file))
    parts = [part for block in blocks for part in maker.parts_of(block)]
    os.makedirs(os.path.dirname(wanted.out) or ".", exist_ok=True)
    document = SimpleDocTemplate(
        wanted.out,
        pagesize=page,
        leftMargin=margin,
        rightMargin=margin,
        topMargin=margin,
        bottomMargin=margin,
        title=title,
        author=wanted.author or "",
    )

    def footer(canvas, _):
        canvas.setFont(fonts["plain"], 8)
        canvas.drawCentredString(page[0] / 2, margin / 2, str(canvas.getPageNumber()))

    try:
        document.build(parts, onFirstPage=footer, onLaterPages=footer)
    except Exception as error:  # reportlab raises LayoutError and others for what does not fit on a page.
        raise pdf.Refusal(
            f"the pages cannot be laid out: {str(error).splitlines()[0][:200]}. A table cell or picture is "
            "probably taller than a page: split it"
        ) from error
    if fonts["missing"]:
        maker.warnings.append(
            f"no glyph for {' '.join(fonts['missing'][:20])}: they show as boxes; write words instead"
        )
    for warning in maker.warnings:
        print(f"! {warning}")
    print(f"written: {wanted.out} ({document.page} pages)")
    return 1 if maker.warnings else 0


def read_text(path):
    if not os.path.isfile(path):
        raise pdf.Refusal(f"there is no file {path}: write the Markdown first, such as temp/notes.md")
    if os.path.getsize(path) > TEXT_BYTES_MAX:
        raise pdf.Refusal(f"{path} has more than {TEXT_BYTES_MAX} bytes: split it")
    with open(path, "rb") as file:
        data = file.read()
    for encoding in ("utf-8-sig", "gb18030"):
        try:
            return data.decode(encoding)
        except UnicodeDecodeError:
            continue
    raise pdf.Refusal(f"{path} is no text: Markdown in UTF-8 is wanted")


def main():
    parser = argparse.ArgumentParser(
        description=__doc__,
        epilog="<!-- page --> on a line of its own begins a new page. Exit code 1: made, but read the lines with !.",
    )
    parser.add_argument("file", help="Markdown, UTF-8")
    parser.add_argument("--out", required=True, help="such as outputs/report.pdf")
    parser.add_argument("--title", help="title in the file's properties (default: the first heading)")
    parser.add_argument("--author")
    parser.add_argument("--paper", choices=("a4", "letter"), default="a4")
    parser.add_argument("--landscape", action="store_true")
    parser.add_argument("--size", type=float, default=10.5, help="size of the text in points (default 10.5)")
    wanted = parser.parse_args()
    if not wanted.out.lower().endswith(".pdf"):
        raise pdf.Refusal(f"--out ends in .pdf, not {os.path.basename(wanted.out)}")
    if not 6 <= wanted.size <= 24:
        raise pdf.Refusal("--size is between 6 and 24")
    return make(wanted)


if __name__ == "__main__":
    pdf.run(main)
