# ===- run_page.py - Does what a page tells its reader to do ---------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# `run_page.py PAGE.md FOLDER` follows the fenced blocks of a page in FOLDER:
#
#   ```python NAME   is written to the file NAME
#   ```sh            is run by bash and must succeed
#   ```mlir NAME     must be in the file NAME: each line is part of one of its
#                    lines, in this order; `…` stands for any text, names of
#                    values do not matter
#
# Blocks of other kinds are for the reader alone.
# Tested by test/e2e/first-training.test.

import os
import re
import subprocess
import sys

BLOCK = re.compile(
    r"^```(?P<kind>\w+)(?: (?P<name>\S+))?\n(?P<text>.*?)^```$", re.M | re.S
)
VALUE = re.compile(r"%[\w:#]+")
ELLIPSIS = "…"


def follow(page, folder):
    with open(page) as file:
        text = file.read()
    for block in BLOCK.finditer(text):
        line = text.count("\n", 0, block.start()) + 1
        step = STEPS.get((block["kind"], block["name"] is not None))
        reason = step(block, folder) if step else ""
        if reason:
            sys.exit(f"{page}:{line}: {reason}")


def write_file(block, folder):
    with open(os.path.join(folder, block["name"]), "w") as file:
        file.write(block["text"])
    return ""


def run_commands(block, folder):
    print(block["text"], end="", flush=True)
    finished = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", block["text"]],
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stderr=subprocess.STDOUT,
    )
    if finished.returncode == 0:
        return ""
    return f"a command failed with exit code {finished.returncode}"


def compare(block, folder):
    """Looks for the lines of an excerpt, each after the one before."""
    with open(os.path.join(folder, block["name"])) as file:
        remaining = iter([normal(line) for line in file])
    for line in block["text"].splitlines():
        parts = [normal(part) for part in line.split(ELLIPSIS) if part.strip()]
        if parts and not any(has(candidate, parts) for candidate in remaining):
            return f"not in {block['name']}, or not there: {line.strip()}"
    return ""


def normal(text):
    return VALUE.sub("%", " ".join(text.split()))


def has(line, parts):
    """Whether `line` holds the parts, in this order."""
    position = 0
    for part in parts:
        position = line.find(part, position)
        if position < 0:
            return False
        position += len(part)
    return True


STEPS = {
    ("python", True): write_file,
    ("sh", False): run_commands,
    ("mlir", True): compare,
}


def main(page, folder):
    os.makedirs(folder, exist_ok=True)
    python = os.path.dirname(sys.executable)
    os.environ["PATH"] = f"{python}{os.pathsep}{os.environ['PATH']}"
    follow(page, folder)


if __name__ == "__main__":
    main(*sys.argv[1:])
