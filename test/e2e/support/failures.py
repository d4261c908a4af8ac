# ===- failures.py - Commands that must fail well --------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# A failure is good when it is one clear error, a non-zero exit code, in time,
# and leaves no process behind. Every process that a command starts inherits a
# mark in its environment, by which leftovers are found.
# Tested by test/e2e/bad-input.py and test/e2e/job-failures.py.

import os
import pathlib
import re
import signal
import subprocess
import time
import uuid
from dataclasses import dataclass

MARK = "SFSDP_TEST_MARK"
TIMEOUT_SECONDS = 120
# The launcher may still be reaping when the last output arrives.
LEFTOVER_GRACE_SECONDS = 2


@dataclass(frozen=True)
class Ended:
    """How a command ended; `code` is None when it had to be killed."""

    code: int | None
    errors: str
    leftovers: list


class Job:
    """A command under way whose processes can all be found."""

    def __init__(self, command, environment=None):
        self.mark = uuid.uuid4().hex
        self.process = subprocess.Popen(
            [str(part) for part in command],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, **(environment or {}), MARK: self.mark},
        )

    def processes(self):
        """Ids of all living processes that descend from the command."""
        wanted = f"{MARK}={self.mark}".encode()
        return [
            int(folder.name)
            for folder in pathlib.Path("/proc").glob("[0-9]*")
            if _has_mark(folder, wanted)
        ]

    def ranks(self):
        """Ids of the launcher's children, in order of rank."""
        return sorted(set(self.processes()) - {self.process.pid})

    def end(self, timeout=TIMEOUT_SECONDS):
        """Waits for the command and kills what it left."""
        try:
            _, errors = self.process.communicate(timeout=timeout)
            code = self.process.returncode
        except subprocess.TimeoutExpired:
            code, errors = None, "(timed out)"
        leftovers = self._leftovers()
        for pid in leftovers:
            os.kill(pid, signal.SIGKILL)
        return Ended(code, errors, leftovers)

    def _leftovers(self):
        deadline = time.monotonic() + LEFTOVER_GRACE_SECONDS
        while self.processes() and time.monotonic() < deadline:
            time.sleep(0.05)
        return self.processes()


def _has_mark(folder, wanted):
    try:
        state = (folder / "stat").read_text().rpartition(")")[2].split()[0]
        environment = (folder / "environ").read_bytes().split(b"\0")
    except OSError:
        return False
    return state != "Z" and wanted in environment


def check_failure(check, name, ended, *patterns, code=None):
    """Expects one error that fits every pattern, and a clean end."""
    errors = ended.errors.strip()
    check.that(ended.code is not None, f"{name}: did not end in time")
    wrong = ended.code == 0 if code is None else ended.code != code
    check.that(
        not wrong,
        f"{name}: exit code {ended.code}, expected {code or 'not 0'}",
    )
    check.that(
        not ended.leftovers, f"{name}: left processes {ended.leftovers}"
    )
    count = len(re.findall(r"(?:^|: )error: ", errors, re.MULTILINE))
    missing = [p for p in patterns if not re.search(p, errors)]
    check.that(
        count == 1 and not missing,
        f"{name}: {count} errors, expected 1; no match for {missing} in:\n"
        f"{errors}",
    )


def check_command(check, name, command, *patterns, code=None):
    """Runs a command that must fail."""
    check_failure(check, name, Job(command).end(), *patterns, code=code)
