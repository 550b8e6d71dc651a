"""Reads a table of any common kind as text cells, and tells what had to be guessed. Used by the scripts beside it."""

import csv
import json
import os
import re
import sys
from dataclasses import dataclass, field

FILE_BYTES_MAX = 1024**3
SAMPLE_BYTES = 256 * 1024
ROWS_DEFAULT = 300_000
HEAD_ROWS_LOOKED_AT = 20
SHEET_ROWS_MAX = 1_048_576
LINES_NAMED_MAX = 5

EXIT_BAD_INPUT = 2
EXIT_LIBRARY = 3


class Refusal(Exception):
    """What the caller can put right; `code` is the exit code."""

    def __init__(self, text, code=EXIT_BAD_INPUT):
        super().__init__(text)
        self.code = code


@dataclass
class Table:
    names: list
    rows: list
    facts: dict
    warnings: list = field(default_factory=list)


def load(path, sheet=None, rows_max=ROWS_DEFAULT, encoding=None, separator=None):
    """The table of a file, all cells as text; `rows_max` 0 means all of them."""
    if not os.path.isfile(path):
        raise Refusal(f"there is no file {path}. Look with list_files; paths begin with uploads/, outputs/ or temp/")
    size = os.path.getsize(path)
    if size == 0:
        raise Refusal(f"{path} is empty (0 bytes): nothing to analyse. Ask for the file again")
    if size > FILE_BYTES_MAX:
        raise Refusal(f"{path} has {size} bytes, more than {FILE_BYTES_MAX}: cut it into parts first")
    with open(path, "rb") as file:
        head = file.read(8)
    ending = os.path.splitext(path)[1].lower()
    if head.startswith(b"PK") or ending in (".xlsx", ".xlsm"):
        table = read_xlsx(path, sheet, rows_max)
    elif head.startswith(b"\xd0\xcf\x11\xe0"):
        raise Refusal(f"{path} is an old Excel file (.xls): save it as .xlsx or .csv first")
    elif head.startswith(b"PAR1") or ending == ".parquet":
        table = read_parquet(path, rows_max)
    elif ending in (".json", ".jsonl", ".ndjson"):
        table = read_json(path, rows_max, encoding)
    else:
        table = read_csv(path, rows_max, encoding, separator)
    table.facts = {"file": path, "bytes": size, **table.facts, "rows": len(table.rows), "columns": len(table.names)}
    return named_once(table)


