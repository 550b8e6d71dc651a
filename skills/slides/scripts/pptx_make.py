#!/usr/bin/env python3
"""Makes a presentation (.pptx) from an outline in Markdown. Text is measured: it gets as large as fits, and what
cannot fit is told."""

import argparse
import os
import zipfile
from datetime import datetime, timezone
from xml.sax.saxutils import escape

import measure
import parts
from deck import Refusal, run
from outline import read_outline
from slide import GAP, Slide, language, size_at

BODY_SIZES = (24, 22, 20, 18, 16, 14)
TITLE_SIZES = (32, 28, 24)
PICTURE_TYPES = {
    b"\x89PNG": ("png", "image/png"),
    b"\xff\xd8\xff": ("jpeg", "image/jpeg"),
    b"GIF8": ("gif", "image/gif"),
}


def make_slide(number, wanted, theme, pictures, folder):
    if wanted.get("cover") or wanted["section"]:
        slide = Slide(number, "cover", theme)
        slide.text("ctrTitle", "", parts.BOXES["cover_title"], [(-1, wanted["title"])], (40, 36, 32, 28), "Title")
        under = [text for column in wanted["columns"] for text in column["text"]]
        if under:
            slide.text("subTitle", "1", parts.BOXES["cover_text"], under, (22, 20, 18, 16), "Subtitle")
        return slide
    columns, has_extra = wanted["columns"], bool(wanted["table"] or wanted["picture"])
    if len(columns) == 2 and has_extra or wanted["table"] and wanted["picture"]:
        raise Refusal(
            f"slide {number} ({wanted['title']}): two of columns, table and picture on one slide leave no room; "
            "make two slides"
        )
    slide = Slide(number, "columns" if len(columns) == 2 else "title_only" if not columns else "text", theme)
    slide.text("title", "", parts.BOXES["title"], [(-1, wanted["title"])], TITLE_SIZES, "Title")
    boxes = (
        [parts.BOXES["left"], parts.BOXES["right"]]
        if len(columns) == 2
        else [parts.BOXES["left" if wanted["picture"] else "top" if wanted["table"] else "body"]]
    )
    for place, (column, box) in enumerate(zip(columns, boxes), 1):
        slide.text("body", str(place), box, column["text"], BODY_SIZES, f"Text {place}", head=column["head"])
    if wanted["table"]:
        slide.table(wanted["table"], parts.BOXES["below" if columns else "body"])
    if wanted["picture"]:
        target, size = pictures.add(wanted["picture"][0], folder, number)
        slide.picture(target, size, parts.BOXES["right" if columns else "body"], wanted["picture"][1])
    if not columns and not has_extra:
        slide.problems.append("it has a title and nothing else: add text, or make it a section with '# '")
    return slide


class Pictures:
    """Pictures of the workspace, each once in the file."""

    def __init__(self):
        self.found, self.endings = {}, {}

    def add(self, path, folder, number):
        place = next((one for one in (path, os.path.join(folder, path)) if os.path.isfile(one)), None)
        if place is None:
            raise Refusal(
                f"slide {number}: there is no picture {path}; pictures are files of the workspace, such as "
                "outputs/chart.png"
            )
        if place not in self.found:
            with open(place, "rb") as file:
                data = file.read()
            kind = next((kind for start, kind in PICTURE_TYPES.items() if data.startswith(start)), None)
            if kind is None:
                raise Refusal(f"slide {number}: {path} is no PNG, JPEG or GIF")
            self.endings[kind[0]] = kind[1]
            self.found[place] = (f"image{len(self.found) + 1}.{kind[0]}", data, size_of(place, path, number))
        name, _, size = self.found[place]
        return f"../media/{name}", size


def size_of(place, path, number):
    try:
        from PIL import Image
    except ImportError as error:
        raise Refusal(
            "Pillow is not installed here, so pictures cannot be placed: leave them out, or have the operator "
            "install python3-pil",
            3,
        ) from error
    try:
        with Image.open(place) as picture:
            return picture.size
    except Exception as error:  # Pillow has an error for each kind of damage.
        raise Refusal(f"slide {number}: the picture {path} cannot be read ({error})") from error


