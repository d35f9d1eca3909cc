#   errors.py - what the programs say when something fails, and in which page
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0
"""Prints a complaint for each message that no page has.

The messages are the texts that are given to the functions which print
errors (PRINTERS) or keep them for somebody who does.  What stands for a
name, a number or a reason is a hole.  A message is told of in a page if it
begins with an item below "Errors" in DIAGNOSTICS of a page: there "..."
stands for a hole, or, as the last thing of an item, for anything.

    errors.py [--list] FILES.c... -- PAGES...
"""

import re
import sys

HOLE = "\x01"

#   Which argument is the text, and what is put ahead of it and behind.
PRINTERS = {
    "lk_cli_fail": (1, "", ""),
    "lk_cli_misused": (1, "", ""),
    "lk_problem_set": (2, "", ""),
    "lk_problem_errno": (1, "", ": " + HOLE),
    "lk_log_error": (0, "", ""),
    "lk_log_warning": (0, "", ""),
    "lk_config_complain": (2, "", ""),
    "lk_config_keep_mistake": (3, "", ""),
    "lk_config_refuse": (3, f"'{HOLE}' is no value for '{HOLE}': ", ""),
    "complain": (-1, "", ""),
}
CALL = re.compile(r"(?<![\w>])(%s) \(" % "|".join(PRINTERS))
STRING = re.compile(r'"((?:[^"\\]|\\.)*)"')
CONVERSION = re.compile(r"%[-0-9.*]*(?:hh?|ll?|z|j)?[a-zA-Z]|%%")


def without_comments(text):
    def blank(found):
        if found[0][0] == '"':
            return found[0]
        return re.sub(r"[^\n]", " ", found[0])

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


def messages(path):
    with open(path, encoding="utf-8") as file:
        text = without_comments(file.read())
    for call in CALL.finditer(text):
        place, ahead, behind = PRINTERS[call[1]]
        found = arguments(text, call.end())
        line = text.count("\n", 0, call.start()) + 1
        if call[1] == "complain":
            given = [one for one in found if '"' in one][:1]
        else:
            given = found[place:place + 1]
        for one in given:
            if '"' not in one:
                yield line, HOLE, one.strip()
                continue
            for choice in choices(one):
                choice = CONVERSION.sub(
                    lambda it: "%" if it[0] == "%%" else HOLE, choice)
                choice = choice.replace("\\n", "\n").replace('\\"', '"')
                yield line, ahead + choice + behind, one.strip()


def main():
    for path in sys.argv[1:]:
        for line, text, source in messages(path):
            print(f"{path}:{line}: {text.replace(HOLE, '...')}")


main()
