# ===- fuzzing.py - Makes seeds and runs the fuzz targets ------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# A smoke run does a fixed number of executions from a fixed seed over fresh
# seeds, so it is the same everywhere. A long run (`--fuzz-seconds`) keeps what
# it finds in BUILD/fuzz/TARGET/corpus and starts from there the next time.
# Tested by test/tools/sanitizers.test.

import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass

import sanitizers
import suites

SEED = 1
MEMORY_MIB = 2048
# One input; the slowest seed takes milliseconds.
INPUT_SECONDS = 20


@dataclass(frozen=True)
class Target:
    name: str
    dictionary: str
    max_bytes: int
    smoke_runs: int
    needs_opt: bool = False

    @property
    def binary(self):
        return f"{self.name}-fuzzer"


TARGETS = (
    Target("archive", "archive.dict", 32768, 4000),
    Target("safetensors", "safetensors.dict", 4096, 10000),
    Target("plan", "json.dict", 65536, 2000, needs_opt=True),
    Target("exported-program", "json.dict", 32768, 2000, needs_opt=True),
)


class FuzzTargets:
    """The libFuzzer targets of test/fuzz/readers; each counts as a test."""

    name = "fuzz"

    def __init__(self, root, build_dir, settings, seconds=None):
        self.root = root
        self.build_dir = build_dir
        self.settings = settings
        self.seconds = seconds
        self.sources = os.path.join(root, "test", "fuzz", "readers")

    def run(self):
        clang = sanitizers.find_clang()
        if clang is None:
            print(
                "   skipped: no clang++ that links libFuzzer; as root,"
                " tools/build --test-packages installs it"
            )
            return suites.Outcome(skipped=len(TARGETS))
        os.environ.update(sanitizers.SANITIZER_OPTIONS)
        total = suites.Outcome()
        targets = []
        for target in TARGETS:
            if target.needs_opt and self.settings.get("opt") != "ON":
                print(f"   {target.binary}: skipped: needs simplefsdp-opt")
                total.skipped += 1
            else:
                targets.append(target)
        build = sanitizers.SanitizedBuild(
            "address", self.root, self.build_dir, self.settings, clang
        )
        if not build.build([target.binary for target in targets]):
            total.failures.append("fuzz targets (do not build)")
            return total
        for target in targets:
            total.add(self.run_target(target, build.binary(target.binary)))
        return total

    def run_target(self, target, binary):
        folder = os.path.join(self.build_dir, "fuzz", target.name)
        seeds = self.make_seeds(target, folder)
        if seeds is None:
            return suites.Outcome(failures=[f"{target.binary} (no seeds)"])
        command = [
            binary,
            f"-seed={SEED}",
            f"-max_len={target.max_bytes}",
            f"-rss_limit_mb={MEMORY_MIB}",
            f"-timeout={INPUT_SECONDS}",
            f"-dict={os.path.join(self.sources, target.dictionary)}",
            f"-artifact_prefix={folder}{os.sep}",
            "-print_final_stats=1",
        ]
        if self.seconds is None:
            command.append(f"-runs={target.smoke_runs}")
        else:
            corpus = os.path.join(folder, "corpus")
            os.makedirs(corpus, exist_ok=True)
            command += [f"-max_total_time={self.seconds}", corpus]
        code, log = _run(command + [seeds], os.path.join(folder, "log"))
        if code == 0:
            print(f"   {target.binary}: {summarize(log)}", flush=True)
            return suites.Outcome(passed=1)
        print(tail_of(log), flush=True)
        print(f"   reproduce with: {binary} FILE, the one named above")
        return suites.Outcome(failures=[target.binary])

    def make_seeds(self, target, folder):
        """The folder of fresh seeds; None when they can't be made."""
        os.makedirs(folder, exist_ok=True)
        seeds = os.path.join(folder, "seeds")
        shutil.rmtree(seeds, ignore_errors=True)
        os.mkdir(seeds)
        command = [
            sys.executable,
            os.path.join(self.sources, "make_seeds.py"),
            target.name,
            seeds,
            os.path.join(self.build_dir, "bin", "simplefsdp-opt"),
        ]
        return seeds if subprocess.run(command).returncode == 0 else None


def _run(command, path):
    """Returns exit code and output; a long run is thousands of lines."""
    with open(path, "w") as file:
        code = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            stdout=file,
            stderr=subprocess.STDOUT,
        ).returncode
    with open(path, errors="replace") as file:
        return code, file.read()


def summarize(log):
    """Executions, and what they covered, from libFuzzer's last lines."""
    runs = re.findall(r"^stat::number_of_executed_units:\s*(\d+)", log, re.M)
    covered = re.findall(r"\bcov: (\d+) ft: (\d+) corp: (\d+)", log)
    if not runs or not covered:
        return "no figures"
    edges, features, inputs = covered[-1]
    return (
        f"{runs[-1]} executions, {edges} edges, {features} features,"
        f" {inputs} inputs kept"
    )


def tail_of(log, lines=60):
    """From where the report of a finding begins."""
    all_lines = log.splitlines()
    for index, line in enumerate(all_lines):
        if re.search(r"ERROR: |runtime error: |broken promise: ", line):
            return "\n".join(all_lines[index : index + lines])
    return "\n".join(all_lines[-lines:])
