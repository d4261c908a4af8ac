# ===- structure.py - Gates that look across files -------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Tested by test/tools/lint-gates.test.

import re

from gates.source import CPP, Finding

TOP_LEVEL = re.compile(
    r"(?:CMakeLists\.txt|README\.md|\.[^/]+"
    r"|(?:\.[^/]+|dialect|passes|runtime|tools|test|docs)/.*)"
)
INCLUDE = re.compile(r'^\s*#\s*include\s+[<"](?P<path>[^>"]+)[>"]')
LABEL = re.compile(r"(?<![A-Za-z0-9])(?P<label>[a-z]+(?:_[a-z]+)*_c\d+)(?!\d)")
# `gather_c1` … `gather_c6` stands for all six.
RANGE = re.compile(r"`(?P<op>\w+)_c(?P<first>\d+)` … `(?P=op)_c(?P<last>\d+)`")
DEFINITION = re.compile(r"^def (?P<name>\w+)\s*:\s*(?P<base>\w+)<")

COMPILER_READS = ("Archive.h", "Digest.h", "Json.h", "Plan.h", "Status.h")
ANALYSIS_READS = ("Json.h", "Plan.h", "Status.h")
MLIR = ("mlir/", "llvm/")
TORCH = ("torch/", "ATen/", "c10/")


def check_top_level(repository):
    """The folders of docs/architecture.md and no others."""
    for path in repository.paths:
        if not TOP_LEVEL.fullmatch(path):
            yield Finding(path, 1, "not one of the project's folders")


def check_includes(repository):
    """No folder includes what stands above it."""
    for path in repository.with_suffix(*CPP):
        forbidden = _forbidden(repository, path)
        if forbidden is None:
            continue
        for number, line in repository.lines(path):
            include = INCLUDE.match(line)
            if include and forbidden(include["path"]):
                yield Finding(
                    path, number, f"'{include['path']}' is not for this folder"
                )


def _forbidden(repository, path):
    """A predicate on includes of the file at `path`; None allows all."""
    if path.startswith("dialect/"):
        return lambda name: _is_ours(name, "dialect/") or _is(name, TORCH)
    if path.startswith("passes/analysis/"):
        readable = _with_their_includes(repository, ANALYSIS_READS)
        return lambda name: (
            _is_ours(name, "passes/analysis/", *readable)
            or _is(name, MLIR + TORCH)
        )
    if path.startswith("passes/"):
        readable = _with_their_includes(repository, COMPILER_READS)
        return lambda name: (
            _is_ours(name, "dialect/", "passes/", *readable)
            or _is(name, TORCH)
        )
    if path.startswith("runtime/"):
        return lambda name: _is_ours(name, "runtime/") or _is(name, MLIR)
    return None


def _is(name, prefixes):
    return name.startswith(prefixes)


def _is_ours(name, *allowed):
    """Whether an include is of this project and not among `allowed`."""
    folders = ("dialect/", "passes/", "runtime/", "tools/", "test/")
    return name.startswith(folders) and not name.startswith(allowed)


def _with_their_includes(repository, names):
    """The headers of runtime/ and what they are made of."""
    readable = {f"runtime/{name}" for name in names}
    for header in sorted(readable):
        if header not in repository.paths:
            continue
        for _, line in repository.lines(header):
            include = INCLUDE.match(line)
            if include and include["path"].startswith("runtime/"):
                readable.add(include["path"])
    return tuple(readable)


def check_labels(repository):
    """A constraint label stands in ODS, in C++ and in a test."""
    places = {
        "ODS": repository.with_suffix(".td", under=("dialect",)),
        "C++": repository.with_suffix(".cpp", ".h", under=("dialect",)),
        "a test": repository.with_suffix(".mlir", under=("test/dialect",)),
    }
    where = {
        kind: _labels(repository, paths) for kind, paths in places.items()
    }
    every = {}
    for labels in where.values():
        every = {**labels, **every}
    for label, (path, number) in sorted(every.items()):
        missing = [
            kind for kind, labels in where.items() if label not in labels
        ]
        if missing:
            yield Finding(
                path,
                number,
                f"'{label}' is missing in {' and '.join(missing)}",
            )


def _labels(repository, paths):
    """{label: (path, line) of its first place}."""
    found = {}
    for path in paths:
        for number, line in repository.lines(path):
            labels = [match["label"] for match in LABEL.finditer(line)]
            for span in RANGE.finditer(line):
                numbers = range(int(span["first"]), int(span["last"]) + 1)
                labels += [f"{span['op']}_c{n}" for n in numbers]
            for label in labels:
                found.setdefault(label, (path, number))
    return found


def check_descriptions(repository):
    """A pass and an operation have a summary and a description."""
    for path in repository.with_suffix(".td", under=("dialect", "passes")):
        for name, number, body in _definitions(repository, path):
            for part in ("summary", "description"):
                if f"let {part} =" not in body:
                    yield Finding(path, number, f"{name} has no {part}")


def _definitions(repository, path):
    """(name, line, text) of each operation and pass of a TableGen file."""
    lines = repository.text(path).splitlines()
    starts = [
        (number, match)
        for number, line in enumerate(lines)
        if (match := DEFINITION.match(line))
    ]
    ends = [number for number, _ in starts[1:]] + [len(lines)]
    for (number, match), end in zip(starts, ends):
        if match["base"].endswith(("Op", "Pass")):
            yield match["name"], number + 1, "\n".join(lines[number:end])
