#   errors.py - what the programs say when something fails, and in which page
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0
"""Prints a complaint for each message that no page has, and for each in a
page that nobody says.

The messages are the texts that are given to the functions which print
errors (PRINTERS) or keep them for somebody who does.  What stands for a
name, a number or a reason is a hole.  A message is told of in a page if it
begins with an item below "Errors" in DIAGNOSTICS of a page: there "..."
stands for a hole, or, as the last thing of an item, for anything.

    errors.py [--list] FILES.c... -- PAGES...   --list: in which it is found
    errors.py --items PAGES...
"""

import re
import sys

HOLE = "\x01"

#   Which argument is the text, and what is put ahead of it and behind.
PRINTERS = {
    "lk_cli_fail": (1, "", ""),
    "lk_cli_hint": (0, "", ""),
    "lk_cli_misused": (1, "", ""),
    "lk_problem_set": (2, "", ""),
    "lk_problem_errno": (1, "", ": " + HOLE),
    "lk_log_error": (0, "", ""),
    "lk_log_warning": (0, "", ""),
    "lk_config_complain": (2, "", ""),
    "lk_config_keep_mistake": (3, "", ""),
    "lk_config_refuse": (3, f"'{HOLE}' is no value for '{HOLE}': ", ""),
    "lk_neighbour_note_refusal": (1, "neighbour: ", ": " + HOLE),
    "turn_away": (3, "neighbour: refused: ", ""),
    "lk_out_trace": (2, "", ""),
    "complain": (-1, "", ""),
}

#   What nobody meets, and why.
NOBODY = {
    "attached to '...'": "it is asked for when it is not",
    "there is no '...'": "its callers make the file, or go on",
    "'...' is no lease page": "of the library, which says it with lost",
    "'...' was connected to before fork": "of the library: see fork there",
    "'...' cannot be the name of a service": "a mistake of a program",
    "'...' is no endpoint of the kind ......": "told as of a router",
    "'...' has no port": "what a socket was bound to has one",
    "'...' is too long": "an address of an interface is not",
    "'...' is not HOST:PORT": "checked with the configuration",
    "'...' is not HOST:PORT: router/address": "likewise",
    "it does not answer": "told behind: no router at ...",
    "it does not answer as a router does": "likewise",
    "our agent ends as soon as it begins": "a mistake of ours",
    "cannot lock '....lock': ...": "but by a file system without locks",
}
CALL = re.compile(r"(?<![\w>])(%s) \(" % "|".join(PRINTERS))
STRING = re.compile(r'"((?:[^"\\]|\\.)*)"')
CONVERSION = re.compile(r"%[-0-9.*]*(?:hh?|ll?|z|j)?[a-zA-Z]|%%")


def without_comments(text):
    def blank(found):
        if found[0][0] == '"':
            return found[0]
        return re.sub(r"[^\n]", " ", found[0])

    text = text.replace("'\"'", "'_'")
    return re.sub(r'"(?:[^"\\]|\\.)*"|/\*.*?\*/', blank, text, flags=re.S)


def arguments(text, at):
    """Those of the call whose bracket is ahead of `at`."""
    depth, found, begin = 0, [], at
    while True:
        if text[at] == '"':
            at = STRING.match(text, at).end()
            continue
        if text[at] == "'":
            at = text.index("'", at + 2 if text[at + 1] == "\\" else at + 1)
        elif text[at] in "([{":
            depth += 1
        elif text[at] == "," and depth == 0:
            found.append(text[begin:at])
            begin = at + 1
        elif text[at] in ")]}":
            if depth == 0:
                return found + [text[begin:at]]
            depth -= 1
        at += 1


def choices(expression):
    """The texts that it may be: more than one with "?" and ":"."""
    parts = re.split(r"(\"(?:[^\"\\]|\\.)*\")", expression)
    bare = "".join(part for part in parts[::2])
    if "?" not in bare and ":" not in bare:
        text = "".join(
            part[1:-1] if part[:1] == '"' else HOLE if part.strip("() \n")
            else "" for part in parts)
        return [text]
    texts, current = [], []
    for part in parts:
        if part[:1] == '"':
            current.append(part[1:-1])
        elif "?" in part or ":" in part:
            if current:
                texts.append("".join(current))
            current = []
        elif part.strip("() \n"):
            current.append(HOLE)
    if current:
        texts.append("".join(current))
    return texts


def plain(text):
    """Without C's ways to write things, and with holes."""
    text = CONVERSION.sub(lambda it: "%" if it[0] == "%%" else HOLE, text)
    return text.replace("\\n", "\n").replace('\\"', '"')


def messages(text):
    """Line, message, and the names that make up one which is but holes; with
    what is put ahead of it and behind."""
    for call in CALL.finditer(text):
        place, ahead, behind = PRINTERS[call[1]]
        found = arguments(text, call.end())
        line = text.count("\n", 0, call.start()) + 1
        if call[1] == "lk_out_trace" and not re.search(
                "WARNING|ERROR", found[1]):
            continue
        if call[1] == "complain":
            place = next((k for k, it in enumerate(found) if '"' in it),
                         len(found) - 1)
        if place >= len(found) or found[place].strip().startswith("const "):
            continue
        wanted = found[place]
        names = [one.strip() for one in found[place + 1:]
                 if ".number" not in one]
        if '"' not in wanted:
            yield line, HOLE, [wanted.strip()], (ahead, behind)
            continue
        for choice in map(plain, choices(wanted)):
            yield line, ahead + choice + behind, names, (ahead, behind)


