# ===- text.py - Gates that look at one file's text ------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Tested by test/tools/lint-gates.test.

import glob
import os
import re

from gates.source import CPP, Finding

MAXIMUM_LINES = 600
LICENCE = "SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception"
LIBRARIES = ("dialect", "passes", "runtime")

# The folder of some machine has no place in a file that others read.
MACHINE_PATH = re.compile(r"(?<![\w.])/(?:home|root|work|Users)/\w")
OPEN_WORK = re.compile(r"\b(?:TODO|FIXME|XXX|HACK)\b(?!\(#\d+\))")
OUTPUT = re.compile(
    r"std::(?:cout|cerr|clog)\b|llvm::(?:outs|errs|dbgs)\(\)"
    r"|(?<![\w:])(?:std::)?(?:f?printf|puts|perror)\("
)
GLOBAL_OPTION = re.compile(r"\bcl::(?:opt|list|bits)\b")
HEAD = re.compile(r"===-+ (?P<name>[\w.-]+) - \S")
TESTED_BY = re.compile(r"Tested\s+(?:\W\s*)?by\b")
SEE_HEADER = re.compile(r"See \w+\.h\b")  # which says what tests it
TEST_PATH = re.compile(r"\btest/[\w./*-]*\w")


def check_size(repository):
    """A file has at most 600 lines."""
    for path in repository.sources:
        count = repository.text(path).count("\n")
        if count > MAXIMUM_LINES:
            yield Finding(
                path,
                MAXIMUM_LINES,
                f"file has {count} lines, expected at most {MAXIMUM_LINES}: "
                "split it by question",
            )


def check_licence(repository):
    """A source file names its licence in its first lines."""
    for path in repository.sources:
        if LICENCE not in repository.text(path)[:600]:
            yield Finding(path, 1, f"no line '{LICENCE}'")


def check_head(repository):
    """A program file says its name, what it is, and what tests it.

    The named tests exist. Tests themselves and CMake files need no *Tested
    by*; a head that is there must have the file's name.
    """
    for path in repository.sources:
        text = repository.text(path)
        head = _head_of(text)
        found = HEAD.search(head)
        if found and found["name"] != os.path.basename(path):
            yield Finding(
                path, 1, f"head names '{found['name']}', expected this file"
            )
        if (
            found
            and path.endswith(CPP)
            and "-===//" not in head.split("\n")[0]
        ):
            yield Finding(path, 1, "head does not fit one line of 80 columns")
        if path.startswith("test/") or path.endswith((".cmake", ".txt")):
            continue
        if not found:
            yield Finding(path, 1, "no head '===- NAME - what it is -==='")
        elif not TESTED_BY.search(head) and not SEE_HEADER.search(head):
            yield Finding(path, 1, "head has no line 'Tested by test/…'")
        yield from _missing_tests(repository, path, head)


def _head_of(text):
    """The comment block at the start of a file."""
    lines = []
    for line in text.splitlines():
        if line.strip() and not line.startswith(("//", "#")):
            break
        lines.append(line)
    return "\n".join(lines)


def _missing_tests(repository, path, head):
    start = TESTED_BY.search(head)
    for name in TEST_PATH.findall(head[start.end() :] if start else ""):
        if not glob.glob(repository.absolute(name)):
            yield Finding(
                path, 1, f"head names '{name}', which does not exist"
            )


def check_words(repository):
    """No path of somebody's machine."""
    paths = [p for p in repository.paths if not p.endswith(".pt2")]
    return repository.matches(
        paths,
        MACHINE_PATH,
        "path of one machine: name it relative to the root",
    )


def check_open_work(repository):
    """Open work has an issue: TODO(#n)."""
    paths = [p for p in repository.sources if not p.startswith(".ci/gates/")]
    return repository.matches(paths, OPEN_WORK, "open work without an issue")


def check_output(repository):
    """Libraries return errors and text; only mains print."""
    paths = repository.with_suffix(".cpp", ".h", under=LIBRARIES)
    return repository.matches(paths, OUTPUT, "a library does not print")


def check_options(repository):
    """Passes have options of their own, never global ones."""
    paths = repository.with_suffix(".cpp", ".h", under=LIBRARIES)
    return repository.matches(
        paths, GLOBAL_OPTION, "global option: declare it in Passes.td"
    )
