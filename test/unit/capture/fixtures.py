# ===- fixtures.py - Capturing a model and running what was saved ----------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Shared by the tests: small models, and the reference way to run an archive,
# operator by operator under torch.fx's interpreter.
"""Capturing a model and running what was saved."""

import contextlib
import copy
import os
import pathlib
import sys
import tempfile
import types
import unittest
import warnings

import torch
import torch.utils._pytree as pytree
from torch import nn

TOOL = pathlib.Path(__file__).resolve().parents[3] / "tools" / "capture"
sys.path.insert(0, str(TOOL))
warnings.filterwarnings("ignore", module="torch")

from simplefsdp_capture import CaptureError, capture  # noqa: E402
from simplefsdp_capture.names import bind_inputs, input_paths  # noqa: E402


class Pair(nn.Module):
    """Two linear layers and a mean of squares; a base for odd models."""

    def __init__(self):
        super().__init__()
        self.a = nn.Linear(8, 16)
        self.b = nn.Linear(16, 4)

    def middle(self, x):
        return x.relu()

    def forward(self, x):
        return self.b(self.middle(self.a(x))).square().mean()


def batch():
    """The example input of ``Pair``."""
    return torch.randn(4, 8, generator=torch.Generator().manual_seed(5))


class Replay:
    """An archive run once: its manifest and all outputs by graph name."""

    def __init__(self, path, manifest, inputs, seed):
        self.manifest = manifest
        self.program = torch.export.load(path)
        signature = self.program.graph_signature
        arguments = [
            self._argument(spec, inputs) for spec in signature.input_specs
        ]
        torch.manual_seed(seed)
        with torch.no_grad():
            interpreter = torch.fx.Interpreter(self.program.graph_module)
            results = interpreter.run(*arguments)
        names = [spec.arg.name for spec in signature.output_specs]
        self.values = dict(zip(names, results, strict=True))

    def _argument(self, spec, inputs):
        if spec.target is None:
            names = {
                entry["graph"]: entry["name"]
                for entry in self.manifest["inputs"]
            }
            return inputs[names[spec.arg.name]]
        tensors = {**self.program.state_dict, **self.program.constants}
        return tensors[spec.target]

    @property
    def loss(self):
        return self.values[self.manifest["loss"]]

    @property
    def gradients(self):
        return {
            fqn: self.values[name]
            for fqn, name in self.manifest["gradients"].items()
        }

    @property
    def mutations(self):
        return {
            fqn: self.values[name]
            for fqn, name in self.manifest["mutations"].items()
        }


class CaptureTest(unittest.TestCase):
    """A test with a folder of its own."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.path = os.path.join(folder.name, "step.pt2")
        torch.manual_seed(0)

    def capture(self, model, inputs, seed=11, **options):
        """Captures ``model`` and replays the archive on the same inputs."""
        manifest = capture(model, inputs, self.path, **options)
        args, kwargs = bind_inputs(model, copy.deepcopy(inputs))
        leaves = pytree.tree_leaves((args, kwargs))
        named = dict(zip(input_paths(model, args, kwargs), leaves))
        return Replay(self.path, manifest, named, seed)

    def eager(self, model, inputs, seed=11):
        """Loss, gradients and buffers of one eager step on a copy."""
        model = copy.deepcopy(model)
        args, kwargs = bind_inputs(model, copy.deepcopy(inputs))
        torch.manual_seed(seed)
        loss = pytree.tree_leaves(model(*args, **kwargs))[0]
        loss.backward()
        gradients = {
            fqn: parameter.grad
            for fqn, parameter in model.named_parameters()
            if parameter.grad is not None
        }
        return loss.detach(), gradients, dict(model.named_buffers())

    def assert_bitwise(self, model, inputs):
        """Replay equals eager in every bit; returns the replay."""
        loss, gradients, buffers = self.eager(model, inputs)
        replay = self.capture(model, inputs)
        self.assert_equal_tensors({"loss": replay.loss}, {"loss": loss})
        self.assert_equal_tensors(replay.gradients, gradients)
        changed = {fqn: buffers[fqn] for fqn in replay.mutations}
        self.assert_equal_tensors(replay.mutations, changed)
        return replay

    def assert_equal_tensors(self, actual, expected):
        """Same names, and for each torch.equal, dtype and shape."""
        self.assertEqual(list(actual), list(expected))
        for name, tensor in expected.items():
            self.assertEqual(actual[name].dtype, tensor.dtype, name)
            self.assertTrue(torch.equal(actual[name], tensor), name)

    @contextlib.contextmanager
    def refused(self, *parts):
        """Expects a CaptureError with all ``parts``, and no file.

        Yields an object whose ``text`` is the message afterwards.
        """
        refusal = types.SimpleNamespace(text="")
        with self.assertRaises(CaptureError) as caught:
            yield refusal
        message = refusal.text = str(caught.exception)
        for part in parts:
            self.assertIn(part, message)
        self.assertNotIn("\n", message)
        self.assertFalse(message.endswith("."), message)
        self.assertEqual(os.listdir(self.folder), [])
