# ===- test_batches.py - Batches as safetensors ----------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Batches as safetensors."""

import torch
from safetensors.torch import load_file

from fixtures import CaptureTest
from simplefsdp_capture import write_batches


def batches(count):
    """A loader of ``count`` different batches."""
    for step in range(count):
        yield {
            "tokens": torch.arange(6).reshape(2, 3) + step,
            "extra": {"weight": torch.full((2,), step, dtype=torch.bfloat16)},
        }


class WriteBatches(CaptureTest):
    def test_one_tensor_per_name(self):
        write_batches(batches(5), self.path, 3)
        tensors = load_file(self.path)
        self.assertEqual(set(tensors), {"tokens", "extra.weight"})
        for step, batch in enumerate(batches(3)):
            self.assertTrue(
                torch.equal(tensors["tokens"][step], batch["tokens"])
            )
            self.assertTrue(
                torch.equal(
                    tensors["extra.weight"][step], batch["extra"]["weight"]
                )
            )

    def test_tuples_with_names(self):
        loader = [(torch.ones(2), torch.tensor(True))] * 2
        write_batches(loader, self.path, 2, names=("x", "flag"))
        tensors = load_file(self.path)
        self.assertEqual(list(tensors["x"].shape), [2, 2])
        self.assertEqual(tensors["flag"].dtype, torch.bool)

    def test_refusals(self):
        x = torch.ones(2)
        for loader, steps, part in (
            ([{"x": x}], 2, "the loader ended after 1 batches"),
            ([], 1, "the loader ended after 0 batches"),
            ([{"x": x}], 0, "at least 1, got 0"),
            ([(x,)], 1, "got tuple"),
            ([{"x": 3}], 1, "'x' is no tensor"),
            ([{"x": x}, {"y": x}], 2, "batch 1 has the names y"),
            ([{"x": x}, {"x": x[:1]}], 2, "batch 1 has torch.float32 [1]"),
            ([{"x": x}, {"x": x.int()}], 2, "batch 1 has torch.int32"),
            ([{"x": x.to(torch.complex64)}], 1, "complex64"),
        ):
            with self.subTest(part=part), self.refused(part):
                write_batches(loader, self.path, steps)

    def test_names_of_another_length(self):
        with self.refused("has 1 values: expected 2, for x, y"):
            write_batches([(torch.ones(1),)], self.path, 1, names=("x", "y"))
