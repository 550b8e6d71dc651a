"""What the PDF scripts share: opening a file, page numbers as people write them, and refusals. Used by the scripts
beside it."""

import os
import re
import shutil
import subprocess
import sys

EXIT_BAD_INPUT = 2
EXIT_LIBRARY = 3
PROGRAM_SECONDS_MAX = 120
# A scan may bear the number of its page; a page with less than that is one, or a picture.
SCANNED_CHARACTERS_MAX = 8


class Refusal(Exception):
    """What the caller can put right; `code` is the exit code."""

    def __init__(self, text, code=EXIT_BAD_INPUT):
        super().__init__(text)
        self.code = code


def open_pdf(path, password=None):
    """A pypdf reader for a file that is a PDF and can be opened."""
    check_file(path)
    try:
        import logging

        import pypdf
    except ImportError as error:
        raise Refusal(
            "pypdf is not installed here: have the operator install python3-pypdf; until then only pdf_text.py works",
            EXIT_LIBRARY,
        ) from error
    # It tells of every small flaw; what matters comes as an error.
    logging.getLogger("pypdf").setLevel(logging.CRITICAL)
    try:
        reader = pypdf.PdfReader(path)
        if reader.is_encrypted and not reader.decrypt(password or ""):
            raise Refusal(
                f"{path} is protected with a password"
                + (": that one is wrong" if password else ": ask for it and pass --password")
            )
        len(reader.pages)
    except Refusal:
        raise
    except Exception as error:  # A damaged file makes pypdf raise almost anything.
        name = type(error).__name__
        if name == "DependencyError":
            raise Refusal(
                f"{path} is encrypted in a way that pypdf cannot open here: ask for a copy without protection",
                EXIT_LIBRARY,
            ) from error
        raise Refusal(f"{path} is damaged and cannot be opened ({name}: {error}). Ask for the file again") from error
    if len(reader.pages) == 0:
        raise Refusal(f"{path} has no pages")
    return reader


def check_file(path):
    if not os.path.isfile(path):
        raise Refusal(f"there is no file {path}. Look with list_files; paths begin with uploads/, outputs/ or temp/")
    with open(path, "rb") as file:
        head = file.read(1024)
    if head == b"":
        raise Refusal(f"{path} is empty (0 bytes). Ask for the file again")
    if b"%PDF-" not in head:
        kind = "a ZIP, Word, Excel or PowerPoint file" if head.startswith(b"PK") else "something else"
        raise Refusal(f"{path} is no PDF: it begins like {kind}")


def pages_of(text, count):
    """`1-3,7,-1` as numbers from 0, in that order; `all` for every page. -1 is the last page."""
    if text in (None, "", "all"):
        return list(range(count))
    chosen = []
    for part in text.replace("，", ",").split(","):
        found = re.fullmatch(r"\s*(-?\d+)\s*(?:(?:-|to|至)\s*(-?\d+)?)?\s*", part)
        if found is None:
            raise Refusal(f"--pages {part!r} is no page: write 1-3,7 or 5- or -1 for the last")
        first = place_of(int(found[1]), count)
        ranged = re.search(r"\d\s*(-|to|至)", part)
        last = place_of(int(found[2]), count) if found[2] else count - 1 if ranged else first
        chosen += range(first, last + 1) if first <= last else range(first, last - 1, -1)
    return chosen


def place_of(number, count):
    if number == 0 or abs(number) > count:
        raise Refusal(f"there is no page {number}: the file has {count}")
    return number - 1 if number > 0 else count + number


def run_poppler(program, arguments, why):
    """What a program of poppler-utils prints; a refusal where it is missing, fails or takes too long."""
    if shutil.which(program) is None:
        raise Refusal(f"{program} is not installed here ({why}): have the operator install poppler-utils", EXIT_LIBRARY)
    try:
        done = subprocess.run([program, *arguments], capture_output=True, timeout=PROGRAM_SECONDS_MAX, check=False)
    except subprocess.TimeoutExpired as error:
        raise Refusal(f"{program} took more than {PROGRAM_SECONDS_MAX} s: choose fewer pages with --pages") from error
    said = done.stderr.decode("utf-8", "replace").strip().splitlines()
    if done.returncode != 0:
        if any("password" in line.lower() for line in said):
            raise Refusal("the file is protected with a password: ask for it and pass --password")
        raise Refusal(f"{program} could not read the file: {said[0] if said else f'exit code {done.returncode}'}")
    return done.stdout.decode("utf-8", "replace")


def page_texts(path, count, password=None, layout=False):
    """The text of each page, by poppler; without it by pypdf, which is slower and knows no columns."""
    secret = ["-upw", password] if password else []
    if shutil.which("pdftotext"):
        text = run_poppler("pdftotext", ["-enc", "UTF-8", *(["-layout"] if layout else []), *secret, path, "-"], "text")
        texts = text.split("\f")[:count]
        return [one.strip("\n") for one in texts] + [""] * (count - len(texts))
    return [one.extract_text() or "" for one in open_pdf(path, password).pages]


def is_scanned(text):
    return len("".join(text.split())) < SCANNED_CHARACTERS_MAX


def has_picture(page):
    """Whether a page shows a picture, also inside a form: a page of a scanner is one."""
    waiting, seen = [page], 0
    while waiting and seen < 50:
        seen += 1
        try:
            resources = waiting.pop().get("/Resources")
            objects = resources.get_object().get("/XObject").get_object() if resources is not None else {}
            for one in objects.values():
                one = one.get_object()
                if one.get("/Subtype") == "/Image":
                    return True
                waiting.append(one)
        except Exception:  # A page whose parts are damaged has no picture that could be shown.
            continue
    return False


def ranges(numbers):
    """[1, 2, 3, 7] → "1-3, 7"."""
    parts = []
    for number in sorted(numbers):
        if parts and parts[-1][1] == number - 1:
            parts[-1][1] = number
        else:
            parts.append([number, number])
    return ", ".join(str(first) if first == last else f"{first}-{last}" for first, last in parts)


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
