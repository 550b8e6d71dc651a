"""The functions of spreadsheets that formulas.py computes. Each takes its arguments as functions that compute them."""

import math
import re
from datetime import date, datetime

EPOCH = datetime(1899, 12, 30)


class Error(Exception):
    """Replaced by formulas.py with its own."""


class Unknown(Exception):
    """Replaced by formulas.py with its own."""


def number(value):
    if value is None or value == "":
        return 0
    if isinstance(value, (bool, int, float)):
        return value + 0
    if isinstance(value, (datetime, date)):
        return serial(value)
    try:
        return float(str(value).replace(",", ""))
    except ValueError:
        raise Error("#VALUE!") from None


def serial(value):
    moment = value if isinstance(value, datetime) else datetime(value.year, value.month, value.day)
    return (moment - EPOCH).total_seconds() / 86400


def text(value):
    if value is None:
        return ""
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    return f"{value:.15g}" if isinstance(value, float) else str(value)


def compare(sign, left, right):
    left, right = comparable(left, right), comparable(right, left)
    if type(left) is not type(right):
        # Excel puts every number before every text.
        left, right = isinstance(left, str), isinstance(right, str)
    return {
        "=": left == right,
        "<>": left != right,
        "<": left < right,
        ">": left > right,
        "<=": left <= right,
        ">=": left >= right,
    }[sign]


def comparable(value, other):
    if value is None:
        return "" if isinstance(other, str) else 0.0
    return value.lower() if isinstance(value, str) else float(number(value))


def flat(arguments):
    for argument in arguments:
        value = argument()
        if isinstance(value, list):
            yield from (("cell", cell) for row in value for cell in row)
        else:
            yield "value", value


def numbers(arguments):
    """Of ranges only numbers count; what is written into the call must be one."""
    return [
        number(value)
        for kind, value in flat(arguments)
        if kind == "value"
        and value is not None
        or isinstance(value, (int, float, datetime, date))
        and not isinstance(value, bool)
    ]


def single(argument):
    value = argument()
    return value[0][0] if isinstance(value, list) else value


def need(values):
    if not values:
        raise Error("#DIV/0!")
    return values


def rounded(value, digits, how):
    scale = 10 ** int(digits)
    return math.copysign(how(abs(value) * scale + 1e-9), value) / scale


def fits(condition):
    """A test for SUMIF and its like: 5, ">5", "苹果", "a*"."""
    if not isinstance(condition, str):
        return lambda value: value is not None and compare("=", value, condition)
    found = re.match(r"(<>|>=|<=|=|<|>)(.*)", condition, re.S)
    sign, wanted = (found[1], found[2]) if found else ("=", condition)
    try:
        wanted = float(wanted)
        return lambda value: (
            (isinstance(value, (int, float)) and compare(sign, value, wanted))
            or (sign == "<>" and not isinstance(value, (int, float)))
        )
    except ValueError:
        pattern = re.compile("".join({"*": ".*", "?": "."}.get(one, re.escape(one)) for one in wanted), re.I | re.S)
    if sign in ("=", "<>"):
        return lambda value: (pattern.fullmatch(text(value)) is not None) == (sign == "=")
    return lambda value: isinstance(value, str) and compare(sign, value, wanted)


def chosen(pairs, values):
    """The values at the places where every range fits its condition."""
    tests = [
        ([cell for row in cells() for cell in row] if isinstance(cells(), list) else [cells()], fits(single(condition)))
        for cells, condition in zip(pairs[::2], pairs[1::2])
    ]
    wanted = [cell for row in values for cell in row] if isinstance(values, list) else [values]
    if any(len(cells) != len(wanted) for cells, _ in tests):
        raise Unknown("ranges of different sizes")
    return [value for index, value in enumerate(wanted) if all(test(cells[index]) for cells, test in tests)]


def only_numbers(values):
    return [value for value in values if isinstance(value, (int, float)) and not isinstance(value, bool)]


def looked_up(arguments):
    wanted, rows, column = single(arguments[0]), arguments[1](), int(number(single(arguments[2])))
    near = bool(single(arguments[3])) if len(arguments) > 3 else True
    if not isinstance(rows, list) or column < 1 or column > len(rows[0]):
        raise Error("#REF!")
    place = matched(wanted, [row[0] for row in rows], 1 if near else 0)
    return rows[place][column - 1]


def matched(wanted, cells, how):
    if how == 0:
        test = fits(f"={wanted}") if isinstance(wanted, str) else fits(wanted)
        found = [index for index, cell in enumerate(cells) if cell is not None and test(cell)]
    else:
        found = [
            index
            for index, cell in enumerate(cells)
            if cell is not None and compare("<=" if how > 0 else ">=", cell, wanted)
        ][-1:]
    if not found:
        raise Error("#N/A")
    return found[0]


def match(arguments):
    cells = arguments[1]()
    row = cells[0] if len(cells) == 1 else [row[0] for row in cells]
    return matched(single(arguments[0]), row, number(single(arguments[2])) if len(arguments) > 2 else 1) + 1


