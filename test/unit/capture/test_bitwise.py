# ===- test_bitwise.py - The saved graph gives eager's bits ----------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Every operator of the archive is run in order; loss, each gradient and each
# updated buffer must be torch.equal to eager PyTorch's.
"""The saved graph gives eager's bits."""

import unittest
from dataclasses import replace

import torch
from torch import nn

from fixtures import CaptureTest, Pair, batch
from simplefsdp_capture.models import build, configure


class BuiltInModels(CaptureTest):
    def test_llama_untied(self):
        model, inputs = build(*configure("llama", "tiny"))
        replay = self.assert_bitwise(model, inputs)
        self.assertEqual(len(replay.gradients), 21)

    def test_llama_tied(self):
        entry, config = configure("llama", "tiny")
        model, inputs = build(entry, replace(config, tied=True))
        replay = self.assert_bitwise(model, inputs)
        self.assertEqual(len(replay.gradients), 20)
        self.assertNotIn("output.weight", replay.gradients)

    def test_mlp(self):
        self.assert_bitwise(*build(*configure("mlp", "small")))

    def test_gpt2_adds_both_gradients_of_its_table(self):
        replay = self.assert_bitwise(*build(*configure("gpt2")))
        aliases = {
            entry["fqn"]: entry["aliases"]
            for entry in replay.manifest["parameters"]
            if entry["aliases"]
        }
        self.assertEqual(aliases, {"wte.weight": ["lm_head.weight"]})
        self.assertNotIn("lm_head.weight", replay.gradients)

    def test_vit(self):
        self.assert_bitwise(*build(*configure("vit")))

    def test_resnet18_updates_all_its_statistics(self):
        replay = self.assert_bitwise(*build(*configure("resnet18")))
        # 20 batch norms with mean, variance and a count of batches each.
        self.assertEqual(len(replay.mutations), 60)

    def test_transformer(self):
        replay = self.assert_bitwise(*build(*configure("transformer")))
        table = replay.manifest["parameters"][0]
        self.assertEqual(table["fqn"], "source_embedding.weight")
        self.assertEqual(
            table["aliases"], ["target_embedding.weight", "head.weight"]
        )

    def test_lora_trains_adapters_alone(self):
        replay = self.assert_bitwise(*build(*configure("lora")))
        self.assertEqual(
            {name.rpartition(".")[2] for name in replay.gradients},
            {"lora_a", "lora_b"},
        )

    def test_operators_are_the_ones_eager_runs(self):
        replay = self.assert_bitwise(*build(*configure("llama", "tiny")))
        kinds = {
            str(node.target)
            for node in replay.program.graph.nodes
            if node.op == "call_function"
        }
        self.assertIn("aten.silu_backward.default", kinds)
        self.assertNotIn("aten._assert_tensor_metadata.default", kinds)
        flash = "aten._scaled_dot_product_flash_attention_for_cpu"
        self.assertIn(f"{flash}.default", kinds)
        self.assertIn(f"{flash}_backward.default", kinds)


class TiedThrice(nn.Module):
    """One weight under three names, read in mixed order."""

    def __init__(self):
        super().__init__()
        self.a, self.b, self.c = (nn.Linear(8, 8) for _ in range(3))
        self.b.weight = self.a.weight
        self.c.weight = self.a.weight

    def forward(self, x):
        x = self.a(self.b(x).tanh()).tanh()
        return self.a(self.c(self.b(x)).tanh()).square().mean()


class TiedParameters(CaptureTest):
    def test_partial_gradients_add_in_eagers_order(self):
        replay = self.assert_bitwise(TiedThrice(), (batch(),))
        weight = replay.manifest["parameters"][0]
        self.assertEqual(weight["fqn"], "a.weight")
        self.assertEqual(weight["aliases"], ["b.weight", "c.weight"])


class Frozen(Pair):
    def __init__(self):
        super().__init__()
        self.a.weight.requires_grad_(False)


class Unused(Pair):
    def __init__(self):
        super().__init__()
        self.unused = nn.Parameter(torch.ones(3))


class WithoutGrad(Pair):
    def forward(self, x):
        with torch.no_grad():
            x = self.a(x)
        return self.b(x).square().mean()


class PartsWithoutGradient(CaptureTest):
    def test_frozen_parameter(self):
        replay = self.assert_bitwise(Frozen(), (batch(),))
        self.assertNotIn("a.weight", replay.gradients)
        self.assertFalse(replay.manifest["parameters"][0]["trainable"])

    def test_unused_parameter_stays_without_gradient(self):
        replay = self.assert_bitwise(Unused(), (batch(),))
        self.assertNotIn("unused", replay.gradients)
        fqns = [entry["fqn"] for entry in replay.manifest["parameters"]]
        self.assertIn("unused", fqns)

    def test_no_grad_region(self):
        replay = self.assert_bitwise(WithoutGrad(), (batch(),))
        self.assertEqual(list(replay.gradients), ["b.weight", "b.bias"])


