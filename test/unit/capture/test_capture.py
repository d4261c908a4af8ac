# ===- test_capture.py - Fake weights, and models left as they were --------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Fake weights, and models left as they were."""

import os
import unittest
import warnings
import zipfile

import torch

from fixtures import CaptureTest, Pair, batch
from simplefsdp_capture import capture, fake_weights, real_tensors
from simplefsdp_capture.models import build, configure


class Table(Pair):
    """Has a non-persistent buffer that its constructor computes."""

    def __init__(self, real):
        super().__init__()
        with real_tensors() if real else fake_weights():
            table = torch.arange(16.0)
        self.register_buffer("table", table, persistent=False)

    def middle(self, x):
        return x + self.table


class FakeWeights(CaptureTest):
    def test_weights_have_no_bytes_and_tables_have(self):
        with fake_weights():
            model, inputs = build(*configure("llama", "small", fake=True))
        manifest = capture(model, inputs, self.path, param_dtype="bf16")
        self.assertTrue(manifest["fake"])
        with zipfile.ZipFile(self.path) as archive:
            sizes = {
                entry.filename.split("/", 1)[1]: entry.file_size
                for entry in archive.infolist()
            }
        weights = [
            size
            for name, size in sizes.items()
            if name.startswith("data/weights/weight_")
        ]
        self.assertEqual(set(weights), {0})
        # 128 positions of head dimension 32 in f32.
        self.assertEqual(sizes["data/constants/tensor_0"], 128 * 32 * 4)

    def test_same_graph_as_with_real_weights(self):
        codes = []
        for fake in (False, True):
            with fake_weights() if fake else torch.enable_grad():
                model, inputs = build(*configure("llama", "tiny"))
            capture(model, inputs, self.path)
            codes.append(torch.export.load(self.path).graph_module.code)
        self.assertEqual(codes[0], codes[1])

    def test_fake_table_is_refused(self):
        with fake_weights():
            model = Table(real=False)
        with self.refused("non-persistent buffer 'table'", "real_tensors()"):
            capture(model, (batch(),), self.path)

    def test_real_table(self):
        with fake_weights():
            model = Table(real=True)
        capture(model, (batch(),), self.path)
        self.assertTrue(os.path.exists(self.path))


class Remembering(Pair):
    """Assigns attributes and buffers in forward."""

    def __init__(self):
        super().__init__()
        self.register_buffer("calls", torch.zeros(()))

    def middle(self, x):
        self.last = x
        self.calls = self.calls + 1
        return x


class ModelsAreLeftAlone(CaptureTest):
    def test_attributes_and_buffers(self):
        model = Remembering()
        before = {key: id(value) for key, value in vars(model).items()}
        calls = model.calls
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            self.assert_bitwise(model, (batch(),))
        after = {key: id(value) for key, value in vars(model).items()}
        self.assertEqual(before, after)
        self.assertIs(model.calls, calls)
        self.assertEqual(model.calls.item(), 0)

    def test_modes_are_kept(self):
        model = Pair()
        model.b.eval()
        capture(model, (batch(),), self.path)
        capture(model, (batch(),), self.path, train=False)
        self.assertTrue(model.training and model.a.training)
        self.assertFalse(model.b.training)

    def test_no_gradients_appear(self):
        model = Pair()
        capture(model, (batch(),), self.path)
        self.assertTrue(all(p.grad is None for p in model.parameters()))


if __name__ == "__main__":
    unittest.main()
