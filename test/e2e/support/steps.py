# ===- steps.py - Captured steps that end-to-end tests share ---------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# A captured step, its batches and a function that builds its model, made once
# per state of the capture package and shared by the tests of one build. Tests
# run in parallel, so the first one makes it under a lock.
# Tested by every test in test/e2e.

import fcntl
import hashlib
import os
import pathlib
import subprocess
import sys
from dataclasses import dataclass

import simplefsdp_capture
import torch
from safetensors.torch import load_file
from simplefsdp_capture.models import build, configure

SEED = 0
# Enough for 20 steps of 3 ranks without wrapping.
BATCHES = 60
DTYPES = {"f32": None, "bf16": torch.bfloat16}


@dataclass(frozen=True)
class Step:
    """A captured built-in model, read from or written to `folder`."""

    folder: pathlib.Path
    model: str
    dtype: str

    @property
    def archive(self):
        return self.folder / "step.pt2"

    @property
    def data(self):
        return self.folder / "batches.safetensors"

    @property
    def param_dtype(self):
        return DTYPES[self.dtype]

    def build_model(self):
        """A fresh model with the captured weights."""
        torch.manual_seed(SEED)
        return build(*configure(self.model))[0]

    def batches(self):
        """{input name: tensor [batches, ...]}."""
        return load_file(self.data)

    def make(self):
        """Captures by the command, in a process of its own.

        So this process may still fork, and the seed alone must give the
        captured weights.
        """
        self.folder.mkdir(parents=True)
        simplefsdp_capture.write_batches(
            random_batches(self.model), self.data, BATCHES
        )
        command = [sys.executable, "-m", "simplefsdp_capture", self.model]
        if self.param_dtype:
            command += ["--param-dtype", self.dtype]
        command += ["--seed", str(SEED), "-o", str(self.archive)]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)


def random_batches(model):
    """Endless batches like a built-in model's example."""
    entry, config = configure(model)
    with torch.random.fork_rng():
        torch.manual_seed(SEED + 1)
        while True:
            yield entry.module.example_inputs(config)


def shared_folder():
    """Where the tests of one build keep what they share."""
    return pathlib.Path(os.environ["SFSDP_TEST_OUTPUT"])


def captured_step(model, dtype="f32"):
    """The step of built-in `model` (size tiny), captured now if need be."""
    name = f"{model}-{dtype}-{_sources_digest()}"
    step = Step(shared_folder() / name, model, dtype)
    shared_folder().mkdir(parents=True, exist_ok=True)
    with open(shared_folder() / f"{name}.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not step.folder.exists():
            making = Step(
                shared_folder() / f"{name}.tmp{os.getpid()}", model, dtype
            )
            making.make()
            making.folder.rename(step.folder)
    return step


def _sources_digest():
    """Changes with the capture package, this file and torch."""
    digest = hashlib.sha256(torch.__version__.encode())
    package = pathlib.Path(simplefsdp_capture.__file__).parent
    for path in [*sorted(package.rglob("*.py")), pathlib.Path(__file__)]:
        digest.update(path.read_bytes())
    return digest.hexdigest()[:12]
