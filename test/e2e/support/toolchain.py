# ===- toolchain.py - Runs the compiler and the runtime --------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Thin calls of simplefsdp-opt and simplefsdp-run that return what they wrote.
# Tested by every test in test/e2e.

import json
import os
import pathlib
import subprocess
from dataclasses import dataclass

import torch
from reference.training import Trained
from safetensors.torch import load_file

TIMEOUT_SECONDS = 300


class ToolError(RuntimeError):
    """A tool failed; the message is its command and what it printed."""


def tool(name):
    return os.path.join(os.environ["SFSDP_BIN"], name)


def run_tool(name, *arguments):
    """Runs a tool and returns the finished process; raises on failure."""
    finished = try_tool(name, *arguments)
    if finished.returncode != 0:
        raise ToolError(
            f"{' '.join(finished.args)}\nexit code {finished.returncode}\n"
            f"{finished.stdout}{finished.stderr}"
        )
    return finished


def try_tool(name, *arguments, timeout=TIMEOUT_SECONDS):
    """Runs a tool and returns the finished process, failed or not."""
    return subprocess.run(
        [tool(name), *map(str, arguments)],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=timeout,
    )


def compile_plan(archive, options, plan):
    """Compiles `archive` with pipeline `options` into the file `plan`."""
    run_tool(
        "simplefsdp-opt",
        archive,
        f"--simplefsdp={options}",
        f"--emit-plan={plan}",
        "-o",
        os.devnull,
    )
    return plan


@dataclass(frozen=True)
class Run:
    """One training run: its plan, ranks and transport."""

    plan: pathlib.Path
    ranks: int
    backend: str = "local"
    lr: float = 1e-3

    def train(self, archive, data, steps, folder, *extra):
        """Trains and returns what metrics and dump say (`Trained`)."""
        folder.mkdir(parents=True, exist_ok=True)
        metrics, dump = folder / "metrics.jsonl", folder / "dump.safetensors"
        run_tool(
            "simplefsdp-run",
            *("-n", self.ranks, self.plan, "--backend", self.backend),
            *("--weights", archive, "--data", data),
            *("--steps", steps, "--lr", self.lr),
            *("--metrics", metrics, "--dump", dump),
            *extra,
        )
        norms = [
            torch.tensor(float(record["grad_norm"]))
            for record in read_metrics(metrics)
            if record["grad_norm"] is not None
        ]
        return Trained(read_losses(metrics), load_file(dump), norms)


def read_metrics(path):
    """The records of a metrics file, one per step."""
    with open(path) as file:
        return [json.loads(line) for line in file]


def read_losses(path):
    """Losses of a metrics file as 0-dim f32 tensors."""
    return [
        torch.tensor(float(record["loss"])) for record in read_metrics(path)
    ]
