#!/usr/bin/env python3
"""Prints the text of a PDF page by page, or the pages on which something stands. Scanned pages are told, not passed
over."""

import argparse
import re
import shutil
import unicodedata

import common_pdf as pdf

CHARACTERS_DEFAULT = 30_000
HITS_MAX = 40
AROUND = 60


def count_of(path, password):
    """The number of pages; pypdf is left out where poppler can tell."""
    pdf.check_file(path)
    if shutil.which("pdfinfo") is None:
        return len(pdf.open_pdf(path, password).pages)
    told = pdf.run_poppler("pdfinfo", [*(["-upw", password] if password else []), path], "page count")
    found = re.search(r"^Pages:\s+(\d+)", told, re.M)
    if found is None or found[1] == "0":
        raise pdf.Refusal(f"{path} has no pages that can be read. Ask for the file again")
    return int(found[1])


def show(wanted):
    count = count_of(wanted.file, wanted.password)
    chosen = pdf.pages_of(wanted.pages, count)
    texts = pdf.page_texts(wanted.file, count, wanted.password, wanted.layout)
    if wanted.find:
        return show_hits(texts, chosen, wanted.find)
    parts = [f"--- page {index + 1} of {count}\n" + (texts[index] or "(no text on this page)") for index in chosen]
    scanned = [index + 1 for index in chosen if pdf.is_scanned(texts[index])]
    text = "\n".join(parts)
    if wanted.out:
        with open(wanted.out, "w", encoding="utf-8") as file:
            file.write(text + "\n")
        print(f"written: {wanted.out} ({len(chosen)} pages, {len(text)} characters)")
    else:
        print(text[: wanted.characters])
        if len(text) > wanted.characters:
            read = text[: wanted.characters].count("--- page ")
            print(
                f"\n[cut after {wanted.characters} characters, in page {chosen[max(0, read - 1)] + 1}: read on "
                f"with --pages {chosen[max(0, read - 1)] + 1}-{chosen[-1] + 1}, or write all with --out "
                "temp/text.txt]"
            )
    if scanned:
        print(
            f"\n[pages {pdf.ranges(scanned)} have no or hardly any text: scans or pictures. Look at them with "
            "pdf_look.py; do not guess what stands there]"
        )
    return 0


def show_hits(texts, chosen, wanted):
    """Lines around each hit; width and case of letters do not matter, blanks and line breaks in the text neither."""
    pattern = re.compile(r"\s*".join(re.escape(one) for one in "".join(plain(wanted).split())), re.I)
    hits = 0
    for index in chosen:
        text = plain(texts[index])
        for found in pattern.finditer(text):
            hits += 1
            if hits <= HITS_MAX:
                around = text[max(0, found.start() - AROUND) : found.end() + AROUND]
                print(f"page {index + 1}: …{' '.join(around.split())}…")
    print(f"{hits} hits for {wanted!r}" + (f", the first {HITS_MAX} are shown" if hits > HITS_MAX else ""))
    return 0 if hits else 1


def plain(text):
    return unicodedata.normalize("NFKC", text)


def main():
    parser = argparse.ArgumentParser(description=__doc__, epilog="Exit code 1: --find found nothing.")
    parser.add_argument("file")
    parser.add_argument("--pages", help="1-3,7 or 5- or -1 for the last (default: all)")
    parser.add_argument("--layout", action="store_true", help="keep columns and indentation as on the page")
    parser.add_argument("--find", help="show only where this stands")
    parser.add_argument("--out", help="write the text into a file instead")
    parser.add_argument(
        "--characters", type=int, default=CHARACTERS_DEFAULT, help=f"printed at most (default {CHARACTERS_DEFAULT})"
    )
    parser.add_argument("--password", help="if the file is protected")
    return show(parser.parse_args())


if __name__ == "__main__":
    pdf.run(main)
