import type { DemoWords } from "./intent.ts";

export type ChartWords = DemoWords["chart"];

/** Of a long message only the beginning is looked through for names of columns. */
const askedMax = 1000;

/**
 * The program that looks into tables: plain Python where pandas is missing, and without a chart where matplotlib is. A column
 * that was asked for by its name is the one that is drawn.
 */
export function profileCode(paths: readonly string[], asked: string, words: ChartWords): string {
  const settings = JSON.stringify(JSON.stringify({ paths, asked: asked.slice(0, askedMax).toLowerCase(), words }));
  return `${head}\nsettings = json.loads(${settings})\n${body}`;
}

const head = `# A profile of each table: rows, columns, types, gaps, figures, and a chart.
import array, collections, csv, datetime, io, json, math, os, re, statistics
try:
    import pandas
except ImportError:
    pandas = None
`;

const body = String.raw`
MISSING = {"", "-", "--", "—", "na", "n/a", "null", "none", "nan", "无", "空", "缺失"}
PLAIN = re.compile(r"[+-]?(0|[1-9]\d{0,14})(\.\d+)?(e[+-]?\d{1,2})?", re.I)
GROUPED = re.compile(r"[+-]?[1-9]\d{0,2}(,\d{3})+(\.\d+)?")
NUMBERED = re.compile(r"(^|[\W_])(id|no|nr|index)$|编号|序号", re.I)
SHARE, DISTINCT, COLUMNS = 0.8, 1000, 40
csv.field_size_limit(1 << 24)

def encoding_of(path):
    with open(path, "rb") as file:
        start = file.read(1 << 20)
    if start[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return "utf-16"
    for encoding in ("utf-8-sig", "gb18030"):
        try:
            io.TextIOWrapper(io.BytesIO(start[: start.rfind(b"\n") + 1] or start), encoding).read()
            return encoding
        except UnicodeDecodeError:
            pass
    return "latin-1"

def delimiter_of(lines):
    named = re.fullmatch(r'"?sep=(.)"?\s*', lines[0], re.I) if lines else None
    if named:
        return named[1], 1
    def score(delimiter):
        widths = [len(row) for row in csv.reader(lines, delimiter=delimiter) if any(cell.strip() for cell in row)]
        usual, times = max(collections.Counter(w for w in widths if w > 1).items(), key=lambda pair: (pair[1], pair[0]), default=(0, 0))
        return times, usual
    return max(",;\t|", key=score), 0

class Table:
    """Rows as they come, so that a large file needs little memory."""
    def __init__(self, path):
        self.path, self.encoding = path, encoding_of(path)
        with self.open() as file:
            lines = [line for _, line in zip(range(20), file)]
        self.delimiter, self.skip = delimiter_of(lines)
        first = next(self.raw_rows(), [])
        self.comma = self.delimiter == ";" and any(re.search(r"(^|;)\s*\"?[+-]?\d+,\d+\"?\s*(;|$)", line) for line in lines)
        names = [cell.strip() for cell in first]
        self.named = any(name and number(name, self.comma) is None for name in names) and all(
            number(name, self.comma) is None or re.fullmatch(r"(19|20)\d\d", name) for name in names)
        self.names = names if self.named else [""] * len(names)

    def open(self):
        return open(self.path, encoding=self.encoding, errors="replace", newline="")

    def raw_rows(self):
        with self.open() as file:
            for _ in range(self.skip):
                next(file, None)
            for row in csv.reader(file, delimiter=self.delimiter):
                if any(cell.strip() for cell in row):
                    yield row

    def rows(self):
        rows = self.raw_rows()
        if self.named:
            next(rows, None)
        return rows

def number(cell, comma=False):
    text = cell.strip()
    if comma:
        text = text.replace(".", "").replace(",", ".")
    if not PLAIN.fullmatch(text):
        text = re.sub(r"^\((.+)\)$", r"-\1", text).replace("−", "-")
        text = re.sub(r"^([+-]?)\s*[¥￥$€£]\s*|\s*[¥￥$€£%元]$", r"\1", text)
        if GROUPED.fullmatch(text):
            text = text.replace(",", "")
        if not PLAIN.fullmatch(text):
            return None
    return float(text)

def is_date(cell):
    text = cell.strip().replace("/", "-").replace("年", "-").replace("月", "-").replace("日", "")
    if not re.match(r"\d{4}-\d{1,2}(-\d{1,2})?", text):
        return False
    try:
        datetime.date(*[int(part) for part in (re.split(r"[-T ]", text) + ["1"])[:3]])
        return True
    except ValueError:
        return False

class Column:
    def __init__(self, name):
        self.name, self.filled, self.dates = name, 0, 0
        self.numbers, self.values = array.array("d"), collections.Counter()

    def take(self, cell, comma):
        if cell.strip().lower() in MISSING:
            return
        self.filled += 1
        value = number(cell, comma)
        if value is not None:
            self.numbers.append(value)
        elif is_date(cell):
            self.dates += 1
        if len(self.values) <= DISTINCT or cell in self.values:
            self.values[cell.strip()] += 1

    @property
    def kind(self):
        if self.filled == 0:
            return "empty"
        if len(self.numbers) / self.filled >= SHARE:
            return "number"
        return "date" if self.dates / self.filled >= SHARE else "text"

    def report(self, rows):
        told = {"name": self.name[:60], "kind": self.kind, "filled": self.filled, "gaps": rows - self.filled}
        if len(self.values) <= DISTINCT:
            told["distinct"] = len(self.values)
        if self.kind == "number":
            told.update(figures(self.numbers))
        elif self.kind == "text":
            [(value, times)] = self.values.most_common(1)
            told.update(often=value[:60], times=times)
        elif self.kind == "date":
            days = sorted(value for value in self.values if is_date(value))
            told.update(first=days[0][:30], last=days[-1][:30])
        return told

def figures(numbers):
    if pandas:
        series = pandas.Series(numbers)
        found = dict(min=series.min(), max=series.max(), mean=series.mean(), median=series.median())
    else:
        found = dict(min=min(numbers), max=max(numbers), mean=statistics.fmean(numbers), median=statistics.median(numbers))
    return {name: float(value) for name, value in found.items()} | {"sum": math.fsum(numbers)}

def profile(path):
    table = Table(path)
    columns, rows = [Column(name) for name in table.names], 0
    for row in table.rows():
        rows += 1
        while len(columns) < len(row):
            columns.append(Column(""))
        for column, cell in zip(columns, row):
            column.take(cell, table.comma)
    told = {"path": path, "rows": rows, "columns": [column.report(rows) for column in columns[:COLUMNS]], "width": len(columns)}
    return told | chart(table, columns)

def is_asked(name):
    return name != "" and re.search(r"(?<![a-z0-9_])" + re.escape(name) + r"(?![a-z0-9_])", settings["asked"]) is not None

def chart(table, columns):
    """The sums of a column of numbers by the groups of another one; else how values are spread."""
    try:
        import matplotlib.pyplot as plot
    except ImportError:
        return {"chart": None, "why": "matplotlib"}
    words = settings["words"]
    name = lambda place: columns[place].name or words["column"].replace("#", str(place + 1))
    kinds = [column.kind for column in columns]
    unasked = [not is_asked(column.name.strip().lower()) for column in columns]
    numbers = sorted((place for place, kind in enumerate(kinds) if kind == "number"), key=lambda place: (unasked[place], bool(NUMBERED.search(columns[place].name))))
    groups = sorted((place for place, kind in enumerate(kinds) if kind in ("text", "date") and 2 <= len(columns[place].values) <= 40), key=lambda place: unasked[place])
    figure, axes = plot.subplots(figsize=(8, 4.5))
    if numbers and groups:
        sums, (value, group) = collections.Counter(), (numbers[0], groups[0])
        for row in table.rows():
            cell = number(row[value], table.comma) if len(row) > max(value, group) else None
            if cell is not None:
                sums[row[group].strip()] += cell
        shown = sorted(sums.items()) if kinds[group] == "date" else sums.most_common(15)
        axes.bar([key for key, _ in shown], [total for _, total in shown])
        axes.set(xlabel=name(group), ylabel=name(value), title=words["sums"].replace("#1", name(value)).replace("#2", name(group)))
        axes.tick_params(axis="x", rotation=45 if len(shown) > 6 else 0)
    elif numbers:
        axes.hist(columns[numbers[0]].numbers, bins=30)
        axes.set(xlabel=name(numbers[0]), ylabel=words["rows"], title=words["spread"].replace("#", name(numbers[0])))
    elif groups:
        shown = columns[groups[0]].values.most_common(15)
        axes.bar([key for key, _ in shown], [times for _, times in shown])
        axes.set(xlabel=name(groups[0]), ylabel=words["rows"], title=words["spread"].replace("#", name(groups[0])))
    else:
        plot.close(figure)
        return {"chart": None, "why": "nothing"}
    stem = os.path.splitext(os.path.basename(table.path))[0]
    target = f"outputs/{stem}-{words['file']}.png"
    os.makedirs("outputs", exist_ok=True)
    figure.tight_layout()
    figure.savefig(target, dpi=110)
    plot.close(figure)
    return {"chart": target, "drawn": [name(place) for place in numbers[:1] + groups[:1]]}

told = []
for path in settings["paths"]:
    try:
        told.append(profile(path))
    except (OSError, csv.Error):
        told.append({"path": path, "failed": True})
print("profile:" + json.dumps(told, ensure_ascii=False))
`;
