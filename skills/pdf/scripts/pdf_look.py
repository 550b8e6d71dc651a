#!/usr/bin/env python3
"""Draws pages of a PDF as PNG pictures, to be looked at: scans, charts, forms, and the look of what you made."""

import argparse
import glob
import os

import common_pdf as pdf
from pdf_text import count_of

PAGES_MAX = 10


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file")
    parser.add_argument("--pages", default="1", help="1-3,7 or -1 for the last (default: 1)")
    parser.add_argument("--dpi", type=int, default=110, help="dots per inch, 40 to 300 (default 110; small print 200)")
    parser.add_argument("--out", default="temp", help="folder (default: temp)")
    parser.add_argument("--password", help="if the file is protected")
    wanted = parser.parse_args()
    if not 40 <= wanted.dpi <= 300:
        raise pdf.Refusal("--dpi is between 40 and 300")
    chosen = pdf.pages_of(wanted.pages, count_of(wanted.file, wanted.password))
    if len(chosen) > PAGES_MAX:
        raise pdf.Refusal(f"{len(chosen)} pages are more than {PAGES_MAX} at once: choose some with --pages")
    os.makedirs(wanted.out, exist_ok=True)
    stem = os.path.join(wanted.out, os.path.splitext(os.path.basename(wanted.file))[0])
    for index in chosen:
        secret = ["-upw", wanted.password] if wanted.password else []
        number = str(index + 1)
        pdf.run_poppler(
            "pdftoppm",
            [
                "-png",
                "-r",
                str(wanted.dpi),
                "-f",
                number,
                "-l",
                number,
                "-singlefile",
                *secret,
                wanted.file,
                f"{stem}-page-{number}",
            ],
            "pictures of pages",
        )
        print(
            f"written: {stem}-page-{number}.png"
            if glob.glob(glob.escape(f"{stem}-page-{number}.png"))
            else f"page {number} gave no picture"
        )
    return 0


if __name__ == "__main__":
    pdf.run(main)