def find_encoding(path):
    """The encoding of a text file: by its mark, as UTF-8, else by what its bytes would mean in Chinese."""
    import codecs

    with open(path, "rb") as file:
        sample = file.read(SAMPLE_BYTES)
        for mark, name in ((b"\xef\xbb\xbf", "utf-8-sig"), (b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16")):
            if sample.startswith(mark):
                return name
        decoder = codecs.getincrementaldecoder("utf-8")()
        try:
            file.seek(0)
            while block := file.read(1024 * 1024):
                decoder.decode(block)
            decoder.decode(b"", final=True)
            return "utf-8"
        except UnicodeDecodeError:
            pass
    scores = {name: common_share(sample, name, first, last) for name, first, last in CHINESE}
    best = max(scores, key=scores.get)
    if scores[best] >= 0.6:
        return best
    if any(byte < 32 and byte not in b"\t\n\r\f" for byte in sample):
        raise Refusal(f"{path} is no text and no table that can be read (binary). Which program made it?")
    return "cp1252"


# The lead bytes of the characters that are used most.
CHINESE = (("gb18030", 0xB0, 0xD7), ("big5", 0xA4, 0xC6))


def common_share(sample, encoding, first, last):
    """How many of the characters beyond ASCII are everyday ones, if the bytes are in this encoding."""
    try:
        text = sample.decode(encoding)
    except UnicodeDecodeError as error:
        if error.start < len(sample) - 4:
            return 0
        text = sample[: error.start].decode(encoding)
    wide = [character for character in text if ord(character) > 0x2E7F and not 0x3000 <= ord(character) <= 0x303F]
    others = sum(1 for character in text if 0x7F < ord(character) <= 0x2E7F)
    if not wide:
        return 0
    common = sum(1 for character in wide if first <= character.encode(encoding, "replace")[0] <= last)
    return common / (len(wide) + others)


def read_csv(path, rows_max, encoding, separator):
    encoding = encoding or find_encoding(path)
    try:
        with open(path, encoding=encoding, newline="") as file:
            sample = file.read(SAMPLE_BYTES)
            separator = separator or find_separator(sample)
            file.seek(0)
            table = rows_of(csv.reader(file, delimiter=separator), rows_max)
    except (UnicodeDecodeError, LookupError) as error:
        raise Refusal(
            f"{path} cannot be read as {encoding}: {error}. Try --encoding gb18030, big5 or cp1252"
        ) from error
    except csv.Error as error:
        raise Refusal(f"{path} is no table of text: {error}") from error
    table.facts = {"kind": "text", "encoding": encoding, "separator": separator, **table.facts}
    return table


def find_separator(sample):
    """The one that cuts most lines into the same number of cells, more than one."""
    lines = [line for line in sample.splitlines()[:200] if line.strip()]
    best = (0, 0, ",")
    for candidate in (",", "\t", ";", "|"):
        counts = [len(row) for row in csv.reader(lines, delimiter=candidate) if row]
        if not counts:
            continue
        width = max(set(counts), key=lambda count: (counts.count(count), count))
        if width > 1:
            best = max(best, (counts.count(width), width, candidate))
    return best[2]


def rows_of(reader, rows_max):
    """Header and rows of what a csv reader gives. Lines above the header and lines of another width are told."""
    csv.field_size_limit(16 * 1024 * 1024)
    head, warnings = [], []
    for cells in reader:
        if any(cell.strip() for cell in cells):
            head.append((reader.line_num, cells))
        if len(head) == HEAD_ROWS_LOOKED_AT:
            break
    if not head:
        raise Refusal("the file has no cell with text in it. Ask for the file again")
    names, first, above = split_head(head)
    if above:
        warnings.append(f"{above} line(s) above the header were left out")
    if sum(1 for name in names if re.match(r"\s*-?\d+([.,]\d+)?\s*$|\s*\d{4}[-/.年]\d", name)) * 2 > len(names):
        warnings.append("the first row looks like data, not like names of columns: the file may have no header; ask")
    rows, odd, total, longest = [], [], 0, (0, 0)
    for line, cells in with_rest(first, reader):
        if not any(cell.strip() for cell in cells):
            continue
        total += 1
        newlines = max(cell.count("\n") for cell in cells)
        longest = max(longest, (newlines, line))
        if len(cells) != len(names):
            odd.append(line)
            cells = cells[: len(names)] + [""] * (len(names) - len(cells))
        if rows_max == 0 or len(rows) < rows_max:
            rows.append([cell.strip() for cell in cells])
    if odd:
        shown = ", ".join(map(str, odd[:LINES_NAMED_MAX])) + (" …" if len(odd) > LINES_NAMED_MAX else "")
        warnings.append(
            f"{len(odd)} line(s) have another number of cells than the header (lines {shown}); cut or filled up"
        )
    if longest[0] > 50:
        warnings.append(
            f"a cell that ends at line {longest[1]} has {longest[0]} line breaks: a quote is probably not closed"
        )
    if len(rows) < total:
        warnings.append(f"only the first {len(rows)} of {total} rows were read; --rows 0 reads all")
    return Table([name.strip() for name in names], rows, {"rows_in_file": total}, warnings)


def split_head(head):
    """The header, the rows already read below it, and how many lines stood above it."""
    widths = [len([cell for cell in cells if cell.strip()]) for _, cells in head]
    usual = max(set(widths), key=lambda width: (widths.count(width), width))
    start = next(index for index, width in enumerate(widths) if width >= max(1, usual - 1))
    return head[start][1], head[start + 1 :], start


def with_rest(first, reader):
    yield from first
    for cells in reader:
        yield reader.line_num, cells


def read_xlsx(path, sheet, rows_max):
    try:
        import openpyxl
    except ImportError as error:
        raise Refusal(
            "openpyxl is not installed here: ask for the sheet as .csv, or have the operator install python3-openpyxl",
            EXIT_LIBRARY,
        ) from error
    try:
        book = openpyxl.load_workbook(path, read_only=True, data_only=True)
    except Exception as error:  # openpyxl lets out whatever zipfile and its XML parser raise.
        raise Refusal(f"{path} cannot be read as an Excel file: {error}. It may be damaged or encrypted") from error
    if sheet is not None and sheet not in book.sheetnames:
        raise Refusal(f"there is no sheet {sheet}; there are: {', '.join(book.sheetnames)}")
    chosen = (
        book[sheet]
        if sheet
        else next((one for one in book.worksheets if one.sheet_state == "visible"), book.worksheets[0])
    )
    table = rows_of(Numbered(chosen.iter_rows(values_only=True)), rows_max)
    table.facts = {"kind": "xlsx", "sheet": chosen.title, **table.facts}
    others = [name for name in book.sheetnames if name != chosen.title]
    if others and sheet is None:
        table.warnings.append(f"the sheet {chosen.title} was read; --sheet reads another: {', '.join(others)}")
    return table


class Numbered:
    """Rows of a sheet in the shape of a csv reader."""

    def __init__(self, rows):
        self.rows = iter(rows)
        self.line_num = 0

    def __iter__(self):
        return self

    def __next__(self):
        self.line_num += 1
        if self.line_num > SHEET_ROWS_MAX:
            raise Refusal(f"the sheet claims more than {SHEET_ROWS_MAX} rows, which no sheet has: it is damaged")
        try:
            cells = [as_text(value) for value in next(self.rows)]
        except StopIteration:
            raise
        except Exception as error:  # Sheets are read bit by bit: damage shows only now.
            raise Refusal(f"the sheet is damaged at row {self.line_num} ({type(error).__name__}: {error})") from error
        while cells and cells[-1] == "" and self.line_num == 1:
            cells.pop()
        return cells


def as_text(value):
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    if hasattr(value, "isoformat"):
        return value.isoformat(sep=" ") if hasattr(value, "hour") and hasattr(value, "year") else value.isoformat()
    if isinstance(value, (list, dict)):
        return json.dumps(value, ensure_ascii=False)
    return str(value)


def read_json(path, rows_max, encoding):
    encoding = encoding or find_encoding(path)
    try:
        with open(path, encoding=encoding) as file:
            text = file.read()
    except (UnicodeDecodeError, LookupError) as error:
        raise Refusal(f"{path} cannot be read as {encoding}: {error}. JSON is UTF-8; ask for it again") from error
    try:
        value = json.loads(text)
    except RecursionError as error:
        raise Refusal(f"{path} is nested too deeply to be a table") from error
    except json.JSONDecodeError as whole:
        try:
            value = [json.loads(line) for line in text.splitlines() if line.strip()]
        except json.JSONDecodeError:
            raise Refusal(f"{path} is neither JSON nor one JSON value a line: {whole}") from whole
    records = records_of(value)
    if records is None:
        raise Refusal(
            f"{path} has no list of objects in it; its top is {type(value).__name__}. Pick the part with execute_code"
        )
    flat = [flattened(record) for record in (records if rows_max == 0 else records[:rows_max])]
    names = list(dict.fromkeys(name for record in flat for name in record))
    rows = [[as_text(record.get(name)) for name in names] for record in flat]
    warnings = [] if len(flat) == len(records) else [f"only the first {len(flat)} of {len(records)} rows were read"]
    return Table(names, rows, {"kind": "json", "encoding": encoding, "rows_in_file": len(records)}, warnings)


def records_of(value):
    """The list of objects in it, also one step down ({"data": [...]}) or as columns ({"a": [1, 2]})."""
    if isinstance(value, list) and value and all(isinstance(one, dict) for one in value):
        return value
    if not isinstance(value, dict):
        return None
    lists = [inside for inside in value.values() if isinstance(inside, list)]
    for inside in lists:
        if inside and all(isinstance(one, dict) for one in inside):
            return inside
    if lists and len(lists) == len(value) and len({len(inside) for inside in lists}) == 1:
        return [dict(zip(value, cells)) for cells in zip(*lists)]
    return None


def flattened(record, before=""):
    flat = {}
    for key, value in record.items():
        if isinstance(value, dict) and before.count(".") < 3:
            flat.update(flattened(value, f"{before}{key}."))
        else:
            flat[f"{before}{key}"] = value
    return flat


def read_parquet(path, rows_max):
    try:
        import pyarrow.parquet as parquet
    except ImportError as error:
        raise Refusal(
            "Parquet needs pyarrow, which is not installed here and is no package of Debian 12: ask for CSV, or "
            "install pyarrow if an index of packages is set",
            EXIT_LIBRARY,
        ) from error
    try:
        frame = parquet.read_table(path)
    except Exception as error:  # pyarrow has errors of its own for each kind of damage.
        raise Refusal(f"{path} cannot be read as Parquet: {error}") from error
    rows = frame.slice(0, rows_max or None).to_pylist()
    names = frame.column_names
    cells = [[as_text(row[name]) for name in names] for row in rows]
    return Table(names, cells, {"kind": "parquet", "rows_in_file": frame.num_rows})


def named_once(table):
    """Every column has a name, and no two the same."""
    seen = {}
    for index, name in enumerate(table.names):
        plain = " ".join(name.split()) or f"column {index + 1}"
        seen[plain] = seen.get(plain, 0) + 1
        table.names[index] = plain if seen[plain] == 1 else f"{plain} ({seen[plain]})"
    doubled = [name for name, count in seen.items() if count > 1]
    if doubled:
        table.warnings.append(f"column names that occur more than once got a number: {', '.join(doubled)}")
    return table


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
