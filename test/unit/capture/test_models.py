# ===- test_models.py - The built-in models --------------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The built-in models."""

import unittest

import torch

from fixtures import CaptureTest
from simplefsdp_capture import fake_weights
from simplefsdp_capture.models import BUILT_IN, build, configure

# Published parameter counts: Llama 3.2 1B and Llama 3.1 8B, 70B, 405B; the
# four GPT-2; ViT-B/16, ViT-L/16 and ResNet-18 with 1000 classes.
PUBLISHED = {
    ("llama", "1b"): 1_235_814_400,
    ("llama", "8b"): 8_030_261_248,
    ("llama", "70b"): 70_553_706_496,
    ("llama", "405b"): 405_853_388_800,
    ("gpt2", "124m"): 124_439_808,
    ("gpt2", "355m"): 354_823_168,
    ("gpt2", "774m"): 774_030_080,
    ("gpt2", "1.5b"): 1_557_611_200,
    ("vit", "b16"): 86_567_656,
    ("vit", "l16"): 304_326_632,
    ("resnet18", "imagenet"): 11_689_512,
}


class Published(unittest.TestCase):
    def test_parameter_counts(self):
        for (name, size), count in PUBLISHED.items():
            with self.subTest(name=name, size=size), fake_weights():
                model, _ = build(*configure(name, size, fake=True))
                elements = sum(p.numel() for p in model.parameters())
            self.assertEqual(elements, count)


class Llama(CaptureTest):
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


class Gpt2(CaptureTest):
    def test_parameter_names_are_those_of_the_published_weights(self):
        model, _ = build(*configure("gpt2"))
        names = [name for name, _ in model.named_parameters()]
        block = [
            f"{part}.{kind}"
            for part in (
                *("ln_1", "attn.c_attn", "attn.c_proj"),
                *("ln_2", "mlp.c_fc", "mlp.c_proj"),
            )
            for kind in ("weight", "bias")
        ]
        expected = ["wte.weight", "wpe.weight"]
        for layer in range(2):
            expected += [f"h.{layer}.{name}" for name in block]
        expected += ["ln_f.weight", "ln_f.bias"]
        self.assertEqual(names, expected)
        self.assertEqual(model.h[0].attn.c_attn.weight.shape, (32, 96))

    def test_a_token_sees_no_later_one(self):
        model, inputs = build(*configure("gpt2"))
        hidden = []
        model.ln_f.register_forward_hook(
            lambda module, args, result: hidden.append(result.detach())
        )
        model(**inputs)
        inputs["tokens"][:, 10:] = 0
        model(**inputs)
        first, second = hidden
        self.assertTrue(torch.equal(first[:, :10], second[:, :10]))
        self.assertFalse(torch.equal(first[:, 10:], second[:, 10:]))


class Transformer(CaptureTest):
    def test_padding_is_not_seen(self):
        model, inputs = build(*configure("transformer"))
        loss = model(**inputs)
        padded = inputs["source"][0] == 0
        self.assertTrue(padded.any())
        with torch.no_grad():
            model.positions[padded] += 1
        inputs["source"] = inputs["source"][:1]
        inputs["target"] = inputs["target"][:1]
        inputs["labels"] = inputs["labels"][:1]
        moved = model(**inputs)
        with torch.no_grad():
            model.positions[padded] -= 1
        self.assertTrue(torch.equal(moved, model(**inputs)))
        self.assertFalse(torch.equal(moved, loss))

    def test_the_decoder_reads_the_encoder(self):
        model, inputs = build(*configure("transformer"))
        loss = model(**inputs)
        inputs["source"] = inputs["source"].flip(1)
        self.assertFalse(torch.equal(loss, model(**inputs)))


class Lora(CaptureTest):
    def test_first_step_is_the_frozen_models(self):
        torch.manual_seed(0)
        model, inputs = build(*configure("lora"))
        torch.manual_seed(0)
        frozen, _ = build(*configure("llama"))
        self.assertTrue(torch.equal(model(**inputs), frozen(**inputs)))
        names = {n for n, p in model.named_parameters() if not p.requires_grad}
        self.assertEqual(names, {n for n, _ in frozen.named_parameters()})


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
