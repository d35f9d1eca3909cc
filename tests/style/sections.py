#   sections.py - the sections of a page, and what cites them
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0
"""Usage: sections.py numbers|dead|uncited PAGE FILE...

Prints complaints as "file:line: what".

    numbers   of the page: each chapter and section has one, no two the same
    dead      files that cite a section, rule or title that the page lacks
    uncited   sections of the chapter of rules that no FILE cites; of the one
              that the simulator judges by, each item

A section is cited by its number in one of these forms, the first in code:

    protocol 9.10             a section
    protocol 9.5.2            an item of its numbered list
    protocol 9.10: Quiet      a paragraph of it that has a title
    protocol 9.3, 9.13        several
    lockkeeper-protocol(7), 9.10
    .Xr lockkeeper-protocol 7 , 9.10 Granting
    .Sx 9.10 Granting         in a page, of that page
    page: 9.10                in tests/conformance

In the longer forms words may take the place of the number.
"""

import re
import sys

RULES = "9"         # the chapter
JUDGED = "9.16"     # the section
UNNUMBERED = ("NAME", "DESCRIPTION", "FILES", "SEE ALSO")
NUMBER = r"\d+(?:\.\d+){0,2}"
LIST = rf"({NUMBER}(?:(?:, | and ){NUMBER})*)"
TITLE = r"(?:: ([A-Z][a-z]+(?: [a-z]+)*))?"
CITED = re.compile(rf"\b[Pp]rotocol(?:\(7\),| 7 ,)? {LIST}{TITLE}")
NAMED = re.compile(r"lockkeeper-protocol(?:\(7\),| 7 ,)"
                   rf" (?:{NUMBER} )?([A-Z][A-Za-z]*(?![A-Za-z_])(?:,? [A-Za-z]+)*)")
CASE = re.compile(rf"^\s*page: ({NUMBER})")


class Page:
    """The sections of a page in mdoc, by their numbers."""

    def __init__(self, path):
        self.path = path
        self.title = {}
        self.items = {}         # of a section: how many its list has
        self.paragraphs = {}    # of a section: their titles
        self.complaints = []
        self.read()

    def complain(self, line, what):
        self.complaints.append(f"{self.path}:{line}: {what}")

    def take_heading(self, line, kind, text):
        """The number of that section; None if it needs none."""
        found = re.match(r"(\d+(?:\.\d+)?) (.*)", text)
        if not found:
            if kind == "s" or text not in UNNUMBERED:
                self.complain(line, f"'{text}' has no number")
            return None
        number, title = found.groups()
        if number in self.title:
            self.complain(line, f"{number} is '{self.title[number]}'")
        if kind == "s" and number.split(".")[0] != self.chapter:
            self.complain(line, f"{number} stands in chapter {self.chapter}")
        if (kind == "s") != ("." in number):
            self.complain(line, f"{number} is no number for it")
        self.title[number] = title
        self.items[number] = 0
        self.paragraphs[number] = set()
        return number

    def read(self):
        """Lists in lists have bullets or tags: their items do not count."""
        self.chapter = number = None
        lists = []
        with open(self.path, encoding="utf-8") as f:
            for at, line in enumerate(f, 1):
                line = line.rstrip()
                heading = re.match(r"\.S([hs]) (.*)", line)
                if heading:
                    number = self.take_heading(at, *heading.groups())
                    if heading.group(1) == "h":
                        self.chapter = number
                elif line.startswith(".Bl"):
                    lists.append("-enum" in line)
                elif line.startswith(".El") and lists:
                    lists.pop()
                elif line == ".It" and lists == [True] and number:
                    self.items[number] += 1
                elif line.startswith(".Em ") and number:
                    self.paragraphs[number].add(
                        line[4:].replace("\\&", "").strip(" ."))

    def lacks(self, number):
        """Whether there is no such section, or item of one."""
        if number in self.title:
            return False
        section, _, item = number.rpartition(".")
        return not (number.count(".") == 2 and section in self.title
                    and 1 <= int(item) <= self.items[section])

    def has_title(self, words):
        """Whether it begins with that of a section; case counts."""
        return any(words.startswith(title) for title in self.title.values())


def joined(path):
    """The text in one line, and of each place in it the line it comes from."""
    text, lines = "", []
    with open(path, encoding="utf-8") as f:
        for at, line in enumerate(f, 1):
            line = re.sub(r"^\s*(/?\*|#)? *(\"\")?", "", line.strip()) + " "
            text += line
            lines += [at] * len(line)
    return text, lines


def dead_in(page, path):
    """What of its citations has no section."""
    text, lines = joined(path)
    for found in CITED.finditer(text):
        where = f"{path}:{lines[found.start()]}"
        cited = re.findall(NUMBER, found.group(1))
        for number in filter(page.lacks, cited):
            yield f"{where}: there is no {number} in {page.path}"
        title = found.group(2)
        if title and title not in page.paragraphs.get(cited[-1], ()):
            yield f"{where}: {cited[-1]} has no paragraph '{title}'"
    for found in NAMED.finditer(text):
        if not page.has_title(found.group(1)):
            yield (f"{path}:{lines[found.start()]}: no section is called "
                   f"'{found.group(1)}'")


def dead_in_list(page, path):
    """The same of a page's own sections, and of a list of cases."""
    own = Page(path) if path.endswith((".1", ".3", ".5", ".7", ".8")) else None
    with open(path, encoding="utf-8") as f:
        lines = f.read().splitlines()
    headings = {line[4:] for line in lines if re.match(r"\.S[hs] ", line)}
    for at, line in enumerate(lines, 1):
        case = CASE.match(line)
        if path.endswith(".case") and case and page.lacks(case.group(1)):
            yield f"{path}:{at}: there is no {case.group(1)}"
        inner = re.match(r"\.(?:[A-Z][a-z] )*Sx (.*)", line)
        if own and inner and re.sub(
                r" [.,;:]$", "", inner.group(1)) not in headings:
            yield f"{path}:{at}: this page has no section '{inner.group(1)}'"


def cited_by(path):
    """What it cites; with an item its section."""
    for found in CITED.finditer(joined(path)[0]):
        for number in re.findall(NUMBER, found.group(1)):
            yield number
            yield ".".join(number.split(".")[:2])


def rules(page):
    """The number and title of each."""
    for number, title in page.title.items():
        if number == JUDGED:
            for item in range(page.items[number]):
                yield f"{number}.{item + 1}", title
        elif number.startswith(RULES + "."):
            yield number, title


def main(what, path, *files):
    page = Page(path)
    if what == "numbers":
        complaints = page.complaints
    elif what == "dead":
        complaints = [line for file in files for line in
                      (*dead_in(page, file), *dead_in_list(page, file))]
    else:
        cited = {number for file in files for number in cited_by(file)}
        complaints = [f"{path}: no code cites {number} {title}"
                      for number, title in rules(page)
                      if number not in cited]
    print("\n".join(complaints), end="\n" if complaints else "")


main(*sys.argv[1:])
