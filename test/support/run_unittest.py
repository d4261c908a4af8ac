# ===- run_unittest.py - Runs unittest modules and writes a report ---------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# `run_unittest.py FOLDER REPORT.json`: what `python -m unittest discover` does,
# with the counts as JSON for tools/test.
# Tested by test/tools/test-counts.test.

import json
import os
import sys
import unittest


class CountingResult(unittest.TextTestResult):
    """Text output as usual, and the number of tests that passed."""

    passed = 0

    def addSuccess(self, test):
        super().addSuccess(test)
        self.passed += 1


def main(folder, report):
    root = os.path.dirname(os.path.dirname(os.path.dirname(__file__)))
    sys.path.insert(0, os.path.join(os.path.abspath(root), "tools", "capture"))
    tests = unittest.defaultTestLoader.discover(folder)
    runner = unittest.TextTestRunner(resultclass=CountingResult)
    result = runner.run(tests)
    failures = [str(test) for test, _ in result.failures + result.errors]
    failures += [
        f"{test} (unexpected success)" for test in result.unexpectedSuccesses
    ]
    counts = {
        "passed": result.passed + len(result.expectedFailures),
        "skipped": len(result.skipped),
        "failures": failures,
    }
    with open(report, "w") as file:
        json.dump(counts, file)
    return 0 if result.wasSuccessful() else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
