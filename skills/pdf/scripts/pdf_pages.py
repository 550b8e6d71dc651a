#!/usr/bin/env python3
"""Merges, splits, extracts and rotates pages of PDFs. The originals stay as they are; results go to --out."""

import argparse
import os

import common_pdf as pdf


def merge(wanted):
    writer = new_writer()
    for path in wanted.files:
        reader = pdf.open_pdf(path, wanted.password)
        for index in range(len(reader.pages)):
            writer.add_page(reader.pages[index])
    return save(writer, wanted)


def extract(wanted):
    reader = pdf.open_pdf(wanted.files[0], wanted.password)
    writer = new_writer()
    for index in pdf.pages_of(wanted.pages, len(reader.pages)):
        writer.add_page(reader.pages[index])
    return save(writer, wanted)


def split(wanted):
    """One file for every `--every` pages, in the folder --out."""
    reader = pdf.open_pdf(wanted.files[0], wanted.password)
    if wanted.every < 1:
        raise pdf.Refusal("--every is at least 1")
    os.makedirs(wanted.out, exist_ok=True)
    stem = os.path.splitext(os.path.basename(wanted.files[0]))[0]
    digits = len(str(len(reader.pages)))
    for first in range(0, len(reader.pages), wanted.every):
        writer = new_writer()
        last = min(first + wanted.every, len(reader.pages))
        for index in range(first, last):
            writer.add_page(reader.pages[index])
        name = f"{first + 1:0{digits}}" + ("" if last == first + 1 else f"-{last:0{digits}}")
        with open(os.path.join(wanted.out, f"{stem}-{name}.pdf"), "wb") as file:
            writer.write(file)
    print(f"written: {-(-len(reader.pages) // wanted.every)} files into {wanted.out}")
    return 0


def rotate(wanted):
    if wanted.degrees % 90:
        raise pdf.Refusal("--degrees is 90, 180 or 270 (clockwise)")
    reader = pdf.open_pdf(wanted.files[0], wanted.password)
    turned = set(pdf.pages_of(wanted.pages, len(reader.pages)))
    writer = new_writer()
    for index in range(len(reader.pages)):
        page = reader.pages[index]
        writer.add_page(page.rotate(wanted.degrees) if index in turned else page)
    return save(writer, wanted)


def new_writer():
    import pypdf

    return pypdf.PdfWriter()


def save(writer, wanted):
    if not wanted.out.lower().endswith(".pdf"):
        raise pdf.Refusal(f"--out ends in .pdf, not {os.path.basename(wanted.out)}")
    if any(os.path.exists(wanted.out) and os.path.samefile(path, wanted.out) for path in wanted.files):
        raise pdf.Refusal("--out would overwrite the file it is made from: choose another name")
    titles = {
        f"/{key.capitalize()}": value for key, value in (("title", wanted.title), ("author", wanted.author)) if value
    }
    if titles:
        writer.add_metadata(titles)
    os.makedirs(os.path.dirname(wanted.out) or ".", exist_ok=True)
    with open(wanted.out, "wb") as file:
        writer.write(file)
    print(f"written: {wanted.out} ({len(writer.pages)} pages)")
    return 0


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=("merge", "extract", "split", "rotate"))
    parser.add_argument("files", nargs="+", help="one file; merge takes several, in their order")
    parser.add_argument("--pages", help="1-3,7 or 5- or -1 for the last (extract, rotate; default: all)")
    parser.add_argument("--every", type=int, default=1, help="pages a file (split; default 1)")
    parser.add_argument("--degrees", type=int, default=90, help="clockwise (rotate; default 90)")
    parser.add_argument("--title", help="title of the result")
    parser.add_argument("--author", help="author of the result")
    parser.add_argument("--password", help="if the files are protected")
    parser.add_argument("--out", required=True, help="a .pdf; for split a folder")
    wanted = parser.parse_args()
    if wanted.what != "merge" and len(wanted.files) > 1:
        raise pdf.Refusal(f"{wanted.what} takes one file, not {len(wanted.files)}")
    try:
        return {"merge": merge, "extract": extract, "split": split, "rotate": rotate}[wanted.what](wanted)
    except pdf.Refusal:
        raise
    except Exception as error:  # Pages are read when they are copied: damage inside of one shows only then.
        raise pdf.Refusal(
            f"a page is damaged ({type(error).__name__}: {error}): leave it out with extract --pages"
        ) from error


if __name__ == "__main__":
    pdf.run(main)
