#!/usr/bin/env python3
"""Tells what a PDF is: pages and their sizes, title, bookmarks, form fields, which pages have text and which are
scans. JSON."""

import argparse
import json
import os

import common_pdf as pdf

BOOKMARKS_MAX = 40
FIELDS_MAX = 60
BOOKMARKS_DAMAGED = "(the rest of the bookmarks cannot be read)"


def facts_of(path, password):
    reader = pdf.open_pdf(path, password)
    texts = pdf.page_texts(path, len(reader.pages), password)
    bare = [index for index, text in enumerate(texts) if pdf.is_scanned(text)]
    scanned = [index + 1 for index in bare if pdf.has_picture(reader.pages[index])]
    facts = {"file": path, "bytes": os.path.getsize(path), "pages": len(reader.pages), "encrypted": reader.is_encrypted}
    facts["metadata"] = {str(key).lstrip("/"): str(value)[:200] for key, value in (metadata_of(reader) or {}).items()}
    facts["page_sizes_mm"] = sizes_of(reader)
    facts["characters"] = sum(len(text) for text in texts)
    empty = [index + 1 for index in bare if index + 1 not in scanned and not texts[index].strip()]
    facts["pages_with_text"] = pdf.ranges(
        number for number in range(1, len(texts) + 1) if number not in scanned and number not in empty
    )
    facts["pages_scanned"] = pdf.ranges(scanned)
    facts["pages_empty"] = pdf.ranges(empty)
    facts["bookmarks"] = bookmarks_of(reader)
    facts["form_fields"] = fields_of(reader)
    if scanned:
        facts["note"] = (
            "scanned pages have no text: look at them with pdf_look.py and a model that sees pictures, or ask "
            "for the text"
        )
    return facts


def metadata_of(reader):
    try:
        return reader.metadata
    except Exception:  # Metadata that cannot be read are no reason to read nothing.
        return None


def sizes_of(reader):
    sizes = {}
    for index, page in enumerate(reader.pages):
        try:
            box = page.mediabox
            name = f"{float(box.width) * 25.4 / 72:.0f} x {float(box.height) * 25.4 / 72:.0f}"
        except Exception:  # A page without a proper size: the others have one.
            name = "unknown"
        sizes.setdefault(name, []).append(index + 1)
    return {name: pdf.ranges(pages) for name, pages in sizes.items()}


def bookmarks_of(reader):
    try:
        waiting = [(reader.outline, -1)]
    except Exception:  # Bookmarks that lead nowhere.
        return [BOOKMARKS_DAMAGED]
    found = []
    while waiting and len(found) < BOOKMARKS_MAX:
        item, level = waiting.pop()
        if isinstance(item, list):
            waiting += [(one, level + 1) for one in reversed(item)]
            continue
        try:
            found.append(f"{'  ' * level}{item.title} (page {reader.get_destination_page_number(item) + 1})")
        except Exception:  # The same of one alone.
            return [*found, BOOKMARKS_DAMAGED]
    return found


def fields_of(reader):
    try:
        fields = reader.get_fields() or {}
    except Exception:  # A form that cannot be read.
        return {}
    return {name: str(field.get("/V", "")) for name, field in list(fields.items())[:FIELDS_MAX]}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file")
    parser.add_argument("--password", help="if the file is protected")
    wanted = parser.parse_args()
    print(json.dumps(facts_of(wanted.file, wanted.password), ensure_ascii=False, indent=1))
    return 0


if __name__ == "__main__":
    pdf.run(main)
