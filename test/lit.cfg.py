# ===- lit.cfg.py - How the text tests run ---------------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# One configuration for test/{dialect,passes,tools,e2e}. Features say what this
# build has (`mlir`: simplefsdp-opt, `torch`: simplefsdp-run) and which tools of
# LLVM stand on the machine (`clang-format`, `clang-tidy`); a test that needs
# one names it in REQUIRES, so a smaller build runs fewer tests and never fails.
# Tested by tools/test, which runs every suite through it.

import os
import shutil
import subprocess

import lit.formats

config.name = "simplefsdp"
config.test_format = lit.formats.ShTest(execute_external=False)
config.test_source_root = os.path.dirname(__file__)
config.test_exec_root = os.path.join(config.sfsdp_build_dir, "test")
config.suffixes = [".mlir", ".test"]
config.excludes = [
    "Inputs",
    "benchmark",
    "fuzz",
    "reference",
    "support",
    "unit",
]

if config.sfsdp_enable_opt:
    config.available_features.add("mlir")
if config.sfsdp_enable_torch:
    config.available_features.add("torch")

for tool in ("clang-format", "clang-tidy"):
    if shutil.which(f"{tool}-22"):
        config.available_features.add(tool)

probe = "import importlib.util as u; exit(not u.find_spec('transformers'))"
if subprocess.run([config.sfsdp_python, "-c", probe]).returncode == 0:
    config.available_features.add("transformers")

default_build = os.path.join(config.sfsdp_source_dir, "build")
if config.sfsdp_build_dir == default_build:
    config.available_features.add("default-build")

bin_dir = os.path.join(config.sfsdp_build_dir, "bin")
capture_dir = os.path.join(config.sfsdp_source_dir, "tools", "capture")
path = [bin_dir, config.sfsdp_llvm_tools_dir, os.environ.get("PATH", "")]
config.environment.update(
    {
        "PATH": os.pathsep.join(path),
        "PYTHONPATH": capture_dir,
        "PYTHONDONTWRITEBYTECODE": "1",
        # A variable of one function must not leak into the next one.
        "FILECHECK_OPTS": "-enable-var-scope",
        "SFSDP_BIN": bin_dir,
        "SFSDP_TEST_OUTPUT": os.path.join(config.test_exec_root, "shared"),
    }
)
# Tests choose ranks and thread counts themselves; a launcher's environment
# around the test run must not.
for name in (
    "RANK",
    "WORLD_SIZE",
    "MASTER_ADDR",
    "MASTER_PORT",
    "OMP_NUM_THREADS",
):
    config.environment.pop(name, None)

config.substitutions += [
    ("%path", config.environment["PATH"]),
    ("%python", config.sfsdp_python),
    ("%capture", f"{config.sfsdp_python} -m simplefsdp_capture"),
    ("%root", config.sfsdp_source_dir),
    ("%inputs", os.path.join(config.test_source_root, "Inputs")),
]
