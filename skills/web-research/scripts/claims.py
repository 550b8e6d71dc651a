"""Finds the claims of a report and what they rest on. Used by sources.py."""

import re
import unicodedata

CITED = re.compile(r"\[((?:S\d+)(?:\s*[,，、]\s*S\d+)*)\]")
OWN = re.compile(r"\[(?:own|自)\]", re.I)
# A sentence with the marks that follow it.
SENTENCE = re.compile(r".+?(?:[。！？；]|[.!?](?=\s|\[|$)|$)(?:\s*\[[^\]]*\](?!\())*", re.S)
NUMBER = re.compile(r"(?<![\w.])\d[\d,]*(?:\.\d+)?\s*(?:%|％|万|亿)?")
QUOTED = re.compile(r"“([^”]+)”|「([^」]+)」|\"([^\"\n]+)\"")
QUOTED_CHARACTERS_MIN = 12
QUOTED_CHINESE_MIN = 6
SHOWN = 70


def check_report(text, sources):
    """(errors, warnings), each with the line it stands on."""
    known = {one["id"]: one for one in sources}
    errors, warnings, used = [], [], set()
    for line, block in blocks_of(text):
        if OWN.search(block) and not CITED.search(block):
            continue
        cited_here = ids_in(block)
        used |= set(cited_here)
        errors += [
            f"line {line}: [{one}] is not in the table of sources"
            for one in dict.fromkeys(cited_here)
            if one not in known
        ]
        if not cited_here:
            errors.append(f"line {line}: no source for: {short(block)}")
            continue
        for sentence in (found[0].strip() for found in SENTENCE.finditer(block)):
            check_sentence(sentence, line, known, errors, warnings)
    warnings += [f"{one} is in the table and cited nowhere" for one in known if one not in used]
    warnings += [
        f"{one} is cited, but no words of it were kept (--quote): read it again"
        for one in sorted(used & set(known))
        if not known[one]["quotes"]
    ]
    return errors, warnings


def check_sentence(sentence, line, known, errors, warnings):
    bare = CITED.sub("", OWN.sub("", sentence))
    cited = [one for one in ids_in(sentence) if one in known]
    if OWN.search(sentence):
        return
    numbers = [found[0].strip() for found in NUMBER.finditer(bare)]
    quotes = [text for found in QUOTED.finditer(bare) if is_long(text := next(one for one in found.groups() if one))]
    if not ids_in(sentence):
        if numbers or quotes:
            errors.append(f"line {line}: a number or quote without a source in its sentence: {short(sentence)}")
        return
    kept = " ".join(plain(quote) for one in cited for quote in known[one]["quotes"])
    if not kept:
        return
    errors += [
        f"line {line}: “{short(quote)}” does not stand so in what was kept of {', '.join(cited)}"
        for quote in quotes
        if plain(quote) not in kept
    ]
    # The year of a report is often in its title only.
    told = kept + " ".join(plain(f"{known[one]['title']} {known[one].get('published', '')}") for one in cited)
    missing = [number for number in dict.fromkeys(numbers) if plain(number) not in told]
    if missing:
        warnings.append(
            f"line {line}: {', '.join(missing)} stands in no words kept of {', '.join(cited)}: check it, or keep "
            "the words that have it"
        )


def blocks_of(text):
    """(line, text) of each paragraph, item and row of a table; headings, code, rules and the list of sources are no
    claims."""
    blocks, fenced, current = [], False, None
    for number, line in enumerate(text.split("\n"), 1):
        if re.match(r"\s*(```|~~~)", line):
            fenced, current = not fenced, None
        elif fenced:
            continue
        elif re.match(r"## (?:Sources|来源|参考资料)\s*$", line):
            break
        elif not line.strip() or re.match(r"\s*(#{1,6}\s|<!--|!\[|[-*_]{3,}\s*$)", line):
            current = None
        elif line.lstrip().startswith("|"):
            rule = re.fullmatch(r"[\s|:-]+", line)
            if rule and blocks and blocks[-1][0] == number - 1:
                blocks.pop()
            elif not rule:
                blocks.append([number, line.strip().strip("|")])
            current = None
        elif current is None or re.match(r"\s*([-*+]|\d+[.)])\s", line):
            current = [number, re.sub(r"^\s*(?:[-*+]|\d+[.)])\s+", "", line).strip()]
            blocks.append(current)
        else:
            current[1] += " " + line.strip()
    # A line that only leads to a list or asks something claims nothing.
    return [(number, block) for number, block in blocks if not re.search(r"[:：?？]$", block)]


def ids_in(text):
    return [one for found in CITED.finditer(text) for one in re.findall(r"S\d+", found[1])]


def is_long(text):
    chinese = len(re.findall(r"[\u4e00-\u9fff]", text))
    return chinese >= QUOTED_CHINESE_MIN or len(text) >= QUOTED_CHARACTERS_MIN and " " in text


def plain(text):
    """Without what differs between a page and a report: width, case, blanks, thousands, the form of quotation marks."""
    text = unicodedata.normalize("NFKC", text).lower().translate(str.maketrans("“”‘’「」", '""\'\'""'))
    return re.sub(r"(?<=\d),(?=\d{3})|\s+", "", text)


def short(text):
    text = " ".join(text.split())
    return text if len(text) <= SHOWN else text[: SHOWN - 1] + "…"
