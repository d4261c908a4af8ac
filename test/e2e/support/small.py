# ===- small.py - Small models for one question each -----------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Captures a module of a test's own, compiles it, trains it, and compares with
# eager PyTorch on the same batches.
# Tested by test/e2e/field-cases.py.

import pathlib
from collections.abc import Callable
from dataclasses import dataclass

import simplefsdp_capture
import torch
from reference.training import adamw, train_eager
from support.toolchain import Run, compile_plan


def sgd(lr=0.1, **options):
    """A factory of torch.optim.SGD for train_eager."""
    return lambda parameters, _: torch.optim.SGD(
        parameters, lr=lr, foreach=False, fused=False, **options
    )


@dataclass(frozen=True)
class SmallStep:
    """A captured module: files in `folder`, batches as a list of dicts."""

    build_model: Callable
    batches: list
    folder: pathlib.Path
    param_dtype: torch.dtype | None = None

    @property
    def archive(self):
        return self.folder / "step.pt2"

    @property
    def data(self):
        return self.folder / "batches.safetensors"

    def capture(self):
        self.folder.mkdir(parents=True)
        simplefsdp_capture.capture(
            self.build_model(),
            self.batches[0],
            self.archive,
            param_dtype=self.param_dtype,
        )
        simplefsdp_capture.write_batches(
            self.batches, self.data, len(self.batches)
        )
        return self

    def compile(self, options, name="step"):
        return compile_plan(
            self.archive, options, self.folder / f"{name}.plan.json"
        )

    def train(self, plan, ranks, steps, backend="local", lr=0.1, *extra):
        run = Run(plan, ranks, backend, lr)
        folder = self.folder / f"{backend}-{ranks}-{plan.stem}"
        return run.train(self.archive, self.data, steps, folder, *extra)

    def train_eager(self, ranks, steps, make_optimizer=adamw, **options):
        batches = {
            name: torch.stack([batch[name] for batch in self.batches])
            for name in self.batches[0]
        }
        return train_eager(
            self.build_model(),
            batches,
            steps,
            ranks=ranks,
            param_dtype=self.param_dtype,
            make_optimizer=make_optimizer,
            **options,
        )
