"""The documented reference design as a whole: reads files with the usual Python libraries, cuts them, and indexes them into
a database. Prints one JSON object: milliseconds in all and of reading by format, on the clock and of the processor, bytes of
the database, megabytes of memory."""
import json
import os
import resource
import sqlite3
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "retrieval"))

import design
import docx
import fitz
import jieba
import openpyxl
from bs4 import BeautifulSoup


def read_pdf(path):
    return [page.get_text() for page in fitz.open(path)]


def read_docx(path):
    document = docx.Document(path)
    texts = [paragraph.text for paragraph in document.paragraphs]
    texts += [" | ".join(cell.text for cell in row.cells) for table in document.tables for row in table.rows]
    return ["\n\n".join(texts)]


def read_xlsx(path):
    sheets = []
    for sheet in openpyxl.load_workbook(path, read_only=True, data_only=True):
        rows = [" | ".join(str(value) for value in row if value is not None) for row in sheet.iter_rows(values_only=True)]
        # As the design has it: sheets by twenty rows, two of them again in the next.
        sheets += ["\n".join(rows[start : start + 20]) for start in range(0, len(rows), 18)]
    return sheets


def read_html(path):
    with open(path, "rb") as page:
        return [BeautifulSoup(page, "lxml").get_text()]


read = {"pdf": read_pdf, "docx": read_docx, "xlsx": read_xlsx, "html": read_html}
target, *paths = sys.argv[1:]
jieba.initialize()
database = sqlite3.connect(target)
database.execute(design.TABLE)
reading, reading_cpu = {}, {}
started, started_cpu = time.perf_counter(), time.process_time()
for path in paths:
    began, began_cpu = time.perf_counter(), time.process_time()
    kind = path.rsplit(".", 1)[1]
    pages = read[kind](path)
    reading[kind] = reading.get(kind, 0) + (time.perf_counter() - began) * 1000
    reading_cpu[kind] = reading_cpu.get(kind, 0) + (time.process_time() - began_cpu) * 1000
    for number, page in enumerate(pages, 1):
        for chunk in design.chunks_of(page):
            database.execute("INSERT INTO chunk VALUES (?, ?, ?, ?)", (chunk, design.cut(chunk), path, number))
    database.commit()
total, cpu = (time.perf_counter() - started) * 1000, (time.process_time() - started_cpu) * 1000
database.close()
memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
size = os.path.getsize(target)
found = {"ms": total, "cpuMs": cpu, "readingMs": reading, "readingCpuMs": reading_cpu, "bytes": size, "megabytes": memory}
json.dump(found, sys.stdout)
