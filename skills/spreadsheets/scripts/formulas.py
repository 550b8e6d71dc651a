"""Computes the common formulas of a workbook, so that mistakes show without Excel. What it does not know it says. Used
by xlsx_check.py."""

import re

from openpyxl.utils import column_index_from_string

import functions

TOKEN = re.compile(
    r"""\s*(?:(?P<number>\d+\.?\d*(?:[eE][-+]?\d+)?|\.\d+(?:[eE][-+]?\d+)?)(?![\w!:])
    |(?P<text>"(?:[^"]|"")*")
    |(?P<error>\#(?:REF!|DIV/0!|VALUE!|NAME\?|N/A|NUM!|NULL!))
    |(?P<range>(?:(?:'(?:[^']|'')+'|[\w.\u2e80-\uffef]+)!)?\$?(?:[A-Za-z]{1,3}\$?\d+(?::\$?[A-Za-z]{1,3}\$?\d+)?|[A-Za-z]{1,3}:\$?[A-Za-z]{1,3}|\d+:\$?\d+)(?![\w(.]))
    |(?P<call>[A-Za-z_][\w.]*)\(
    |(?P<word>[A-Za-z_\u2e80-\uffef][\w.\u2e80-\uffef]*)
    |(?P<sign><>|>=|<=|[-+*/^&=<>%(),;{}]))""",
    re.X,
)
RANGE = re.compile(r"(?:('(?:[^']|'')+'|[^!']+)!)?(.+)$")
CELLS_MAX = 500_000
DEPTH_MAX = 120


class Unknown(Exception):
    """A formula that this does not know how to compute."""


class Error(Exception):
    """A value like #DIV/0!."""


class Computer:
    """Values of cells, computed when they are asked for, each once."""

    def __init__(self, book):
        self.book, self.done, self.open, self.cells = book, {}, [], 0

    def value(self, sheet, column, row):
        """The value of a cell; raises Error or Unknown."""
        key = (sheet.title, column, row)
        if key not in self.done:
            self.done[key] = self.find(sheet, column, row, key)
        kind, found = self.done[key]
        if kind == "value":
            return found
        raise (Error if kind == "error" else Unknown)(found)

    def find(self, sheet, column, row, key):
        cell = sheet._cells.get((row, column))
        if cell is None:
            return "value", None
        if cell.data_type == "e":
            return "error", str(cell.value)
        if cell.data_type != "f":
            return "value", cell.value
        if not isinstance(cell.value, str):
            return "unknown", "array formula"
        if key in self.open:
            return "error", "circular"
        if len(self.open) >= DEPTH_MAX:
            return "unknown", f"more than {DEPTH_MAX} formulas one after the other"
        self.open.append(key)
        try:
            result = Reader(self, sheet, cell.value[1:]).whole()
            return "value", result[0][0] if isinstance(result, list) else result
        except Error as error:
            return "error", str(error)
        except Unknown as unknown:
            return "unknown", str(unknown)
        except ZeroDivisionError:
            return "error", "#DIV/0!"
        except (OverflowError, RecursionError):
            return "error", "#NUM!"
        finally:
            self.open.pop()

    def block(self, sheet, text):
        """The values of a range as rows."""
        found = RANGE.match(text)
        if found[1]:
            name = found[1].strip("'").replace("''", "'")
            sheet = next((one for one in self.book.worksheets if one.title.lower() == name.lower()), None)
            if sheet is None:
                raise Error(f"#REF! (there is no sheet {name})")
        first, _, last = found[2].replace("$", "").partition(":")
        left, top = place_of(first)
        right, bottom = place_of(last or first)
        left, right = min(left or 1, right or 1), max(left or sheet.max_column, right or sheet.max_column)
        top, bottom = min(top or 1, bottom or 1), max(top or sheet.max_row, bottom or sheet.max_row)
        bottom = min(bottom, max(sheet.max_row, top))
        self.cells += (bottom - top + 1) * (right - left + 1)
        if self.cells > CELLS_MAX:
            raise Unknown(f"more than {CELLS_MAX} cells to look at")
        return [[self.value(sheet, column, row) for column in range(left, right + 1)] for row in range(top, bottom + 1)]


