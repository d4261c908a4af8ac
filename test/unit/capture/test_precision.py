# ===- test_precision.py - Parameters read in a lower precision ------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The reference is written here by other means: eager PyTorch on parameters
# that were cast before the call.
"""Parameters read in a lower precision."""

import unittest
from dataclasses import replace

import torch
from torch import nn
from torch.func import functional_call

from fixtures import CaptureTest, Pair, batch
from simplefsdp_capture.models import build, configure


def cast_step(model, inputs):
    """Loss and gradients with every parameter cast once to bf16."""
    cast = {
        fqn: parameter.to(torch.bfloat16)
        for fqn, parameter in model.named_parameters()
    }
    loss = functional_call(model, cast, (), inputs)
    named = dict(model.named_parameters())
    gradients = torch.autograd.grad(loss, list(named.values()))
    return loss, dict(zip(named, gradients))


class Bf16Parameters(CaptureTest):
    def assert_bitwise_cast(self, model, inputs):
        loss, gradients = cast_step(model, inputs)
        replay = self.capture(model, inputs, param_dtype="bf16")
        self.assertTrue(torch.equal(replay.loss, loss))
        self.assert_equal_tensors(replay.gradients, gradients)
        return replay

    def test_llama(self):
        replay = self.assert_bitwise_cast(*build(*configure("llama", "tiny")))
        self.assertEqual(replay.manifest["param_dtype"], "bf16")

    def test_mlp(self):
        self.assert_bitwise_cast(*build(*configure("mlp", "tiny")))

    def test_each_parameter_is_cast_and_each_gradient_cast_back(self):
        model, inputs = build(*configure("llama", "tiny"))
        replay = self.capture(model, inputs, param_dtype=torch.bfloat16)
        nodes = {node.name: node for node in replay.program.graph.nodes}
        copy = torch.ops.aten._to_copy.default
        for entry in replay.manifest["parameters"]:
            self.assertEqual(entry["dtype"], "f32")
            (user,) = nodes[entry["graph"]].users
            self.assertIs(user.target, copy)
            gradient = nodes[replay.manifest["gradients"][entry["fqn"]]]
            self.assertIs(gradient.target, copy)
            self.assertEqual(gradient.meta["val"].dtype, torch.float32)

    def test_tied_gradients_add_in_f32(self):
        entry, config = configure("llama", "tiny")
        model, inputs = build(entry, replace(config, tied=True))
        replay = self.capture(model, inputs, param_dtype="bf16")
        name = replay.manifest["gradients"]["tok_embeddings.weight"]
        nodes = {node.name: node for node in replay.program.graph.nodes}
        self.assertIs(nodes[name].target, torch.ops.aten.add.Tensor)
        for part in nodes[name].all_input_nodes:
            self.assertEqual(part.meta["val"].dtype, torch.float32)

    def test_batch_norms_read_their_parameters_as_stored(self):
        replay = self.capture(
            *build(*configure("resnet18")), param_dtype="bf16"
        )
        nodes = {node.name: node for node in replay.program.graph.nodes}
        cast = {
            entry["fqn"]
            for entry in replay.manifest["parameters"]
            for user in nodes[entry["graph"]].users
            if user.target is torch.ops.aten._to_copy.default
        }
        norms = {
            entry["fqn"]
            for entry in replay.manifest["parameters"]
            if "bn" in entry["fqn"] or "downsample.1" in entry["fqn"]
        }
        fqns = {entry["fqn"] for entry in replay.manifest["parameters"]}
        self.assertEqual(len(norms), 40)
        self.assertEqual(cast, fqns - norms)
        self.assertEqual(replay.gradients["bn1.weight"].dtype, torch.float32)

    def test_classes_are_restored(self):
        model = Pair().bfloat16()
        model.b.float()
        with self.assertRaises(Exception):
            self.capture(model, (batch(),), param_dtype="f16")
        self.assertIs(type(model.a), nn.Linear)
        self.assertEqual(model.a.weight.dtype, torch.bfloat16)


class Refusals(CaptureTest):
    def test_unknown_dtype(self):
        with self.refused("unknown param_dtype 'int4'", "bf16, f16"):
            self.capture(Pair(), (batch(),), param_dtype="int4")

    def test_read_around_the_attribute(self):
        class Decayed(Pair):
            def forward(self, x):
                loss = super().forward(x.bfloat16())
                return loss + self._parameters_of_a().sum()

            def _parameters_of_a(self):
                return next(self.a.parameters())

        with self.refused("parameter 'a.weight'", "test_precision.py:"):
            self.capture(Decayed(), (batch(),), param_dtype="bf16")

    def test_operands_of_two_dtypes(self):
        with self.refused(
            "module 'a' at fixtures.py:", "bf16 and f32", "cast the floating"
        ):
            self.capture(Pair(), (batch(),), param_dtype="bf16")

    def test_convolution_of_two_dtypes(self):
        class Filtered(Pair):
            def __init__(self):
                super().__init__()
                self.filter = nn.Conv1d(1, 1, 3, padding=1)

            def forward(self, x):
                return super().forward(self.filter(x[:, None])[:, 0])

        with self.refused(
            "module 'filter' at test_precision.py:", "cast floating inputs"
        ):
            self.capture(Filtered(), (batch(),), param_dtype="bf16")


if __name__ == "__main__":
    unittest.main()
