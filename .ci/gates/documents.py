# ===- documents.py - Gates on the pages -----------------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# A page that names a file which has moved is worse than none.
# Tested by test/tools/lint-gates.test.

import glob
import os
import re

from gates.source import Finding

LINK = re.compile(r"\]\((?P<target>[^)#\s]+)(?:#[^)]*)?\)")
QUOTED_PATH = re.compile(
    r"`(?P<path>(?:\.ci|dialect|docs|passes|runtime|test|tools)/[\w./*{},-]+)`"
)
# Descriptions of passes name their example without quotes.
EXAMPLE = re.compile(r"^\*\*Example\*\* (?P<path>\S+)")
BRACES = re.compile(r"\{(?P<choices>[^{}]*)\}")


def check_pages(repository):
    """Links lead to files, and quoted paths of the repository exist."""
    for page in repository.with_suffix(".md"):
        folder = os.path.dirname(page)
        for number, line in repository.lines(page):
            links = [
                os.path.normpath(os.path.join(folder, match["target"]))
                for match in LINK.finditer(line)
                if "://" not in match["target"]
            ]
            quoted = [
                path
                for pattern in (QUOTED_PATH, EXAMPLE)
                for match in pattern.finditer(line)
                for path in _expand(match["path"])
            ]
            for path in links + quoted:
                if not glob.glob(repository.absolute(path)):
                    yield Finding(page, number, f"'{path}' does not exist")


def _expand(path):
    """The paths that `a/{b,c}.h` stands for."""
    braces = BRACES.search(path)
    if braces is None:
        return [path]
    head, tail = path[: braces.start()], path[braces.end() :]
    return [
        expanded
        for choice in braces["choices"].split(",")
        for expanded in _expand(head + choice + tail)
    ]
