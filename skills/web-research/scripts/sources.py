#!/usr/bin/env python3
"""Keeps the sources of a research in a table, and checks that every claim of a report has one: add, list, check,
finish."""

import argparse
import json
import os
import re
import sys
import unicodedata
from contextlib import contextmanager
from datetime import date
from urllib.parse import urlsplit, urlunsplit

from claims import check_report

EXIT_FOUND = 1
EXIT_BAD_INPUT = 2
FILE_DEFAULT = "outputs/sources.json"
QUOTES_MAX = 50
QUOTE_CHARACTERS_MAX = 4000
KINDS = ("primary", "official", "science", "news", "reference", "vendor", "blog", "forum")
# What others wrote about what they did themselves counts for more than what was heard of it.
WEAK = ("blog", "forum", "vendor")
TRACKING = re.compile(r"^(utm_\w+|fbclid|gclid|spm|from|share_token)=", re.I)


class Refusal(Exception):
    """What the caller can put right."""


@contextmanager
def locked(path):
    """The table, for reading and changing by one script at a time: calls of tools come side by side."""
    import fcntl

    folder = os.path.dirname(path) or "."
    os.makedirs(folder, exist_ok=True)
    lock = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
    finally:
        os.close(lock)


def read(path):
    if not os.path.exists(path):
        return []
    try:
        with open(path, encoding="utf-8") as file:
            sources = json.load(file)
        if not all(isinstance(one, dict) and {"id", "url", "title", "quotes"} <= set(one) for one in sources):
            raise ValueError("it is not a list of sources")
        return sources
    except (ValueError, TypeError) as error:
        raise Refusal(
            f"{path} is no table of sources ({error}): move it away, or choose another with --file"
        ) from error


def write(path, sources):
    with open(f"{path}.new", "w", encoding="utf-8") as file:
        json.dump(sources, file, ensure_ascii=False, indent=1)
    os.replace(f"{path}.new", path)


def add(wanted):
    """A source, or another quote of one that is there."""
    url = clean_url(wanted.url)
    quote = " ".join((wanted.quote or "").split())
    if len(quote) > QUOTE_CHARACTERS_MAX:
        raise Refusal(
            f"a quote has at most {QUOTE_CHARACTERS_MAX} characters, not {len(quote)}: keep the sentences that matter"
        )
    if wanted.published and not re.fullmatch(r"\d{4}(-\d{2}(-\d{2})?)?", wanted.published):
        raise Refusal(f"--published is 2024, 2024-05 or 2024-05-31, not {wanted.published}")
    with locked(wanted.file):
        sources = read(wanted.file)
        source = next((one for one in sources if one["url"] == url), None)
        if source is None:
            source = {
                "id": f"S{len(sources) + 1}",
                "url": url,
                "title": "",
                "publisher": "",
                "published": "",
                "kind": "",
                "accessed": date.today().isoformat(),
                "quotes": [],
            }
            sources.append(source)
        source.update(
            {
                key: value
                for key, value in (
                    ("title", wanted.title),
                    ("publisher", wanted.publisher),
                    ("published", wanted.published),
                    ("kind", wanted.kind),
                )
                if value
            }
        )
        if quote and quote not in source["quotes"]:
            if len(source["quotes"]) >= QUOTES_MAX:
                raise Refusal(f"{source['id']} has {QUOTES_MAX} quotes already")
            source["quotes"].append(quote)
        write(wanted.file, sources)
    print(
        f"{source['id']}: {source['title'] or url} ({len(source['quotes'])} quotes kept). Cite it as [{source['id']}]"
    )
    return 0


def clean_url(text):
    """The address without marks of advertising, so that the same page is one source."""
    parts = urlsplit(unicodedata.normalize("NFKC", text.strip()))
    if parts.scheme not in ("http", "https") or not parts.hostname or "." not in parts.hostname:
        raise Refusal(f"{text!r} is no address of a page: it begins with https:// and names a host")
    query = "&".join(one for one in parts.query.split("&") if one and not TRACKING.match(one))
    return urlunsplit((parts.scheme, parts.netloc.lower(), parts.path or "/", query, ""))


