# ===- test_models.py - The built-in models --------------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The built-in models."""

import unittest

import torch

from fixtures import CaptureTest
from simplefsdp_capture import fake_weights
from simplefsdp_capture.models import BUILT_IN, build, configure

# Published parameter counts of Llama 3.2 1B and Llama 3.1 8B, 70B, 405B.
PUBLISHED = {
    "1b": 1_235_814_400,
    "8b": 8_030_261_248,
    "70b": 70_553_706_496,
    "405b": 405_853_388_800,
}


class Llama(CaptureTest):
    def test_published_parameter_counts(self):
        for size, count in PUBLISHED.items():
            with self.subTest(size=size), fake_weights():
                model, _ = build(*configure("llama", size, fake=True))
                elements = sum(p.numel() for p in model.parameters())
            self.assertEqual(elements, count)

    def test_parameter_names_are_torchtitans(self):
        model, _ = build(*configure("llama", "tiny"))
        names = [name for name, _ in model.named_parameters()]
        block = [
            *(f"attention.{w}" for w in ("wq", "wk", "wv", "wo")),
            *(f"feed_forward.{w}" for w in ("w1", "w2", "w3")),
            "attention_norm",
            "ffn_norm",
        ]
        expected = ["tok_embeddings.weight"]
        for layer in range(2):
            expected += [f"layers.{layer}.{name}.weight" for name in block]
        expected += ["norm.weight", "output.weight"]
        self.assertEqual(names, expected)

    def test_first_loss_is_that_of_guessing(self):
        model, inputs = build(*configure("llama", "tiny"))
        # ln(256) = 5.545
        self.assertAlmostEqual(model(**inputs).item(), 5.545, delta=0.1)

    def test_a_token_sees_no_later_one(self):
        model, inputs = build(*configure("llama", "tiny"))
        hidden = []
        model.norm.register_forward_hook(
            lambda module, args, result: hidden.append(result.detach())
        )
        model(**inputs)
        inputs["tokens"][:, 20:] = 0
        model(**inputs)
        first, second = hidden
        self.assertTrue(torch.equal(first[:, :20], second[:, :20]))
        self.assertFalse(torch.equal(first[:, 20:], second[:, 20:]))

    def test_labels_are_the_next_tokens(self):
        _, inputs = build(*configure("llama", "tiny"))
        self.assertTrue(
            torch.equal(inputs["tokens"][:, 1:], inputs["labels"][:, :-1])
        )


class Learning(unittest.TestCase):
    def test_every_small_model_learns(self):
        for name in BUILT_IN:
            torch.manual_seed(0)
            model, inputs = build(*configure(name, "tiny"))
            optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
            losses = []
            for _ in range(10):
                loss = model(**inputs)
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                losses.append(loss.item())
            self.assertLess(losses[-1], 0.9 * losses[0], name)


if __name__ == "__main__":
    unittest.main()
