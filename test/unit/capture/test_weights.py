# ===- test_weights.py - Loading weights into a model ----------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Loading weights into a model."""

import contextlib
import io
import json
import os
import unittest
import zipfile

import torch
from safetensors.torch import save_file
from torch import nn

from fixtures import CaptureTest, Pair, batch
from simplefsdp_capture import (
    CaptureError,
    capture,
    fake_weights,
    load_weights,
)
from simplefsdp_capture.models import build, configure


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

    def test_archive_of_capture(self):
        source, target = Pair(), Pair()
        path = os.path.join(self.folder, "step.pt2")
        capture(source, (batch().bfloat16(),), path, param_dtype="bf16")
        load_weights(target, path)
        self.assert_equal_tensors(target.state_dict(), source.state_dict())

    def test_archive_of_a_tied_model_with_buffers(self):
        class Tied(Pair):
            def __init__(self):
                super().__init__()
                self.norm = nn.BatchNorm1d(16)
                self.c = self.a

            def middle(self, x):
                return self.norm(x)

        source, target = Tied(), Tied()
        source.norm.running_mean += 3
        path = os.path.join(self.folder, "step.pt2")
        capture(source, (batch(),), path)
        load_weights(target, path)
        self.assert_equal_tensors(target.state_dict(), source.state_dict())

    def test_archive_of_torch_export(self):
        source, target = Pair(), Pair()
        path = os.path.join(self.folder, "exported.pt2")
        torch.export.save(torch.export.export(source, (batch(),)), path)
        load_weights(target, path)
        self.assert_equal_tensors(target.state_dict(), source.state_dict())

    def test_archive_without_weights(self):
        path = os.path.join(self.folder, "step.pt2")
        with fake_weights():
            capture(Pair(), (batch(),), path)
        with self.assertRaisesRegex(CaptureError, "captured with fake ones"):
            load_weights(Pair(), path)

    def test_damaged_archive(self):
        path = os.path.join(self.folder, "step.pt2")
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("step/archive_format", "pt2")
        printed = io.StringIO()
        with contextlib.redirect_stderr(printed):
            with self.assertRaisesRegex(CaptureError, "a damaged .pt2"):
                load_weights(Pair(), path)
        self.assertEqual(printed.getvalue(), "")

    def test_file_of_another_kind(self):
        path = os.path.join(self.folder, "step.pt2")
        with open(path, "wb") as file:
            file.write(b"PK" + bytes(range(256)))
        with self.assertRaisesRegex(
            CaptureError, "step.pt2 is neither a safetensors file"
        ):
            load_weights(Pair(), path)
        torch.save(Pair().state_dict(), path)
        with self.assertRaisesRegex(CaptureError, "checkpoint of torch.save"):
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


if __name__ == "__main__":
    unittest.main()