def show(wanted):
    sources = read(wanted.file)
    if not sources:
        print(f"{wanted.file} has no sources yet: add some")
        return EXIT_FOUND
    print("| id | title | publisher | published | kind | quotes | address |\n|" + " --- |" * 7)
    for one in sources:
        cells = [
            one["id"],
            one["title"],
            one.get("publisher", ""),
            one.get("published", "") or "?",
            one.get("kind", "") or "?",
            str(len(one["quotes"])),
            one["url"],
        ]
        print("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    return 0


def check(wanted):
    sources = read(wanted.file)
    errors, warnings = check_report(read_report(wanted.report), sources)
    by_host = {}
    for one in sources:
        by_host.setdefault(urlsplit(one["url"]).hostname.removeprefix("www."), []).append(one["id"])
    if len(sources) > 2 and len(by_host) == 1:
        warnings.append("all sources are of one site: look for another that does not copy it")
    warnings += [
        f"{one['id']} has no date: say so, or find out when it was written"
        for one in sources
        if not one.get("published")
    ]
    if sources and all(one.get("kind") in WEAK for one in sources):
        warnings.append("all sources are blogs, forums or vendors: look for the one they rest on")
    print(f"{wanted.report}: {len(sources)} sources, {len(errors)} errors, {len(warnings)} warnings")
    for line in errors:
        print(f"error: {line}")
    for line in warnings:
        print(f"warning: {line}")
    return EXIT_FOUND if errors else 0


def finish(wanted):
    """The report with its sources listed at the end, the cited ones only, and every [S1] a link."""
    text, sources = read_report(wanted.report), {one["id"]: one for one in read(wanted.file)}
    errors, _ = check_report(text, list(sources.values()))
    if errors and not wanted.force:
        raise Refusal(
            f"the report has {len(errors)} errors, the first: {errors[0]}. Run check and mend them, or --force"
        )
    body = re.split(r"^## (?:Sources|来源|参考资料)\s*$", text, maxsplit=1, flags=re.M)[0].rstrip()
    cited = [one for one in sources if re.search(rf"\[[^\]]*\b{one}\b[^\]]*\]", body)]
    body = re.sub(
        r"\[(S\d+(?:\s*[,，、]\s*S\d+)*)\](?!\()",
        lambda found: "".join(
            f"[[{one}]]({sources[one]['url']})" if one in sources else f"[{one}]"
            for one in re.findall(r"S\d+", found[1])
        ),
        body,
    )
    body = re.sub(r"[ \t]*\[(?:own|自)\]", "", body, flags=re.I)
    # A Chinese character says about as much as three letters.
    words = re.sub(r"\]\([^)]*\)", "", body)
    title = (
        "来源" if 3 * len(re.findall(r"[\u4e00-\u9fff]", words)) > len(re.findall(r"[a-z]", words, re.I)) else "Sources"
    )
    lines = [
        f"- {one}: [{sources[one]['title'] or sources[one]['url']}]({sources[one]['url']})"
        + "".join(f", {part}" for part in (sources[one].get("publisher"), sources[one].get("published")) if part)
        + f" ({sources[one]['accessed']})"
        for one in cited
    ]
    os.makedirs(os.path.dirname(wanted.out) or ".", exist_ok=True)
    with open(wanted.out, "w", encoding="utf-8") as file:
        file.write(f"{body}\n\n## {title}\n\n" + "\n".join(lines) + "\n")
    print(f"written: {wanted.out} ({len(cited)} of {len(sources)} sources cited)")
    return 0


def read_report(path):
    if not os.path.isfile(path):
        raise Refusal(f"there is no report {path}: write it first, such as temp/report.md")
    try:
        with open(path, encoding="utf-8-sig") as file:
            return file.read()
    except UnicodeDecodeError as error:
        raise Refusal(f"{path} is no text in UTF-8") from error


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, epilog="Exit code 1: check found errors, or there is nothing to list."
    )
    commands = parser.add_subparsers(dest="command", required=True)
    one = commands.add_parser("add", help="note a source, or a further quote of it")
    one.add_argument("--url", required=True)
    one.add_argument("--title")
    one.add_argument("--publisher", help="who stands behind it")
    one.add_argument("--published", help="2024, 2024-05 or 2024-05-31")
    one.add_argument("--kind", choices=KINDS)
    one.add_argument("--quote", help="the words on the page that you rely on, exactly as they stand there")
    commands.add_parser("list", help="all sources as a table")
    one = commands.add_parser(
        "check", help="does every claim of a report have a source, every quote its words, every number its place?"
    )
    one.add_argument(
        "report", help="Markdown with [S1] or [S1, S2] behind what they show, [own] behind your own reasoning"
    )
    one = commands.add_parser("finish", help="write the report with links and the list of sources")
    one.add_argument("report")
    one.add_argument("--out", default="outputs/report.md")
    one.add_argument("--force", action="store_true", help="although check finds errors")
    for name in commands.choices.values():
        name.add_argument("--file", default=FILE_DEFAULT, help=f"the table (default: {FILE_DEFAULT})")
    wanted = parser.parse_args()
    try:
        return {"add": add, "list": show, "check": check, "finish": finish}[wanted.command](wanted)
    except Refusal as refusal:
        print(f"error: {refusal}", file=sys.stderr)
        return EXIT_BAD_INPUT


if __name__ == "__main__":
    sys.stdout.reconfigure(encoding="utf-8", errors="backslashreplace")
    sys.stderr.reconfigure(encoding="utf-8", errors="backslashreplace")
    sys.exit(main())
