# ===- command_line_page.py - The page names every option ------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# `command_line_page.py PAGE < OPTIONS`: prints the options that the first
# column of the page's tables lacks, and those that it has and the list does
# not. OPTIONS is any text; an option in it is a word `--name`, or the name at
# the start of a row `{"name", ` of the pipeline's table.
# Tested by test/tools/command-line-page.test.

import re
import sys

LISTED = re.compile(r'^\s+(?:\{"(?P<row>[a-z-]+)", |(?P<flag>-n|--[a-z-]+)\b)')
FIRST_COLUMN = re.compile(r"^\|(?P<cell>[^|]*)\|")
NAME = re.compile(r"`(?P<name>(?:--?)?[a-z]+(?:-[a-z]+)*)(?: \w+)?`")


def options_of(lines):
    return {
        match["row"] or match["flag"]
        for line in lines
        if (match := LISTED.match(line))
    }


def options_in(page):
    with open(page) as file:
        cells = [m["cell"] for line in file if (m := FIRST_COLUMN.match(line))]
    return {m["name"] for cell in cells for m in NAME.finditer(cell)}


def main(page):
    wanted = options_of(sys.stdin)
    named = options_in(page)
    # A list of flags says nothing of rows, and the reverse.
    dashed = any(name.startswith("-") for name in wanted)
    named = {name for name in named if name.startswith("-") == dashed}
    lacking = sorted(wanted - named - {"--help"})
    extra = sorted(named - wanted)
    print("lacking:", *lacking)
    print("unknown:", *extra)


if __name__ == "__main__":
    main(sys.argv[1])
