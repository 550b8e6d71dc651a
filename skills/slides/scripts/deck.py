"""Opens a presentation (.pptx) without any library: its parts, slides, shapes and where they stand. Used by the
scripts beside it."""

import os
import posixpath
import re
import sys
import xml.etree.ElementTree as xml
import zipfile
import zlib

EXIT_BAD_INPUT = 2
PART_BYTES_MAX = 64 * 1024 * 1024
A = "{http://schemas.openxmlformats.org/drawingml/2006/main}"
P = "{http://schemas.openxmlformats.org/presentationml/2006/main}"
R = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}"
REL = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/"
EMU_PER_POINT = 12700


class Refusal(Exception):
    """What the caller can put right; `code` is the exit code."""

    def __init__(self, text, code=EXIT_BAD_INPUT):
        super().__init__(text)
        self.code = code


class Deck:
    """The parts of a presentation, read when they are asked for."""

    def __init__(self, path):
        if not os.path.isfile(path):
            raise Refusal(
                f"there is no file {path}. Look with list_files; paths begin with uploads/, outputs/ or temp/"
            )
        with open(path, "rb") as file:
            head = file.read(8)
        if head == b"":
            raise Refusal(f"{path} is empty (0 bytes). Ask for the file again")
        if head.startswith(b"\xd0\xcf\x11\xe0"):
            raise Refusal(f"{path} is an old .ppt or protected with a password: ask for a .pptx without password")
        if not head.startswith(b"PK"):
            raise Refusal(f"{path} is no presentation (.pptx)")
        try:
            self.parts = zipfile.ZipFile(path)
            self.names = set(self.parts.namelist())
        except zipfile.BadZipFile as error:
            raise Refusal(f"{path} is damaged ({error}). Ask for the file again") from error
        if "ppt/presentation.xml" not in self.names:
            raise Refusal(f"{path} is a ZIP file but no presentation (.pptx)")
        presentation = self.part("ppt/presentation.xml")
        size = presentation.find(f"{P}sldSz")
        self.width = number(size.get("cx") if size is not None else None, 12192000)
        self.height = number(size.get("cy") if size is not None else None, 6858000)
        targets = self.links("ppt/presentation.xml")
        ids = [one.get(f"{R}id") for one in presentation.iter(f"{P}sldId")]
        self.slides = [targets[one][1] for one in ids if one in targets and targets[one][1] in self.names]

    def part(self, name):
        """A part as XML."""
        try:
            info = self.parts.getinfo(name)
            if info.file_size > PART_BYTES_MAX:
                raise Refusal(
                    f"{name} in the file unpacks to {info.file_size} bytes, more than {PART_BYTES_MAX}: it is not "
                    "opened"
                )
            data = self.parts.read(name)
        except KeyError as error:
            raise Refusal(f"the file lacks its part {name}: it is damaged") from error
        except (zipfile.BadZipFile, zlib.error, OSError, RuntimeError, NotImplementedError) as error:
            raise Refusal(f"{name} in the file cannot be unpacked ({error}): it is damaged or protected") from error
        # Presentations have no document type; one that brings its own entities wants to grow.
        if b"<!DOCTYPE" in data[:2000] or b"<!ENTITY" in data:
            raise Refusal(f"{name} has a document type of its own, as no presentation has: it is not opened")
        try:
            return xml.fromstring(data)
        except (xml.ParseError, LookupError, ValueError) as error:
            raise Refusal(f"{name} in the file is no XML ({error}): it is damaged") from error

    def links(self, name):
        """What a part refers to: id → (kind, name of the part or address)."""
        folder, base = posixpath.split(name)
        path = f"{folder}/_rels/{base}.rels"
        if path not in self.names:
            return {}
        found = {}
        for one in self.part(path):
            target = one.get("Target", "")
            inside = one.get("TargetMode") != "External"
            resolved = (
                posixpath.normpath(posixpath.join(folder, target))
                if inside and not target.startswith("/")
                else target.lstrip("/")
                if inside
                else target
            )
            found[one.get("Id")] = (one.get("Type", "").rsplit("/", 1)[-1], resolved)
        return found

    def linked(self, name, kind):
        return next((target for one, target in self.links(name).values() if one == kind and target in self.names), None)


