"""What the spreadsheet scripts share: opening a workbook, what it has that openpyxl loses, and refusals. Used by the
scripts beside it."""

import os
import re
import sys
import zipfile
import zlib

EXIT_BAD_INPUT = 2
EXIT_LIBRARY = 3
UNPACKED_BYTES_MAX = 2 * 1024**3
ROWS_MAX = 1_048_576
COLUMNS_MAX = 16_384
ERRORS = ("#REF!", "#DIV/0!", "#VALUE!", "#NAME?", "#N/A", "#NUM!", "#NULL!", "#SPILL!", "#CALC!")
# Parts of a workbook that openpyxl drops when it saves a file it has read.
LOST = (
    ("xl/charts/chartEx", "charts of the newer kinds"),
    ("xl/slicers/", "slicers"),
    ("xl/ctrlProps/", "buttons and other controls"),
    ("xl/embeddings/", "embedded files"),
    ("xl/threadedComments/", "comment threads"),
)
SHAPES = re.compile(rb"<(?:xdr:)?(?:sp|grpSp|cxnSp)[ >]")


class Refusal(Exception):
    """What the caller can put right; `code` is the exit code."""

    def __init__(self, text, code=EXIT_BAD_INPUT):
        super().__init__(text)
        self.code = code


def open_book(path, **options):
    """A workbook of openpyxl, for a file that is one."""
    parts_of(path)
    try:
        import warnings

        import openpyxl
    except ImportError as error:
        raise Refusal(
            "openpyxl is not installed here: work with CSV instead, or have the operator install python3-openpyxl",
            EXIT_LIBRARY,
        ) from error
    # It warns of every extension that it does not know; what is lost is told by `lost_by_saving`.
    warnings.simplefilter("ignore")
    try:
        book = openpyxl.load_workbook(path, **options)
        if not options.get("read_only") and any(
            one.max_row > ROWS_MAX or one.max_column > COLUMNS_MAX for one in book.worksheets
        ):
            raise ValueError(f"a sheet has cells beyond row {ROWS_MAX} or column {COLUMNS_MAX}")
        if not book.worksheets:
            raise ValueError("it has no sheet of cells")
        return book
    except Exception as error:  # openpyxl lets out whatever zipfile and its XML parser raise.
        raise Refusal(
            f"{path} cannot be read as a workbook ({type(error).__name__}: {str(error)[:200]}). It may be "
            "damaged: ask for it again"
        ) from error


def parts_of(path):
    """The names of the parts in the file; refuses what is no .xlsx before it is unpacked."""
    if not os.path.isfile(path):
        raise Refusal(f"there is no file {path}. Look with list_files; paths begin with uploads/, outputs/ or temp/")
    with open(path, "rb") as file:
        head = file.read(8)
    if head == b"":
        raise Refusal(f"{path} is empty (0 bytes). Ask for the file again")
    if head.startswith(b"\xd0\xcf\x11\xe0"):
        raise Refusal(f"{path} is an old .xls or protected with a password: ask for an .xlsx without password")
    if not head.startswith(b"PK"):
        raise Refusal(
            f"{path} is no workbook (.xlsx). For CSV and other text use the skill data-analysis, or xlsx_make.py "
            "to make a workbook of it"
        )
    try:
        with zipfile.ZipFile(path) as parts:
            unpacked = sum(part.file_size for part in parts.infolist())
            names = parts.namelist()
    except zipfile.BadZipFile as error:
        raise Refusal(f"{path} is damaged ({error}). Ask for the file again") from error
    if unpacked > UNPACKED_BYTES_MAX:
        raise Refusal(f"{path} unpacks to {unpacked} bytes, more than {UNPACKED_BYTES_MAX}: it is not opened")
    if "[Content_Types].xml" not in names or not any(name.startswith("xl/") for name in names):
        raise Refusal(f"{path} is a ZIP file but no workbook (.xlsx)")
    return names


def lost_by_saving(path):
    """What would be gone if openpyxl saved this file."""
    names = parts_of(path)
    lost = [what for start, what in LOST if any(name.startswith(start) for name in names)]
    drawings = [name for name in names if re.fullmatch(r"xl/drawings/drawing\d+\.xml", name)]
    try:
        with zipfile.ZipFile(path) as parts:
            has_shapes = any(SHAPES.search(parts.read(name)) for name in drawings)
    except (zipfile.BadZipFile, zlib.error, RuntimeError, NotImplementedError, EOFError) as error:
        raise Refusal(f"{path} is damaged ({error}). Ask for the file again") from error
    if has_shapes:
        lost.append("shapes and text boxes")
    return lost


def changed_by_saving(path):
    """What openpyxl keeps, but not in every detail of its look."""
    names = parts_of(path)
    kinds = (("xl/charts/chart", "charts"), ("xl/pivotTables/", "pivot tables"), ("xl/media/", "pictures"))
    return [what for start, what in kinds if any(name.startswith(start) for name in names)]


def sheet_of(book, name):
    if name is None:
        return next((one for one in book.worksheets if one.sheet_state == "visible"), book.worksheets[0])
    if name in book.sheetnames:
        return book[name]
    alike = [one for one in book.sheetnames if one.strip().lower() == name.strip().lower()]
    if alike:
        return book[alike[0]]
    raise Refusal(f"there is no sheet {name}; there are: {', '.join(book.sheetnames)}")


def rows_of(sheet, **limits):
    """The values of a streamed sheet, row by row. Damage shows only while it is read, and comes as a refusal."""
    sheet.reset_dimensions()
    rows, number = iter(sheet.iter_rows(values_only=True, **limits)), 0
    while True:
        try:
            row = next(rows, None)
        except Exception as error:  # Whatever the XML parser and the conversion of cells raise.
            raise Refusal(f"{sheet.title} is damaged after row {number} ({type(error).__name__}: {error})") from error
        number += 1
        if row is None:
            return
        if number > ROWS_MAX:
            raise Refusal(f"{sheet.title} claims more than {ROWS_MAX} rows, which no sheet has: it is damaged")
        yield row


def cells_of(sheet):
    """The cells that are there, by row; a lone cell far below does not bring along all rows above it."""
    return [sheet._cells[place] for place in sorted(sheet._cells)]


def box_of(text):
    """A1:D20, A1, A:C or 2:9 as (first column, first row, last column, last row); None where it is open."""
    from openpyxl.utils import range_boundaries

    if not re.fullmatch(r"\$?[A-Za-z]{0,3}\$?\d{0,7}(:\$?[A-Za-z]{0,3}\$?\d{0,7})?", text) or not text.strip(":$"):
        raise Refusal(f"{text!r} is no range: write A1:D20, B3, A:C or 2:9")
    try:
        return range_boundaries(text.upper())
    except (ValueError, TypeError) as error:
        raise Refusal(f"{text!r} is no range: write A1:D20, B3, A:C or 2:9") from error


def cell_text(value):
    if value is None:
        return ""
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, float):
        return f"{value:.10g}"
    if hasattr(value, "isoformat"):
        return (
            value.isoformat(sep=" ").removesuffix(" 00:00:00")
            if hasattr(value, "hour") and hasattr(value, "year")
            else value.isoformat()
        )
    return " ".join(str(getattr(value, "text", value)).split())


def width_of(text):
    """How wide a text is on the screen: Chinese characters take two places."""
    return sum(2 if ord(character) > 0x2E7F else 1 for character in text)


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