class BatchNorm(Pair):
    def __init__(self):
        super().__init__()
        self.norm = nn.BatchNorm1d(16)

    def middle(self, x):
        return self.norm(x)


class Counting(Pair):
    def __init__(self):
        super().__init__()
        self.register_buffer("calls", torch.zeros(2), persistent=False)

    def middle(self, x):
        self.calls.add_(1)
        return x * self.calls.sum()


class Constant(Pair):
    def middle(self, x):
        return x * torch.tensor(3.0) + torch.tensor([1.0, 2.0]).sum()


class Rotary(Pair):
    """F49: a complex table as buffer."""

    def __init__(self):
        super().__init__()
        table = torch.polar(torch.ones(8), torch.arange(8.0))
        self.register_buffer("table", table, persistent=False)

    def middle(self, x):
        pairs = torch.view_as_complex(x.view(-1, 8, 2)) * self.table
        return torch.view_as_real(pairs).flatten(1)


class BuffersAndConstants(CaptureTest):
    def test_batch_norm_updates(self):
        replay = self.assert_bitwise(BatchNorm(), (batch(),))
        self.assertEqual(len(replay.mutations), 3)

    def test_changed_non_persistent_buffer(self):
        replay = self.assert_bitwise(Counting(), (batch(),))
        self.assertEqual(list(replay.mutations), ["calls"])

    def test_constants_made_in_forward(self):
        replay = self.assert_bitwise(Constant(), (batch(),))
        self.assertEqual(len(replay.manifest["constants"]), 2)

    def test_f49_complex_buffer(self):
        replay = self.assert_bitwise(Rotary(), (batch(),))
        self.assertEqual(replay.manifest["buffers"][0]["dtype"], "c64")


class Dropout(Pair):
    def __init__(self, p):
        super().__init__()
        self.drop = nn.Dropout(p)

    def middle(self, x):
        return self.drop(x)


class Noise(Pair):
    def middle(self, x):
        return x + torch.randn(4, 16) * torch.rand_like(x)


class RandomOperators(CaptureTest):
    def test_dropout(self):
        for p in (0.1, 0.3, 0.5):
            with self.subTest(p=p):
                replay = self.assert_bitwise(Dropout(p), (batch(),))
                self.assertEqual(len(replay.manifest["random"]), 1)

    def test_noise(self):
        replay = self.assert_bitwise(Noise(), (batch(),))
        self.assertEqual(len(replay.manifest["random"]), 2)


class Autocast(Pair):
    def forward(self, x):
        with torch.autocast("cpu", torch.bfloat16):
            x = self.b(self.a(x).relu())
        return x.float().square().mean()


class Views(Pair):
    """F50: outputs that are views of inputs, equal, or parameters."""

    def forward(self, x):
        y = self.b(self.a(x))
        kept = y.detach()
        return y.square().mean(), x.view(-1), kept, kept, self.a.weight


class InPlace(Pair):
    def forward(self, x):
        x.mul_(2)
        return super().forward(x)


class Others(CaptureTest):
    def test_autocast_inside_forward(self):
        self.assert_bitwise(Autocast(), (batch(),))

    def test_f50_outputs_that_are_aliases(self):
        model, x = Views(), batch()
        replay = self.assert_bitwise(model, (x,))
        names = [entry["graph"] for entry in replay.manifest["outputs"]]
        flat, first, second, weight = (replay.values[n] for n in names)
        self.assertTrue(torch.equal(flat, x.view(-1)))
        self.assertTrue(torch.equal(first, second))
        self.assertTrue(torch.equal(weight, model.a.weight))

    def test_input_changed_in_place(self):
        x = batch()
        self.assert_bitwise(InPlace(), (x,))
        self.assertTrue(torch.equal(x, batch()))

    def test_evaluation(self):
        for model in (Dropout(0.5), BatchNorm()):
            replay = self.capture(model, (batch(),), train=False)
            self.assertTrue(model.training)
            self.assertTrue(model.a.weight.requires_grad)
            self.assertEqual(replay.gradients, {})
            self.assertEqual(replay.manifest["random"], [])
            with torch.no_grad():
                expected = model.eval()(batch())
            self.assertTrue(torch.equal(replay.loss, expected))


if __name__ == "__main__":
    unittest.main()