def split_long(wanted):
    """A slide whose text does not fit as several with the same title, in as few as possible."""
    if wanted["section"] or len(wanted["columns"]) != 1 or wanted["picture"] or wanted["table"]:
        return [wanted]
    box, pieces, current = parts.BOXES["body"], [], []
    for level, text in wanted["columns"][0]["text"]:
        height = measure.height_of([*current, (level, text)], lambda one: size_at(18, one), box[2] - 16, GAP)
        if current and height > box[3] - 8:
            pieces.append(current)
            current = []
        current.append((level, text))
    pieces.append(current)
    titles = [
        wanted["title"] + (f" ({place}/{len(pieces)})" if len(pieces) > 1 else "")
        for place in range(1, len(pieces) + 1)
    ]
    return [
        {
            **wanted,
            "title": title,
            "columns": [{"head": wanted["columns"][0]["head"], "text": text}],
            "notes": wanted["notes"] if place == 0 else [],
        }
        for place, (title, text) in enumerate(zip(titles, pieces))
    ]


def make(wanted):
    outline = read_outline(read_text(wanted.file))
    slides = (
        [
            {
                "title": outline["title"],
                "columns": [{"head": "", "text": [(-1, one) for one in outline["subtitle"]]}]
                if outline["subtitle"]
                else [],
                "table": [],
                "picture": None,
                "notes": outline["notes"],
                "section": False,
                "cover": True,
            }
        ]
        if outline["title"]
        else []
    )
    slides += [piece for slide in outline["slides"] for piece in (split_long(slide) if wanted.split else [slide])]
    pictures = Pictures()
    made = [
        make_slide(number, slide, wanted.theme, pictures, os.path.dirname(wanted.file))
        for number, slide in enumerate(slides, 1)
    ]
    problems = [
        f"slide {slide.number} ({plan['title']}): {problem}"
        for slide, plan in zip(made, slides)
        for problem in slide.problems
    ]
    if problems and not wanted.force:
        raise Refusal(
            "nothing was written:\n"
            + "\n".join(problems)
            + "\n--split spreads long lists over several slides; --force writes the deck as it is",
            1,
        )
    write(wanted, slides, made, pictures)
    for problem in problems:
        print(f"! {problem}")
    print(f"written: {wanted.out} ({len(made)} slides). Now run pptx_check.py on it")
    return 1 if problems else 0


def write(wanted, slides, made, pictures):
    noted = [slide.number for slide, plan in zip(made, slides) if any(one.strip() for one in plan["notes"])]
    os.makedirs(os.path.dirname(wanted.out) or ".", exist_ok=True)
    colours = parts.THEMES[wanted.theme]
    with zipfile.ZipFile(wanted.out, "w", zipfile.ZIP_DEFLATED) as file:
        put = file.writestr
        put("[Content_Types].xml", parts.content_types(len(made), noted, pictures.endings))
        put(
            "_rels/.rels",
            parts.relationships(
                [("officeDocument", "ppt/presentation.xml"), ("extended-properties", "docProps/app.xml")]
            ).replace(
                "</Relationships>",
                f'<Relationship Id="rId9" Type="{parts.PACKAGE}/metadata/core-properties" '
                'Target="docProps/core.xml"/></Relationships>',
            ),
        )
        put(
            "docProps/core.xml",
            parts.core(
                escape(slides[0]["title"]),
                escape(wanted.author or ""),
                datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"),
            ),
        )
        put("docProps/app.xml", parts.app(len(made)))
        put("ppt/presentation.xml", parts.presentation(len(made), bool(noted)))
        notes_links = [("notesMaster", "notesMasters/notesMaster1.xml")] if noted else []
        put(
            "ppt/_rels/presentation.xml.rels",
            parts.relationships(
                [
                    ("slideMaster", "slideMasters/slideMaster1.xml"),
                    ("theme", "theme/theme1.xml"),
                    *(("slide", f"slides/slide{slide.number}.xml") for slide in made),
                    *notes_links,
                ]
            ),
        )
        put("ppt/theme/theme1.xml", parts.theme(colours))
        put("ppt/slideMasters/slideMaster1.xml", parts.master())
        put(
            "ppt/slideMasters/_rels/slideMaster1.xml.rels",
            parts.relationships(
                [
                    *(
                        ("slideLayout", f"../slideLayouts/slideLayout{number}.xml")
                        for number in range(1, len(parts.LAYOUTS) + 1)
                    ),
                    ("theme", "../theme/theme1.xml"),
                ]
            ),
        )
        for number, name in enumerate(parts.LAYOUTS, 1):
            put(f"ppt/slideLayouts/slideLayout{number}.xml", parts.layout(name))
            put(
                f"ppt/slideLayouts/_rels/slideLayout{number}.xml.rels",
                parts.relationships([("slideMaster", "../slideMasters/slideMaster1.xml")]),
            )
        if noted:
            put("ppt/theme/theme2.xml", parts.theme(colours))
            put("ppt/notesMasters/notesMaster1.xml", parts.notes_master())
            put("ppt/notesMasters/_rels/notesMaster1.xml.rels", parts.relationships([("theme", "../theme/theme2.xml")]))
        for slide, plan in zip(made, slides):
            links = list(slide.links)
            if slide.number in noted:
                links.append(("notesSlide", f"../notesSlides/notesSlide{slide.number}.xml"))
                put(f"ppt/notesSlides/notesSlide{slide.number}.xml", notes_xml(plan["notes"]))
                put(
                    f"ppt/notesSlides/_rels/notesSlide{slide.number}.xml.rels",
                    parts.relationships(
                        [
                            ("notesMaster", "../notesMasters/notesMaster1.xml"),
                            ("slide", f"../slides/slide{slide.number}.xml"),
                        ]
                    ),
                )
            put(f"ppt/slides/slide{slide.number}.xml", slide.xml())
            put(f"ppt/slides/_rels/slide{slide.number}.xml.rels", parts.relationships(links))
        for name, data, _ in pictures.found.values():
            put(f"ppt/media/{name}", data)


