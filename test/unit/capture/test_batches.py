# ===- test_batches.py - Batches and weights as safetensors ----------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Batches and weights as safetensors."""

import json
import os

import torch
from safetensors.torch import load_file, save_file

from fixtures import CaptureTest, Pair
from simplefsdp_capture import CaptureError, load_weights, write_batches
from simplefsdp_capture.models import build, configure


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


class LoadWeights(CaptureTest):
    def save(self, tensors, name="model.safetensors"):
        path = os.path.join(self.folder, name)
        tensors = {key: value.detach() for key, value in tensors.items()}
        save_file(tensors, path)
        return path

    def test_file(self):
        source, target = Pair(), Pair()
        load_weights(target, self.save(dict(source.named_parameters())))
        self.assert_equal_tensors(target.state_dict(), source.state_dict())

    def test_folder_with_index(self):
        source, target = Pair(), Pair()
        shards = {"a.weight": "1", "a.bias": "1", "b.weight": "2"}
        shards["b.bias"] = "2"
        state = source.state_dict()
        for shard in ("1", "2"):
            names = [name for name in state if shards[name] == shard]
            self.save({name: state[name] for name in names}, shard)
        index = os.path.join(self.folder, "model.safetensors.index.json")
        with open(index, "w", encoding="utf-8") as file:
            json.dump({"weight_map": shards}, file)
        load_weights(target, self.folder)
        self.assert_equal_tensors(target.state_dict(), state)

    def test_tied_parameter_under_any_name(self):
        model, _ = build(*configure("llama", "tiny"))
        model.output.weight = model.tok_embeddings.weight
        tensors = dict(model.named_parameters())
        tensors["output.weight"] = tensors.pop("tok_embeddings.weight") + 1
        load_weights(model, self.save(tensors))
        self.assertTrue(
            torch.equal(model.tok_embeddings.weight, tensors["output.weight"])
        )

    def test_file_of_another_kind(self):
        path = os.path.join(self.folder, "step.pt2")
        with open(path, "wb") as file:
            file.write(b"PK" + bytes(range(256)))
        with self.assertRaisesRegex(
            CaptureError, "step.pt2 is no safetensors file"
        ):
            load_weights(Pair(), path)

    def test_refusals_change_nothing(self):
        model = Pair()
        before = {k: v.clone() for k, v in model.state_dict().items()}
        state = {k: v + 1 for k, v in before.items()}
        wrong_shape = {**state, "a.bias": torch.zeros(3)}
        wrong_dtype = {**state, "b.bias": state["b.bias"].half()}
        unknown = {**state, "c": torch.zeros(1)}
        missing = {k: v for k, v in state.items() if k != "b.weight"}
        for tensors, part in (
            (wrong_shape, "'a.bias' as torch.float32 \\[3\\]: expected"),
            (wrong_dtype, "'b.bias' as torch.float16"),
            (unknown, "'c', which is no parameter"),
            (missing, "lacks 1 of 4 parameters, first 'b.weight'"),
        ):
            path = self.save(tensors)
            with self.subTest(part=part):
                with self.assertRaisesRegex(Exception, part):
                    load_weights(model, path)
                self.assert_equal_tensors(model.state_dict(), before)

    def test_no_such_file(self):
        with self.refused("no such file"):
            load_weights(Pair(), self.path)
        with self.refused("expected model.safetensors.index.json"):
            load_weights(Pair(), self.folder)
