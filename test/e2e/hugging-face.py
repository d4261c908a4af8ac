# ===- hugging-face.py - Models of transformers train to PyTorch's bits ----===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# REQUIRES: transformers
# RUN: rm -rf %t && %python %s %t
#
# Llama and GPT-2 as Hugging Face writes them, with random weights of small
# configurations; nothing is downloaded. Both modes on 1 and 2 ranks.
# `tools/build --test-packages` installs transformers.

import os
import pathlib
import sys

os.environ["HF_HUB_OFFLINE"] = "1"

import torch  # noqa: E402
from support.compare import Checks  # noqa: E402
from support.small import SmallStep  # noqa: E402
from support.steps import DTYPES  # noqa: E402
from torch import nn  # noqa: E402
from transformers import (  # noqa: E402
    GPT2Config,
    GPT2LMHeadModel,
    LlamaConfig,
    LlamaForCausalLM,
)

STEPS = 20
VOCABULARY = 128
SEQ = 16


def llama():
    return LlamaForCausalLM(
        LlamaConfig(
            vocab_size=VOCABULARY,
            hidden_size=32,
            intermediate_size=64,
            num_hidden_layers=2,
            num_attention_heads=4,
            num_key_value_heads=2,
            max_position_embeddings=SEQ,
        )
    )


def gpt2():
    return GPT2LMHeadModel(
        GPT2Config(
            vocab_size=VOCABULARY,
            n_positions=SEQ,
            n_embd=32,
            n_layer=2,
            n_head=4,
            bos_token_id=0,
            eos_token_id=0,
            resid_pdrop=0.0,
            embd_pdrop=0.0,
            attn_pdrop=0.0,
        )
    )


class LossOf(nn.Module):
    """The loss alone of a causal language model.

    Without a mask transformers makes one under tracing and none eagerly, and
    attention with grouped heads then takes other kernels, whose gradients
    differ in bf16 though not in f32. With `masked` both get the same mask.
    """

    def __init__(self, model, masked):
        super().__init__()
        self.model = model
        self.masked = masked

    def forward(self, tokens):
        mask = None
        if self.masked:
            mask = torch.ones(1, 1, SEQ, SEQ, dtype=torch.bool).tril()
            mask = mask.expand(tokens.shape[0], -1, -1, -1)
        result = self.model(
            input_ids=tokens,
            attention_mask=mask,
            labels=tokens,
            use_cache=False,
        )
        return result.loss


def check_model(check, make, dtype, folder):
    def build_model():
        torch.manual_seed(0)
        masked = make is llama and dtype == "bf16"
        return LossOf(make(), masked).train()

    generator = torch.Generator().manual_seed(1)
    batches = [
        {"tokens": torch.randint(VOCABULARY, (4, SEQ), generator=generator)}
        for _ in range(2 * STEPS)
    ]
    name = f"{make.__name__}-{dtype}"
    step = SmallStep(
        build_model, batches, folder / name, DTYPES[dtype]
    ).capture()
    for ranks in (1, 2):
        expected = step.train_eager(ranks, STEPS)
        for mode in ("replicate", "fully_shard"):
            plan = step.compile(
                f"mesh=dp:{ranks} mode={mode} optimizer=adamw "
                "results=gradients",
                f"{mode}-{ranks}",
            )
            actual = step.train(plan, ranks, STEPS, lr=1e-3)
            check.same_run(
                f"{name}, {mode} on {ranks} ranks", expected, actual
            )


folder = pathlib.Path(sys.argv[1])
torch.set_num_threads(1)
with Checks() as check:
    for dtype in ("f32", "bf16"):
        for make in (llama, gpt2):
            check_model(check, make, dtype, folder)