def notes_xml(lines):
    body = "".join(f'<a:p><a:r><a:rPr lang="{language(line)}"/><a:t>{escape(line)}</a:t></a:r></a:p>' for line in lines)
    return (
        f'{parts.HEAD}<p:notes {parts.NAMESPACES}><p:cSld><p:spTree>{parts.TREE}<p:sp><p:nvSpPr><p:cNvPr id="2" '
        'name="Slide image"/><p:cNvSpPr><a:spLocks noGrp="1" noRot="1" noChangeAspect="1"/></p:cNvSpPr><p:nvPr>'
        '<p:ph type="sldImg" idx="2"/></p:nvPr></p:nvSpPr><p:spPr/></p:sp><p:sp><p:nvSpPr><p:cNvPr id="3" '
        'name="Notes"/><p:cNvSpPr><a:spLocks noGrp="1"/></p:cNvSpPr><p:nvPr><p:ph type="body" idx="3"/></p:nvPr>'
        f"</p:nvSpPr><p:spPr/><p:txBody><a:bodyPr/><a:lstStyle/>{body}</p:txBody></p:sp></p:spTree></p:cSld>"
        "<p:clrMapOvr><a:masterClrMapping/></p:clrMapOvr></p:notes>"
    )


def read_text(path):
    if not os.path.isfile(path):
        raise Refusal(f"there is no file {path}: write the outline first, such as temp/outline.md")
    with open(path, "rb") as file:
        data = file.read(5 * 1024 * 1024)
    for encoding in ("utf-8-sig", "gb18030"):
        try:
            return data.decode(encoding)
        except UnicodeDecodeError:
            continue
    raise Refusal(f"{path} is no text: Markdown in UTF-8 is wanted")


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, epilog="Exit code 1: something does not fit; the lines say what."
    )
    parser.add_argument(
        "file",
        help="outline in Markdown: '# Deck', '## Slide', lists, one table or picture, '### ' for columns, '> ' for notes",
    )
    parser.add_argument("--out", required=True, help="such as outputs/deck.pptx")
    parser.add_argument("--theme", choices=tuple(parts.THEMES), default="blue")
    parser.add_argument("--author")
    parser.add_argument("--split", action="store_true", help="spread lists that are too long over several slides")
    parser.add_argument("--force", action="store_true", help="write it although something does not fit")
    wanted = parser.parse_args()
    if not wanted.out.lower().endswith(".pptx"):
        raise Refusal(f"--out ends in .pptx, not {os.path.basename(wanted.out)}")
    return make(wanted)


if __name__ == "__main__":
    run(main)
