# ===- source.py - The files of the repository -----------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# What gates look at: paths relative to the root, with their text. Files that
# git ignores are not part of the repository; new ones are.
# Tested by test/tools/lint-gates.test.

import functools
import os
import subprocess
from dataclasses import dataclass

CPP = (".cpp", ".h")
SOURCES = (*CPP, ".td", ".py", ".sh", ".cmake")


@dataclass(frozen=True)
class Finding:
    """One broken rule at one place."""

    path: str
    line: int
    message: str


class Repository:
    """Files of the tree at `root`, and the folder it was built in.

    `asked` names the files whose findings are wanted; empty for all. A gate
    that is slow can leave out the others.
    """

    def __init__(self, root, build_dir, asked=frozenset()):
        self.root = root
        self.build_dir = build_dir
        self.asked = asked

    @functools.cached_property
    def paths(self):
        listing = subprocess.run(
            ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
            cwd=self.root,
            check=True,
            capture_output=True,
            text=True,
        ).stdout.splitlines()
        existing = (p for p in listing if os.path.isfile(self.absolute(p)))
        return sorted(set(existing))

    def absolute(self, path):
        return os.path.join(self.root, path)

    def with_suffix(self, *suffixes, under=()):
        """Paths with one of the suffixes, below one of the folders."""
        folders = tuple(f"{folder}/" for folder in under)
        return [
            path
            for path in self.paths
            if path.endswith(suffixes) and path.startswith(folders or "")
        ]

    @functools.cached_property
    def sources(self):
        """Hand-written program text: by suffix, by name, or by `#!`."""
        return [path for path in self.paths if self._is_source(path)]

    def _is_source(self, path):
        if "/Inputs/" in path:
            return False
        if path.endswith(SOURCES) or path.endswith("CMakeLists.txt"):
            return True
        has_suffix = "." in os.path.basename(path)
        return not has_suffix and self.text(path).startswith("#!")

    @functools.cache
    def text(self, path):
        with open(self.absolute(path), errors="replace") as file:
            return file.read()

    def lines(self, path):
        """(number, text) of every line, from 1."""
        return enumerate(self.text(path).splitlines(), 1)

    def matches(self, paths, pattern, message):
        """A finding for each line of `paths` that the regex `pattern` fits."""
        for path in paths:
            for number, line in self.lines(path):
                if pattern.search(line):
                    yield Finding(path, number, message)
