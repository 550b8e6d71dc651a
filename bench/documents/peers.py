"""The usual Python libraries: makes files and reads them. Prints the milliseconds that reading took, and the characters."""
import sys
import time


def make_docx(path, paragraphs, tables):
    import docx

    document = docx.Document()
    for number in range(paragraphs):
        if number % 20 == 0:
            document.add_heading(f"Heading {number}", 1 + number % 3)
        document.add_paragraph(f"Paragraph {number} has some words of its own, as paragraphs have. " * 4)
    for number in range(tables):
        table = document.add_table(rows=5, cols=4)
        for row in range(5):
            for column, cell in enumerate(table.rows[row].cells):
                cell.text = f"{number} {row} {column}"
    document.save(path)


def make_xlsx(path, rows):
    import openpyxl

    book = openpyxl.Workbook(write_only=True)
    sheet = book.create_sheet("Data")
    for row in range(rows):
        sheet.append([row, f"name {row % 100}", row * 1.5, "some words", row % 7])
    book.save(path)


def read_pdf(path):
    import fitz

    return sum(len(page.get_text()) for page in fitz.open(path))


def read_docx(path):
    import docx

    document = docx.Document(path)
    count = sum(len(paragraph.text) for paragraph in document.paragraphs)
    return count + sum(len(cell.text) for table in document.tables for row in table.rows for cell in row.cells)


def read_xlsx(path):
    import openpyxl

    count = 0
    for sheet in openpyxl.load_workbook(path, read_only=True, data_only=True):
        for row in sheet.iter_rows(values_only=True):
            count += sum(len(str(value)) for value in row if value is not None)
    return count


job, path, *numbers = sys.argv[1:]
if job.startswith("make"):
    globals()[job](path, *map(int, numbers))
else:
    __import__({"read_pdf": "fitz", "read_docx": "docx", "read_xlsx": "openpyxl"}[job])
    started = time.perf_counter()
    characters = globals()[job](path)
    print((time.perf_counter() - started) * 1000, characters)
