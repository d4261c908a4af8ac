# ===- generated.py - Gates that compare files with what makes them --------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Both need a build; without one they find nothing.
# Tested by test/tools/lint-gates.test.

import json
import os
import subprocess

from gates.source import Finding


def check_reference_pages(repository):
    """docs/reference holds the pages that TableGen makes now."""
    ninja_file = os.path.join(repository.build_dir, "build.ninja")
    if not os.path.exists(ninja_file):
        return
    with open(ninja_file) as file:
        if "mlir-doc" not in file.read():
            return
    subprocess.run(
        ["ninja", "-C", repository.build_dir, "mlir-doc"],
        check=True,
        stdout=subprocess.DEVNULL,
    )
    made = os.path.join(repository.build_dir, "docs", "reference")
    if not os.path.isdir(made):
        return
    for name in sorted(os.listdir(made)):
        page = f"docs/reference/{name}"
        with open(os.path.join(made, name)) as file:
            expected = file.read()
        if page not in repository.paths:
            yield Finding(
                page, 1, f"missing: copy {_from(repository, made, name)}"
            )
        elif repository.text(page) != expected:
            yield Finding(
                page, 1, f"stale: copy {_from(repository, made, name)}"
            )


def _from(repository, folder, name):
    return os.path.relpath(os.path.join(folder, name), repository.root)


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
