# ===- generated.py - Gates that compare files with what makes them --------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Without the tool that makes it, nothing is found: a smaller build has none.
# Tested by test/tools/lint-gates.test.

import json
import os
import subprocess

from gates.source import Finding

# Exit code of tools/reference-docs where MLIR is not installed.
NO_TABLEGEN = 2


def check_reference_pages(repository):
    """docs/reference holds the pages that TableGen makes now."""
    script = "tools/reference-docs"
    if script not in repository.paths:
        return
    finished = subprocess.run(
        [repository.absolute(script), "--check"],
        capture_output=True,
        text=True,
    )
    if finished.returncode == NO_TABLEGEN:
        return
    for line in (finished.stdout + finished.stderr).splitlines():
        yield Finding("docs/reference", 1, line)


def check_schemas(repository):
    """The table of operator schemas is the one that the pinned torch gives."""
    script = "tools/generate-schemas"
    settings = os.path.join(repository.build_dir, "test", "settings.json")
    if script not in repository.paths or not os.path.exists(settings):
        return
    with open(settings) as file:
        built = json.load(file)
    if built["torch"] != "ON":
        return
    finished = subprocess.run(
        [built["python"], repository.absolute(script), "--check"],
        capture_output=True,
        text=True,
    )
    if finished.returncode:
        last = (finished.stderr or finished.stdout).strip().splitlines()[-1:]
        yield Finding(script, 1, f"stale table: {''.join(last)}")