def shapes_of(slide):
    """Shapes, pictures and frames of a slide from top to bottom as they are drawn, those in groups too."""
    tree = slide.find(f"{P}cSld/{P}spTree")
    waiting = list(tree) if tree is not None else []
    found = []
    while waiting:
        one = waiting.pop(0)
        if one.tag == f"{P}grpSp":
            waiting = list(one) + waiting
        elif one.tag in (f"{P}sp", f"{P}pic", f"{P}graphicFrame"):
            found.append(one)
    return found


def placeholder_of(shape):
    """(type, idx) of a placeholder; None for other shapes."""
    found = shape.find(f"*/{P}nvPr/{P}ph")
    return None if found is None else (found.get("type", "body"), found.get("idx", "0"))


def is_title(shape):
    placeholder = placeholder_of(shape)
    return placeholder is not None and placeholder[0] in ("title", "ctrTitle")


def name_of(shape):
    found = shape.find(f"*/{P}cNvPr")
    return found.get("name", "shape") if found is not None else "shape"


def paragraph_text(paragraph):
    parts = []
    for one in paragraph.iter():
        if one.tag == f"{A}t":
            parts.append(one.text or "")
        elif one.tag == f"{A}br":
            parts.append("\n")
    return "".join(parts)


def text_of(shape):
    """The paragraphs of a shape as (level, text)."""
    body = shape.find(f"{P}txBody")
    return [] if body is None else [(level_of(one), paragraph_text(one)) for one in body.findall(f"{A}p")]


def level_of(paragraph):
    head = paragraph.find(f"{A}pPr")
    return max(0, min(8, number(head.get("lvl")))) if head is not None else 0


def number(text, otherwise=0):
    """A whole number within what a slide can have; files that others wrote may have anything there."""
    return int(text) if text is not None and re.fullmatch(r"-?\d{1,10}", text) else otherwise


def rows_of(frame):
    return [
        [" ".join(paragraph_text(one) for one in cell.iter(f"{A}p")).strip() for cell in row.findall(f"{A}tc")]
        for row in frame.iter(f"{A}tr")
    ]


def box_of(shape):
    """(left, top, width, height) in EMU, as the shape itself says; None where its layout decides."""
    place = shape.find(f"{P}spPr/{A}xfrm")
    if place is None:
        place = shape.find(f"{P}xfrm")
    if place is None or place.find(f"{A}off") is None or place.find(f"{A}ext") is None:
        return None
    start, size = place.find(f"{A}off"), place.find(f"{A}ext")
    return number(start.get("x")), number(start.get("y")), number(size.get("cx")), number(size.get("cy"))


def run(main):
    """Runs a script; what the caller can put right is one line on stderr and an exit code."""
    sys.stdout.reconfigure(encoding="utf-8", errors="backslashreplace")
    sys.stderr.reconfigure(encoding="utf-8", errors="backslashreplace")
    try:
        sys.exit(main())
    except Refusal as refusal:
        print(f"error: {refusal}", file=sys.stderr)
        sys.exit(refusal.code)
    except BrokenPipeError:
        os._exit(0)
    except Exception as error:  # Damage that no check has foreseen: one line says more to a model than a traceback.
        place = error.__traceback__
        while place.tb_next:
            place = place.tb_next
        where = f"{os.path.basename(place.tb_frame.f_code.co_filename)}:{place.tb_lineno}"
        print(
            f"error: not expected: {type(error).__name__}: {str(error)[:200]} ({where}). The file is probably damaged",
            file=sys.stderr,
        )
        sys.exit(EXIT_BAD_INPUT)
