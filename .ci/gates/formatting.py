# ===- formatting.py - Gates that call LLVM's tools ------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# What they say of files that are not the repository's (system headers, generated
# files) is dropped.
#
# Tested by test/tools/lint-formatting.test.

import concurrent.futures
import json
import os
import re
import shutil
import subprocess

from gates.source import CPP, Finding

LLVM_VERSION = 22
TIDY_FOLDERS = ("dialect", "passes", "runtime", "tools")
# The build is configured for gcc, whose warning flags clang may not know.
GCC_FLAGS_ARE_FINE = "--extra-arg=-Wno-unknown-warning-option"
DIAGNOSTIC = re.compile(
    r"(?P<path>[^:\n]+):(?P<line>\d+):\d+: (?:error|warning): (?P<message>.*)"
)
ERROR = re.compile(r"error: (?P<message>.*)")


def check_format(repository):
    """clang-format changes nothing."""
    tool = _find(f"clang-format-{LLVM_VERSION}")
    if tool is None:
        yield _absent(f"clang-format-{LLVM_VERSION}", "tools/build")
        return
    paths = repository.with_suffix(*CPP)
    if not paths:
        return
    finished = _run(repository, [tool, "--dry-run", *paths])
    reported = set()
    for match in DIAGNOSTIC.finditer(finished.stdout):
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
        yield _absent(
            f"clang-tidy-{LLVM_VERSION}", "tools/build --lint-tools as root"
        )
        return
    database = os.path.join(repository.build_dir, "compile_commands.json")
    if not os.path.exists(database):
        yield Finding(".ci/lint", 1, f"no {database}: run tools/build")
        return
    command = [tool, "--quiet", "-p", repository.build_dir, GCC_FLAGS_ARE_FINE]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        findings = pool.map(
            lambda path: _tidy(repository, command, path),
            _to_tidy(repository, database),
        )
        # A header is seen from every file that includes it.
        unique = {finding for each in findings for finding in each}
    yield from sorted(unique, key=lambda f: (f.path, f.line, f.message))


def _to_tidy(repository, database):
    """Our files that this build compiles: a smaller build has fewer."""
    with open(database) as file:
        compiled = {
            os.path.realpath(os.path.join(entry["directory"], entry["file"]))
            for entry in json.load(file)
        }
    # What is found in a header may show in one file of its includers only.
    asks_headers = any(path.endswith(".h") for path in repository.asked)
    asks_all = asks_headers or not repository.asked
    return [
        path
        for path in repository.with_suffix(".cpp", under=TIDY_FOLDERS)
        if os.path.realpath(repository.absolute(path)) in compiled
        and (asks_all or path in repository.asked)
    ]


def _tidy(repository, command, path):
    """What clang-tidy says of `path` and of our headers that it includes."""
    finished = _run(repository, [*command, path])
    found = [
        Finding(
            _relative(repository, match["path"]),
            int(match["line"]),
            match["message"],
        )
        for match in DIAGNOSTIC.finditer(finished.stdout)
    ]
    ours = [each for each in found if each.path in repository.paths]
    if finished.returncode and not ours:
        error = ERROR.search(finished.stdout)
        reason = error["message"] if error else f"exit {finished.returncode}"
        return [Finding(path, 1, f"clang-tidy-{LLVM_VERSION} failed: {reason}")]
    return ours


def _relative(repository, path):
    absolute = os.path.realpath(os.path.join(repository.root, path))
    return os.path.relpath(absolute, os.path.realpath(repository.root))


def _find(name):
    return shutil.which(name)


def _absent(name, remedy):
    return Finding(".ci/lint", 1, f"{name} is not installed: run {remedy}")


def _run(repository, command):
    return subprocess.run(
        command,
        cwd=repository.root,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
