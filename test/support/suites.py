# ===- suites.py - Runs one kind of test and counts it ---------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Each suite runs its tests in processes of their own and reads the counts from
# the report that the test framework writes. A process that dies, hangs or
# leaves no report is one failed test more. Standard library only.
# Tested by test/tools/test-counts.test.

import json
import os
import signal
import subprocess
import sys
from dataclasses import dataclass, field

# A hang becomes a failure; the slowest suite takes minutes.
TIMEOUT_SECONDS = 1800


@dataclass
class Outcome:
    """Counts of tests, and the names of those that failed."""

    passed: int = 0
    skipped: int = 0
    failures: list = field(default_factory=list)

    @property
    def failed(self):
        return len(self.failures)

    def add(self, other):
        self.passed += other.passed
        self.skipped += other.skipped
        self.failures += other.failures

    def __str__(self):
        text = f"{self.passed} passed, {self.failed} failed"
        return text + (f", {self.skipped} skipped" if self.skipped else "")


class GoogleTests:
    """The unit test binaries that the build lists."""

    name = "unit"

    def __init__(self, build_dir):
        self.listing = os.path.join(build_dir, "test", "unit-tests.txt")

    def run(self):
        total = Outcome()
        with open(self.listing) as file:
            for binary in file.read().split():
                total.add(run_google_test(binary))
        return total


def run_google_test(binary):
    """Runs one GoogleTest binary; shows its output when a test failed."""
    name = os.path.basename(binary)
    report = binary + ".report.json"
    command = [binary, f"--gtest_output=json:{report}", "--gtest_brief=1"]
    code, output = run_captured(command, report)
    counts = read_report(report)
    outcome = count_google_tests(name, counts or {"testsuites": []})
    if not outcome.failures and (code != 0 or counts is None):
        outcome.failures.append(f"{name} ({describe_exit(code)})")
    if outcome.failures:
        print(output, flush=True)
    print(f"   {name}: {outcome}", flush=True)
    return outcome


def count_google_tests(name, report):
    outcome = Outcome()
    for suite in report["testsuites"]:
        for test in suite["testsuite"]:
            if test.get("failures"):
                outcome.failures.append(
                    f"{name}: {suite['name']}.{test['name']}"
                )
            elif test["status"] != "RUN" or test["result"] == "SKIPPED":
                outcome.skipped += 1
            else:
                outcome.passed += 1
    return outcome


class PythonTests:
    """unittest modules of test/unit/NAME, in the build's Python."""

    def __init__(self, name, root, build_dir, python):
        self.name = name
        self.folder = os.path.join(root, "test", "unit", name)
        self.runner = os.path.join(root, "test", "support", "run_unittest.py")
        self.report = os.path.join(build_dir, "test", f"{name}.report.json")
        self.python = python

    def run(self):
        if not os.path.isdir(self.folder):
            return Outcome()
        command = [self.python, self.runner, self.folder, self.report]
        code = run_shown(command, self.report)
        counts = read_report(self.report)
        if counts is None:
            return Outcome(failures=[f"{self.name} ({describe_exit(code)})"])
        return Outcome(counts["passed"], counts["skipped"], counts["failures"])


class LitTests:
    """The lit tests below test/NAME."""

    def __init__(self, name, root, build_dir, lit):
        self.name = name
        self.folder = os.path.join(root, "test", name)
        self.run_dir = os.path.join(build_dir, "test", name)
        self.report = os.path.join(build_dir, "test", f"{name}.report.json")
        self.lit = lit

    def run(self):
        if not contains_tests(self.folder):
            return Outcome()
        os.makedirs(self.run_dir, exist_ok=True)
        command = [self.lit, "-v", "-o", self.report, self.run_dir]
        code = run_shown(command, self.report)
        report = read_report(self.report)
        if report is None:
            return Outcome(failures=[f"{self.name} ({describe_exit(code)})"])
        return count_lit_tests(report)


def contains_tests(folder):
    """Whether some file below `folder` has a RUN line; lit fails on none."""
    for parent, _, names in os.walk(folder):
        for name in names:
            if not name.endswith((".mlir", ".test", ".py")):
                continue
            with open(os.path.join(parent, name), errors="replace") as file:
                if "RUN:" in file.read():
                    return True
    return False


def count_lit_tests(report):
    outcome = Outcome()
    for test in report["tests"]:
        if test["code"] in ("PASS", "XFAIL", "FLAKYPASS"):
            outcome.passed += 1
        elif test["code"] in ("UNSUPPORTED", "SKIPPED", "EXCLUDED"):
            outcome.skipped += 1
        else:
            outcome.failures.append(f"{test['name']} ({test['code']})")
    return outcome


def read_report(path):
    """The report as JSON; None when it is missing or cut off."""
    try:
        with open(path) as file:
            return json.load(file)
    except (OSError, ValueError):
        return None


def describe_exit(code):
    if code is None:
        return f"killed after {TIMEOUT_SECONDS} s"
    if code < 0:
        return f"died of {signal.Signals(-code).name}"
    return f"exit code {code}"


def run_captured(command, report):
    """Returns (exit code or None after a timeout, output)."""
    return _run(command, report, subprocess.PIPE)


def run_shown(command, report):
    """Returns the exit code, or None after a timeout; shows the output."""
    return _run(command, report, None)[0]


def _run(command, report, output):
    if os.path.exists(report):
        os.remove(report)
    process = subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=output,
        stderr=subprocess.STDOUT if output else None,
        text=True,
        errors="replace",
        start_new_session=True,
    )
    try:
        shown, _ = process.communicate(timeout=TIMEOUT_SECONDS)
        return process.returncode, shown
    except subprocess.TimeoutExpired:
        _kill_group(process)
        shown, _ = process.communicate()
        return None, shown
    except KeyboardInterrupt:
        _kill_group(process)
        sys.exit(130)


def _kill_group(process):
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