def inside(text, name):
    """The body of the file's own function of that name."""
    found = re.search(r"^%s \(.*?^}" % name, text, re.S | re.M)
    return found[0] if found else ""


def kept_in(text, name):
    """What a variable may hold: printed into it, or given to it."""
    name = ("" if name[0] == "-" else r"(?<!\w)") + re.escape(name)
    for call in re.finditer(r"snprintf \((\w+)?%s\b" % name, text):
        yield from choices(arguments(text, call.start() + 10)[2])
    given = r'%s = ((?:"(?:[^"\\]|\\.)*"|[^;"])*);'
    for given in re.finditer(given % name, text):
        if given[1][:1] != "{":
            called = re.match(r"(\w+) \(", given[1])
            body = inside(text, called[1]) if called else given[1]
            yield from returned(body, not called)


def returned(body, whole=False):
    for one in [body] if whole else re.findall(r"return ([^;]*);", body):
        if '"' in one:
            yield from choices(one)


def is_told_elsewhere(name):
    """By those of PRINTERS that fill in a lk_problem, by who answers, or by
    others."""
    return re.search(r"(\.|->)(text|wrong)$|_problem \(|\bnumber$|lk_text_of \("
                     r"|^(format|allowed|errno)$", name)


def is_last(message, at):
    """Whether nothing is said behind that hole."""
    return not any(it.isalpha() for it in message[at + 1:])


class Item:
    """What a page has, as parts between the dots."""

    def __init__(self, page, text):
        self.page, self.text = page, text
        self.tokens = re.split(r"(\.\.\.)", text)
        self.tokens = [one for part in self.tokens
                       for one in ([part] if part == "..." else part)]

    def fits(self, message):
        letters = sum(it.isalpha() for it in message)
        wanted = min(5, letters)
        seen = set()

        def fit(i, m, matched):
            if (i, m, matched) in seen:
                return False
            seen.add((i, m, matched))
            if i == len(self.tokens):
                return matched >= wanted
            token = self.tokens[i]
            if token == "..." and i == len(self.tokens) - 1:
                return matched >= wanted
            if m == len(message):
                return False
            if message[m] == HOLE:
                end = len(self.tokens) + is_last(message, m)
                return any(fit(k, m + 1, matched) for k in range(i, end))
            if token == "...":
                return fit(i + 1, m, matched) or (
                    message[m] != "'" and self.tokens[0] in "'-"
                    and fit(i, m + 1, matched))
            return token == message[m] and fit(
                i + 1, m + 1, min(wanted, matched + token.isalpha()))

        return fit(0, 0, 0)


def items(page):
    """Those of DIAGNOSTICS, with all its tables."""
    inside_it = False
    with open(page, encoding="utf-8") as file:
        for line in file:
            if line.startswith(".Sh "):
                inside_it = line.strip() == ".Sh DIAGNOSTICS"
            elif inside_it and line.startswith(".It "):
                text = line[4:].strip().replace("\\&", "").replace("\\(dq", chr(34))
                yield Item(page, text.replace(" Ns ", ""))


def texts_of(path):
    """Line and message; of a name that is passed on, all that it may be."""
    with open(path, encoding="utf-8") as file:
        text = without_comments(file.read())
    for one in kept_in(text, "->wrong"):
        yield 1, plain(one)
    for line, message, names, (ahead, behind) in messages(text):
        if message.replace(ahead, "", 1).strip(HOLE + ": "):
            yield line, message
            continue
        for name in names:
            if is_told_elsewhere(name):
                continue
            kept = list(kept_in(text, name)) + list(
                returned(inside(text, name.split(" ")[0])))
            if not kept and name not in ("problem", "text"):
                kept = [f"%s ({name})"]
            for one in kept:
                yield line, ahead + plain(one) + behind


def main():
    given = sys.argv[1:]
    if given[:1] == ["--items"]:
        for page in given[1:]:
            for item in items(page):
                print(item.text)
        return
    shows = given[:1] == ["--list"]
    at = given.index("--")
    told = [item for page in given[at + 1:] for item in items(page)]
    said = set()
    for path in given[shows:at]:
        for line, message in texts_of(path):
            shown = message.replace(HOLE, "...")
            if shown in NOBODY or not any(it.isalpha() for it in message):
                continue
            fitting = [item for item in told if item.fits(message)]
            said.update(fitting)
            if shows:
                print(f"{path}:{line}: {shown}\n    " + "\n    ".join(
                    f"{item.page}: {item.text}" for item in fitting))
            elif not fitting:
                print(f"{path}:{line}: in no page: {shown}")
    for item in told:
        if item not in said:
            print(f"{item.page}: nobody says: {item.text}")


main()
