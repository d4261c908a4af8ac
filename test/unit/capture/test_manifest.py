# ===- test_manifest.py - What the manifest says ---------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the manifest says."""

import unittest

import torch
from torch import nn

from fixtures import CaptureTest, Pair, batch
from simplefsdp_capture.archive import read_manifest
from simplefsdp_capture.models import build, configure


class Nested(nn.Module):
    """Nested and variadic inputs, and outputs besides the loss."""

    def __init__(self):
        super().__init__()
        self.a = nn.Linear(8, 4)

    def forward(self, x, scale, *more):
        y = self.a(x["u"]["v"] + x["list"][1] + more[0]) * scale
        return {"loss": y.square().mean(), "extra": [y.detach(), None, 7]}


class Keywords(Pair):
    def forward(self, *, x, **rest):
        return super().forward(x + rest["y"])


class Manifest(CaptureTest):
    def test_keys(self):
        model, inputs = build(*configure("llama", "tiny"))
        manifest = self.capture(model, inputs).manifest
        self.assertEqual(read_manifest(self.path), manifest)
        self.assertEqual(manifest["schema"], 1)
        self.assertEqual(manifest["torch"], torch.__version__)
        self.assertEqual(
            manifest["inputs"],
            [
                {
                    "name": name,
                    "graph": name,
                    "shape": [4, 32],
                    "dtype": "i64",
                }
                for name in ("tokens", "labels")
            ],
        )
        self.assertEqual(
            manifest["parameters"][1],
            {
                "fqn": "layers.0.attention.wq.weight",
                "graph": "p_layers_0_attention_wq_weight",
                "shape": [64, 64],
                "dtype": "f32",
                "trainable": True,
                "aliases": [],
            },
        )
        self.assertEqual(
            manifest["buffers"][0],
            {
                "fqn": "rope_cos",
                "graph": "b_rope_cos",
                "shape": [32, 16],
                "dtype": "f32",
                "persistent": False,
                "mutated": False,
                "aliases": [],
            },
        )
        self.assertEqual(
            list(manifest["gradients"]),
            [fqn for fqn, _ in model.named_parameters()],
        )
        for key in ("constants", "outputs", "random"):
            self.assertEqual(manifest[key], [], key)
        self.assertEqual(manifest["mutations"], {})
        self.assertIsNone(manifest["param_dtype"])
        self.assertTrue(manifest["train"])
        self.assertFalse(manifest["fake"])

    def test_names_are_names_of_the_saved_graph(self):
        replay = self.capture(*build(*configure("mlp", "tiny")))
        names = {node.name for node in replay.program.graph.nodes}
        manifest = replay.manifest
        entries = manifest["inputs"] + manifest["parameters"]
        for entry in entries:
            self.assertIn(entry["graph"], names)
        self.assertIn(manifest["loss"], names)
        self.assertLessEqual(set(manifest["gradients"].values()), names)

    def test_dotted_paths(self):
        x = batch()
        nested = {"u": {"v": x}, "list": [x, x]}
        inputs = (nested, torch.ones(1), x)
        manifest = self.assert_bitwise(Nested(), inputs).manifest
        self.assertEqual(
            [entry["name"] for entry in manifest["inputs"]],
            ["x.u.v", "x.list.0", "x.list.1", "scale", "more.0"],
        )
        self.assertEqual(
            [entry["name"] for entry in manifest["outputs"]], ["extra.0"]
        )

    def test_keyword_inputs_keep_their_names(self):
        x = batch()
        replay = self.assert_bitwise(Keywords(), {"y": x, "x": x})
        manifest = replay.manifest
        self.assertEqual(
            {entry["name"] for entry in manifest["inputs"]}, {"x", "y"}
        )

    def test_numbers_are_fixed_in_the_graph(self):
        class Scaled(Pair):
            def forward(self, x, scale, flag=None):
                return super().forward(x) * scale

        replay = self.assert_bitwise(
            Scaled(), {"x": batch(), "scale": 3, "flag": None}
        )
        names = [entry["name"] for entry in replay.manifest["inputs"]]
        self.assertEqual(names, ["x"])

    def test_one_tensor_for_two_inputs(self):
        class Sum(Pair):
            def forward(self, x, y):
                return super().forward(x + y.T)

        x = torch.randn(8, 8)
        replay = self.assert_bitwise(Sum(), (x, x))
        self.assertEqual(len(replay.manifest["inputs"]), 2)

    def test_tied_buffers(self):
        class Tables(Pair):
            def __init__(self):
                super().__init__()
                table = torch.randn(16)
                self.register_buffer("p", table)
                self.register_buffer("q", table)

            def middle(self, x):
                return x * self.p + self.q

        manifest = self.assert_bitwise(Tables(), (batch(),)).manifest
        (entry,) = manifest["buffers"]
        self.assertEqual(entry["fqn"], "p")
        self.assertEqual(entry["aliases"], ["q"])
        self.assertTrue(entry["persistent"])


if __name__ == "__main__":
    unittest.main()
