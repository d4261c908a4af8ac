# ===- formatting.py - Gates that call LLVM's tools ------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Tested by test/tools/lint-gates.test.

import concurrent.futures
import os
import re
import shutil
import subprocess

from gates.source import CPP, Finding

LLVM_VERSION = 22
DIAGNOSTIC = re.compile(
    r"(?P<path>[^:\n]+):(?P<line>\d+):\d+: (?:error|warning): (?P<message>.*)"
)


def check_format(repository):
    """clang-format changes nothing."""
    tool = _find(f"clang-format-{LLVM_VERSION}")
    if tool is None:
        yield _absent(f"clang-format-{LLVM_VERSION}")
        return
    paths = repository.with_suffix(*CPP)
    if not paths:
        return
    output = _run(repository, [tool, "--dry-run", *paths])
    reported = set()
    for match in DIAGNOSTIC.finditer(output):
        if match["path"] not in reported:
            reported.add(match["path"])
            yield Finding(
                match["path"],
                int(match["line"]),
                f"clang-format-{LLVM_VERSION} -i changes this file",
            )


def check_tidy(repository):
    """clang-tidy finds nothing (`.clang-tidy` says what it looks for)."""
    tool = _find(f"clang-tidy-{LLVM_VERSION}")
    if tool is None:
        yield _absent(f"clang-tidy-{LLVM_VERSION}")
        return
    folders = ("dialect", "passes", "runtime", "tools")
    paths = repository.with_suffix(".cpp", under=folders)
    command = [tool, "--quiet", "-p", repository.build_dir]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        outputs = pool.map(lambda p: _run(repository, [*command, p]), paths)
        findings = {
            Finding(
                os.path.relpath(match["path"], repository.root),
                int(match["line"]),
                match["message"],
            )
            for output in outputs
            for match in DIAGNOSTIC.finditer(output)
        }
    yield from sorted(findings, key=lambda f: (f.path, f.line, f.message))


def _find(name):
    return shutil.which(name)


def _absent(name):
    return Finding(".ci/lint", 1, f"{name} is not installed: run tools/build")


def _run(repository, command):
    finished = subprocess.run(
        command,
        cwd=repository.root,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    return finished.stdout
