# ===- gpt2.py - Built-in GPT-2 model ---------------------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# A plain single-device GPT-2 with the parameter names and layouts of the
# published weights: projections are stored as [inputs, outputs], and the
# embedding of tokens is the head too.
# Tested by test/unit/capture/test_models.py.
"""Built-in GPT-2 model, in the names of its published weights."""

import math
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import nn

from .tokens import next_token_inputs


@dataclass(frozen=True)
class Gpt2Config:
    """Sizes of one GPT-2; ``seq`` is the length of the position table too."""

    dim: int
    layers: int
    heads: int
    vocab: int
    batch: int
    seq: int
    dropout: float = 0.0
    norm_eps: float = 1e-5


# Published shapes of GPT-2; `tiny` and `small` read bytes.
SIZES = {
    "tiny": Gpt2Config(32, 2, 4, 256, batch=4, seq=16),
    "small": Gpt2Config(256, 4, 8, 256, batch=4, seq=128),
    "124m": Gpt2Config(768, 12, 12, 50257, batch=1, seq=1024),
    "355m": Gpt2Config(1024, 24, 16, 50257, batch=1, seq=1024),
    "774m": Gpt2Config(1280, 36, 20, 50257, batch=1, seq=1024),
    "1.5b": Gpt2Config(1600, 48, 25, 50257, batch=1, seq=1024),
}


class Projection(nn.Module):
    """x @ weight + bias with ``weight: [inputs, outputs]``."""

    def __init__(self, inputs, outputs):
        super().__init__()
        self.weight = nn.Parameter(torch.empty(inputs, outputs))
        self.bias = nn.Parameter(torch.zeros(outputs))

    def forward(self, x):
        rows = x.reshape(-1, x.shape[-1])
        y = torch.addmm(self.bias, rows, self.weight)
        return y.view(*x.shape[:-1], -1)


class Attention(nn.Module):
    """Causal attention; one projection makes query, key and value."""

    def __init__(self, config):
        super().__init__()
        self.heads = config.heads
        self.dropout = config.dropout
        self.c_attn = Projection(config.dim, 3 * config.dim)
        self.c_proj = Projection(config.dim, config.dim)

    def forward(self, x):
        batch, seq, dim = x.shape
        query, key, value = (
            part.view(batch, seq, self.heads, -1).transpose(1, 2)
            for part in self.c_attn(x).split(dim, dim=-1)
        )
        y = F.scaled_dot_product_attention(query, key, value, is_causal=True)
        y = self.c_proj(y.transpose(1, 2).reshape(x.shape))
        return F.dropout(y, self.dropout, self.training)


class FeedForward(nn.Module):
    """Two projections around the tanh form of gelu, four times as wide."""

    def __init__(self, config):
        super().__init__()
        self.dropout = config.dropout
        self.c_fc = Projection(config.dim, 4 * config.dim)
        self.c_proj = Projection(4 * config.dim, config.dim)

    def forward(self, x):
        y = self.c_proj(F.gelu(self.c_fc(x), approximate="tanh"))
        return F.dropout(y, self.dropout, self.training)


class Block(nn.Module):
    """Attention and feed-forward, each behind a norm and around a skip."""

    def __init__(self, config):
        super().__init__()
        self.ln_1 = nn.LayerNorm(config.dim, config.norm_eps)
        self.attn = Attention(config)
        self.ln_2 = nn.LayerNorm(config.dim, config.norm_eps)
        self.mlp = FeedForward(config)

    def forward(self, x):
        x = x + self.attn(self.ln_1(x))
        return x + self.mlp(self.ln_2(x))


class Gpt2(nn.Module):
    """``forward(tokens, labels)``, both i64 [batch, seq], returns the loss.

    The loss is the mean cross entropy of next-token prediction; ``labels``
    are the tokens shifted by one.
    """

    def __init__(self, config):
        super().__init__()
        self.dropout = config.dropout
        self.wte = nn.Embedding(config.vocab, config.dim)
        self.wpe = nn.Embedding(config.seq, config.dim)
        self.h = nn.ModuleList(Block(config) for _ in range(config.layers))
        self.ln_f = nn.LayerNorm(config.dim, config.norm_eps)
        self.lm_head = nn.Linear(config.dim, config.vocab, bias=False)
        self.lm_head.weight = self.wte.weight
        self._init_weights(config.layers)

    def _init_weights(self, layers):
        """Normal; what ends in a skip is smaller the more skips there are."""
        for name, parameter in self.named_parameters():
            if parameter.dim() < 2:
                continue
            ends_in_skip = name.endswith("c_proj.weight")
            scale = 1 / math.sqrt(2 * layers) if ends_in_skip else 1
            nn.init.normal_(parameter, std=0.02 * scale)

    def forward(self, tokens, labels):
        positions = torch.arange(tokens.shape[1])
        x = self.wte(tokens) + self.wpe(positions)
        x = F.dropout(x, self.dropout, self.training)
        for block in self.h:
            x = block(x)
        logits = self.lm_head(self.ln_f(x))
        return F.cross_entropy(
            logits.flatten(0, 1).float(), labels.flatten(0, 1)
        )


example_inputs = next_token_inputs
