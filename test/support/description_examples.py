# ===- description_examples.py - Parses the examples of descriptions -------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# `description_examples.py OPT FILE.td...`: hands every ```mlir block of the
# TableGen files to simplefsdp-opt, which parses and verifies it, and looks for
# operations, attributes and types that no example shows. What a block leaves
# open is put around it: operations become the body of a function whose
# arguments are the values that they use, attributes and types become those of
# a declaration.
# Tested by test/dialect/description-examples.test.

import re
import subprocess
import sys
import textwrap
from dataclasses import dataclass

BLOCK = re.compile(r"^ *```mlir\n(?P<text>.*?)^ *```$", re.M | re.S)
MNEMONIC = re.compile(
    r'^def \w+Op\b[^{;]*?<\s*"(?P<op>\w+)"'
    r'|^def \w+ : Sfsdp_(?:Attr|Type)<"\w+", "(?P<other>\w+)"',
    re.M,
)
VALUE = re.compile(r"%\w+")
RESULTS = re.compile(r"(?P<names>%\w+(?:, %\w+)*) =")

# Values that are host scalars in operations whose format has one type.
HOST_SCALARS = {"%d", "%s", "%c", "%n"}
# Operations whose operands must come from another one, by its example.
STANDS_AFTER = {"attention_backward": "attention"}
# A `*_start` form has the description of its synchronous form.
START = "_start"


@dataclass(frozen=True)
class Example:
    """A block, and the place of its first line."""

    path: str
    line: int
    text: str

    def shows(self, mnemonic):
        return re.search(rf"\bsfsdp\.{mnemonic}\b", self.text) is not None


def read_examples(path, source):
    for match in BLOCK.finditer(source):
        line = source.count("\n", 0, match.start("text")) + 1
        yield Example(path, line, textwrap.dedent(match["text"]))


def statements(text):
    """A block's statements: a line with the indented ones that follow it."""
    return re.split(r"\n(?=\S)", text.strip())


def wrap(text):
    """The module that gives a block what it leaves open."""
    if text.startswith("module"):
        return text
    if text.startswith("%"):
        return in_function(text)
    lines = [as_declaration(s, i) for i, s in enumerate(statements(text))]
    return "\n".join(lines)


def as_declaration(statement, index):
    function = f"func.func private @f{index}"
    if statement.startswith("#"):
        return f"{function}() attributes {{value = {statement}}}"
    return f"{function}({statement})"


def in_function(text):
    arguments = ", ".join(f"{n}: {t}" for n, t in free_values(text).items())
    return (
        'module attributes {sfsdp.mesh = #sfsdp.mesh<"dp" = 2>} {\n'
        f"func.func @example({arguments}) {{\n{text}return\n}}\n}}\n"
    )


def free_values(text):
    """{name: type} of the values that a block uses and does not define."""
    free, defined = {}, set()
    for statement in statements(text):
        results = RESULTS.match(statement)
        body, _, types = statement[results.end() :].rpartition(" : ")
        used = list(dict.fromkeys(VALUE.findall(body)))
        for name, type_ in zip(used, operand_types(used, types)):
            if name not in defined:
                free.setdefault(name, type_)
        defined.update(VALUE.findall(results["names"]))
    return free


def operand_types(names, types):
    """The operands' types, from `(A, B) -> C` or the one type of all."""
    operands, arrow, _ = types.partition("->")
    if arrow:
        return re.findall(r"[!\w.]+<[^>]*>", operands)
    return [
        "!sfsdp.scalar" if name in HOST_SCALARS else types.strip()
        for name in names
    ]


def check(opt, example, examples):
    """Why an example is wrong; empty if it is not."""
    text = example.text
    for mnemonic, other in STANDS_AFTER.items():
        if example.shows(mnemonic):
            text = next(e.text for e in examples if e.shows(other)) + text
    module = wrap(text)
    finished = subprocess.run(
        [opt, "-", "-o", "/dev/null"],
        input=module,
        capture_output=True,
        text=True,
    )
    return "" if finished.returncode == 0 else finished.stderr + module


def without_example(path, source, examples):
    for match in MNEMONIC.finditer(source):
        mnemonic = match["op"] or match["other"]
        if not mnemonic.endswith(START) and not any(
            e.shows(mnemonic) for e in examples
        ):
            line = source.count("\n", 0, match.start()) + 1
            yield f"{path}:{line}: no example shows sfsdp.{mnemonic}"


def main(opt, *paths):
    examples, errors = [], []
    for path in paths:
        with open(path) as file:
            source = file.read()
        examples += read_examples(path, source)
        errors += without_example(path, source, examples)
    for example in examples:
        reason = check(opt, example, examples)
        if reason:
            errors.append(f"{example.path}:{example.line}: {reason}")
    for error in errors:
        print(error)
    print(f"{len(examples)} examples, {len(errors)} errors")
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
