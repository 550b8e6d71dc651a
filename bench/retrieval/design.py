"""Parts of the documented reference design: 400 characters with 80 of overlap, FTS5 with the text and its words by jieba."""
import logging
import re

import jieba

jieba.setLogLevel(logging.ERROR)
TABLE = (
    "CREATE VIRTUAL TABLE chunk USING fts5 (text, text_jieba, document UNINDEXED, page UNINDEXED,"
    " tokenize = 'porter unicode61')"
)


def chunks_of(text):
    parts, current = [], ""
    for paragraph in re.split(r"\n\s*\n", text):
        for sentence in re.split(r"(?<=[.!?。！？])\s*", paragraph.strip()):
            while len(sentence) > 400:
                parts.append(sentence[:400])
                sentence = sentence[320:]
            if len(current) + len(sentence) > 400:
                parts.append(current)
                current = current[-80:]
            current += " " + sentence
    return [part for part in parts + [current] if part.strip()]


def cut(text):
    return " ".join(word for word in jieba.cut(text) if word.strip())