def place_of(text):
    found = re.fullmatch(r"([A-Za-z]*)(\d*)", text)
    return column_index_from_string(found[1].upper()) if found[1] else None, int(found[2]) if found[2] else None


class Reader:
    """A formula, read and computed from left to right; the names are those of the signs it looks for, from weak to
    strong."""

    def __init__(self, computer, sheet, text):
        self.computer, self.sheet, self.tokens, self.place = computer, sheet, [], 0
        at = 0
        while at < len(text.rstrip()):
            found = TOKEN.match(text, at)
            if found is None:
                raise Unknown(f"cannot read {text[at : at + 20]!r}")
            self.tokens.append((found.lastgroup, found[found.lastgroup]))
            at = found.end()

    def whole(self):
        value = self.compared()
        if self.place < len(self.tokens):
            raise Unknown(f"cannot read {self.tokens[self.place][1]!r}")
        return value

    def next_is(self, *signs):
        kind, text = self.tokens[self.place] if self.place < len(self.tokens) else (None, None)
        if kind == "sign" and text in signs:
            self.place += 1
            return text
        return None

    def compared(self):
        left = self.joined()
        while sign := self.next_is("=", "<>", "<", ">", "<=", ">="):
            left = functions.compare(sign, one(left), one(self.joined()))
        return left

    def joined(self):
        left = self.added()
        while self.next_is("&"):
            left = functions.text(one(left)) + functions.text(one(self.added()))
        return left

    def added(self):
        left = self.multiplied()
        while sign := self.next_is("+", "-"):
            right = self.multiplied()
            left = number(left) + number(right) if sign == "+" else number(left) - number(right)
        return left

    def multiplied(self):
        left = self.raised()
        while sign := self.next_is("*", "/"):
            right = self.raised()
            left = number(left) * number(right) if sign == "*" else number(left) / number(right)
        return left

    def raised(self):
        left = self.signed()
        while self.next_is("^"):
            left = number(left) ** number(self.signed())
        return left

    def signed(self):
        if self.next_is("-"):
            return -number(self.signed())
        if self.next_is("+"):
            return self.signed()
        value = self.simple()
        while self.next_is("%"):
            value = number(value) / 100
        return value

    def simple(self):
        if self.next_is("("):
            value = self.compared()
            self.expect(")")
            return value
        if self.place == len(self.tokens):
            raise Unknown("it ends too early")
        kind, text = self.tokens[self.place]
        self.place += 1
        if kind == "number":
            return float(text)
        if kind == "text":
            return text[1:-1].replace('""', '"')
        if kind == "error":
            raise Error(text)
        if kind == "range":
            block = self.computer.block(self.sheet, text)
            return block[0][0] if ":" not in text else block
        if kind == "call":
            return self.called(text.upper().removeprefix("_XLFN."))
        if kind == "word" and text.upper() in ("TRUE", "FALSE"):
            return text.upper() == "TRUE"
        raise Unknown(f"{text} (a name or sign that is not known here)")

    def called(self, name):
        """Arguments are computed when a function asks for them: IF looks at one branch only."""
        parts = self.arguments()
        known = functions.KNOWN.get(name)
        if known is None:
            raise Unknown(f"the function {name} is not known here")
        return known([lambda part=part: self.computed(part) for part in parts])

    def arguments(self):
        parts, current, depth = [], [], 0
        while True:
            if self.place == len(self.tokens):
                raise Unknown("a bracket is not closed")
            token = self.tokens[self.place]
            self.place += 1
            if depth == 0 and token in (("sign", ","), ("sign", ";")):
                parts.append(current)
                current = []
                continue
            depth += 1 if token[0] == "call" or token == ("sign", "(") else -1 if token == ("sign", ")") else 0
            if depth < 0:
                return [*parts, current] if parts or current else []
            current.append(token)

    def computed(self, tokens):
        if not tokens:
            return None
        inner = object.__new__(Reader)
        inner.computer, inner.sheet, inner.tokens, inner.place = self.computer, self.sheet, tokens, 0
        return inner.whole()

    def expect(self, sign):
        if not self.next_is(sign):
            raise Unknown(f"{sign} is missing")


def one(value):
    return value[0][0] if isinstance(value, list) else value


def number(value):
    return functions.number(one(value))


functions.Error, functions.Unknown = Error, Unknown
