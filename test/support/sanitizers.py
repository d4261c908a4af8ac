# ===- sanitizers.py - Builds and runs tests under sanitizers --------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Each sanitizer has a build folder of its own beside the main one's binaries,
# BUILD/address and BUILD/thread, and builds only what it runs: the parts with
# neither LibTorch nor MLIR. Clang is taken when it has libFuzzer, so that the
# fuzz targets share the objects of the tests.
# Tested by test/tools/sanitizers.test.

import os
import subprocess
import tempfile

import suites

CLANGS = ("clang++-22", "clang++")
# Unit tests by sanitizer; those of MLIR need `opt` in the main build.
TESTS = {
    "address": ("files-test", "plan-test", "rank-test"),
    "thread": ("transport-test",),
}
OPT_TESTS = {"address": ("analysis-test", "import-test", "rules-test")}

SANITIZER_OPTIONS = {
    "ASAN_OPTIONS": "detect_leaks=1:strict_string_checks=1",
    "UBSAN_OPTIONS": "print_stacktrace=1",
    "TSAN_OPTIONS": "halt_on_error=1:second_deadlock_stack=1",
}


def find_clang():
    """A clang++ that can link libFuzzer and its sanitizers, or None."""
    with tempfile.TemporaryDirectory() as folder:
        source = os.path.join(folder, "probe.cpp")
        with open(source, "w") as file:
            file.write(
                "#include <cstddef>\n#include <cstdint>\n"
                'extern "C" int LLVMFuzzerTestOneInput('
                "const std::uint8_t *, std::size_t) { return 0; }\n"
            )
        for clang in CLANGS:
            command = [clang, "-std=c++20", "-fsanitize=fuzzer,address"]
            command += [source, "-o", os.path.join(folder, "probe")]
            try:
                done = subprocess.run(command, capture_output=True)
            except FileNotFoundError:
                continue
            if done.returncode == 0:
                return clang
    return None


class SanitizedBuild:
    """The build folder of one sanitizer."""

    def __init__(self, kind, root, build_dir, settings, clang):
        self.kind = kind
        self.root = root
        self.folder = os.path.join(build_dir, kind)
        self.settings = settings
        self.clang = clang

    def binary(self, target):
        return os.path.join(self.folder, "bin", target)

    def build(self, targets):
        """Whether the targets are built; shows what the tools say if not."""
        fuzzers = self.kind == "address" and self.clang is not None
        script = os.path.join(self.root, "tools", "cmake", f"{self.kind}.cmake")
        configure = ["cmake", "-C", script, "-S", self.root, "-B", self.folder]
        configure += ["-G", "Ninja"]
        for name, value in (
            ("CMAKE_CXX_COMPILER", self.clang),
            ("SFSDP_ENABLE_FUZZERS", "ON" if fuzzers else "OFF"),
            ("SFSDP_ENABLE_OPT", self.settings.get("opt")),
            ("SFSDP_PYTHON", self.settings.get("python")),
            ("MLIR_DIR", self.settings.get("mlir")),
        ):
            if value:
                configure.append(f"-D{name}={value}")
        return _succeeds(configure) and _succeeds(
            ["ninja", "-C", self.folder, *targets]
        )


def _succeeds(command):
    done = subprocess.run(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
    )
    if done.returncode:
        print(done.stdout, flush=True)
    return done.returncode == 0


class SanitizerTests:
    """Unit tests again, under each sanitizer."""

    name = "sanitizers"

    def __init__(self, root, build_dir, settings):
        self.arguments = (root, build_dir, settings)
        self.has_opt = settings.get("opt") == "ON"

    def run(self):
        os.environ.update(SANITIZER_OPTIONS)
        clang = find_clang()
        total = suites.Outcome()
        for kind in TESTS:
            build = SanitizedBuild(kind, *self.arguments, clang)
            targets = TESTS[kind] + (
                OPT_TESTS.get(kind, ()) if self.has_opt else ()
            )
            if not build.build(targets):
                total.failures.append(f"{kind} (does not build)")
                continue
            print(f"   under the {kind} sanitizer:", flush=True)
            for target in targets:
                outcome = suites.run_google_test(build.binary(target))
                outcome.failures = [f"{kind}: {n}" for n in outcome.failures]
                total.add(outcome)
        return total
