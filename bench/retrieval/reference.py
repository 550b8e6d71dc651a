"""The documented reference design, rebuilt: 400 characters with 80 of overlap, FTS5 with the text and its words by jieba,
porter, all words needed; the stemmed column first, the segmented one where that finds nothing. Reads one JSON object,
writes for each query and scope the best ten as [document, page]."""
import json
import re
import sqlite3
import sys

from design import TABLE, chunks_of, cut

given = json.load(sys.stdin)
database = sqlite3.connect(":memory:")
database.execute(TABLE)

for document, pages in given["manuals"].items():
    for number, page in enumerate(pages, 1):
        for chunk in chunks_of(page):
            database.execute("INSERT INTO chunk VALUES (?, ?, ?, ?)", (chunk, cut(chunk), document, number))


def ask(column, expression, document):
    where, values = "", [f"{column} : ({expression})"]
    if document:
        where, values = " AND document = ?", values + [document]
    sql = f"SELECT document, page FROM chunk WHERE chunk MATCH ?{where} ORDER BY rank LIMIT 10"
    return [list(row) for row in database.execute(sql, values)]


def attempt(column, text, document):
    words = re.findall(r"\w+", text)
    return ask(column, " AND ".join(f'"{word}"' for word in words), document) if words else []


found = []
for query in given["queries"]:
    for document in (query["document"], None):
        found.append(attempt("text", query["text"], document) or attempt("text_jieba", cut(query["text"]), document))
json.dump(found, sys.stdout)