def index(arguments):
    rows, row = arguments[0](), int(number(single(arguments[1])))
    column = int(number(single(arguments[2]))) if len(arguments) > 2 else 1
    if len(rows) == 1 and len(arguments) == 2:
        row, column = 1, row
    if not (1 <= row <= len(rows) and 1 <= column <= len(rows[0])):
        raise Error("#REF!")
    return rows[row - 1][column - 1]


def if_error(arguments):
    try:
        return single(arguments[0])
    except (Error, ZeroDivisionError):
        return single(arguments[1])


def if_then(arguments):
    branch = 1 if number(single(arguments[0])) else 2
    return arguments[branch]() if branch < len(arguments) else False


def products(arguments):
    blocks = [argument() for argument in arguments]
    rows = [[cell for row in block for cell in row] for block in blocks]
    if len({len(row) for row in rows}) != 1:
        raise Error("#VALUE!")
    return sum(math.prod(cell if isinstance(cell, (int, float)) else 0 for cell in cells) for cells in zip(*rows))


def median(values):
    values, middle = sorted(need(values)), len(values) // 2
    return values[middle] if len(values) % 2 else (values[middle - 1] + values[middle]) / 2


def middle_of(arguments):
    whole, start, length = (
        text(single(arguments[0])),
        int(number(single(arguments[1]))),
        int(number(single(arguments[2]))),
    )
    return whole[start - 1 : start - 1 + length]


def part_of_date(part):
    def read(arguments):
        from datetime import timedelta

        value = single(arguments[0])
        moment = value if isinstance(value, (datetime, date)) else EPOCH + timedelta(days=number(value))
        return getattr(moment, part)

    return read


def wanted_digits(arguments):
    return number(single(arguments[1])) if len(arguments) > 1 else 0


KNOWN = {
    "SUM": lambda a: sum(numbers(a)),
    "AVERAGE": lambda a: sum(need(numbers(a))) / len(numbers(a)),
    "COUNT": lambda a: len(numbers(a)),
    "COUNTA": lambda a: sum(1 for _, value in flat(a) if value is not None),
    "COUNTBLANK": lambda a: sum(1 for _, value in flat(a) if value in (None, "")),
    "MIN": lambda a: min(numbers(a), default=0),
    "MAX": lambda a: max(numbers(a), default=0),
    "MEDIAN": lambda a: median(numbers(a)),
    "PRODUCT": lambda a: math.prod(numbers(a)),
    "SUMPRODUCT": products,
    "ABS": lambda a: abs(number(single(a[0]))),
    "INT": lambda a: math.floor(number(single(a[0]))),
    "MOD": lambda a: number(single(a[0])) % number(single(a[1])),
    "SQRT": lambda a: number(single(a[0])) ** 0.5,
    "ROUND": lambda a: rounded(number(single(a[0])), wanted_digits(a), lambda value: math.floor(value + 0.5)),
    "ROUNDUP": lambda a: rounded(number(single(a[0])), wanted_digits(a), lambda value: math.ceil(value - 2e-9)),
    "ROUNDDOWN": lambda a: rounded(number(single(a[0])), wanted_digits(a), math.floor),
    "IF": if_then,
    "IFERROR": if_error,
    "AND": lambda a: all(number(value) for _, value in flat(a)),
    "OR": lambda a: any(number(value) for _, value in flat(a)),
    "NOT": lambda a: not number(single(a[0])),
    "SUMIF": lambda a: sum(only_numbers(chosen(a[:2], a[2]() if len(a) > 2 else a[0]()))),
    "COUNTIF": lambda a: len(chosen(a[:2], a[0]())),
    "AVERAGEIF": lambda a: (lambda values: sum(need(values)) / len(values))(
        only_numbers(chosen(a[:2], a[2]() if len(a) > 2 else a[0]()))
    ),
    "SUMIFS": lambda a: sum(only_numbers(chosen(a[1:], a[0]()))),
    "COUNTIFS": lambda a: len(chosen(a, a[0]())),
    "AVERAGEIFS": lambda a: (lambda values: sum(need(values)) / len(values))(only_numbers(chosen(a[1:], a[0]()))),
    "VLOOKUP": looked_up,
    "MATCH": match,
    "INDEX": index,
    "LEN": lambda a: len(text(single(a[0]))),
    "LEFT": lambda a: text(single(a[0]))[: int(number(single(a[1]))) if len(a) > 1 else 1],
    "RIGHT": lambda a: text(single(a[0]))[-(int(number(single(a[1]))) if len(a) > 1 else 1) :],
    "MID": middle_of,
    "TRIM": lambda a: " ".join(text(single(a[0])).split()),
    "UPPER": lambda a: text(single(a[0])).upper(),
    "LOWER": lambda a: text(single(a[0])).lower(),
    "CONCATENATE": lambda a: "".join(text(value) for _, value in flat(a)),
    "CONCAT": lambda a: "".join(text(value) for _, value in flat(a)),
    "YEAR": part_of_date("year"),
    "MONTH": part_of_date("month"),
    "DAY": part_of_date("day"),
    "DATE": lambda a: serial(datetime(int(number(single(a[0]))), int(number(single(a[1]))), int(number(single(a[2]))))),
}
