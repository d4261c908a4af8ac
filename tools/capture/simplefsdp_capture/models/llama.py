# ===- llama.py - Built-in Llama 3 model -----------------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# A plain single-device Llama with torchtitan's parameter names. Rotary
# embeddings use real sine and cosine tables and rotate halves, as Hugging
# Face does, so the graph has no complex number; the rows of wq and wk are
# therefore in Hugging Face's order.
# Tested by test/unit/capture/test_models.py.
"""Built-in Llama 3 model, in torchtitan's parameter names."""

from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import nn

from ..fake import real_tensors
from .tokens import next_token_inputs


@dataclass(frozen=True)
class LlamaConfig:
    """Sizes of one Llama; ``ffn_dim`` is the width of the feed-forward."""

    dim: int
    layers: int
    heads: int
    kv_heads: int
    ffn_dim: int
    vocab: int
    batch: int
    seq: int
    tied: bool = False
    rope_theta: float = 500000.0
    norm_eps: float = 1e-5

    @property
    def head_dim(self):
        return self.dim // self.heads


# Published shapes of Llama 3.1 (8b, 70b, 405b) and 3.2 (1b); `tiny` and
# `small` read bytes. Batch and sequence length are defaults of the command.
SIZES = {
    "tiny": LlamaConfig(64, 2, 4, 2, 192, 256, batch=4, seq=32),
    "small": LlamaConfig(256, 4, 8, 4, 768, 256, batch=4, seq=128),
    "1b": LlamaConfig(
        2048, 16, 32, 8, 8192, 128256, batch=1, seq=2048, tied=True
    ),
    "8b": LlamaConfig(4096, 32, 32, 8, 14336, 128256, batch=1, seq=2048),
    "70b": LlamaConfig(8192, 80, 64, 8, 28672, 128256, batch=1, seq=2048),
    "405b": LlamaConfig(16384, 126, 128, 8, 53248, 128256, batch=1, seq=2048),
}


def rotary_tables(config):
    """Cosine and sine of every position: two f32 tables [seq, head_dim]."""
    exponents = torch.arange(0, config.head_dim, 2).float() / config.head_dim
    frequencies = config.rope_theta**-exponents
    angles = torch.outer(torch.arange(config.seq).float(), frequencies)
    angles = torch.cat((angles, angles), dim=-1)
    return angles.cos(), angles.sin()


def rotate(x, cosine, sine):
    """Rotary embedding of ``x: [batch, heads, seq, head_dim]``, in f32."""
    wide = x.float()
    low, high = wide.chunk(2, dim=-1)
    turned = torch.cat((-high, low), dim=-1)
    return (wide * cosine + turned * sine).type_as(x)


class RMSNorm(nn.Module):
    """x / rms(x) * weight, with the mean of squares in f32."""

    def __init__(self, dim, eps):
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(dim))

    def forward(self, x):
        wide = x.float()
        mean_square = wide.pow(2).mean(-1, keepdim=True)
        scaled = wide * torch.rsqrt(mean_square + self.eps)
        return scaled.type_as(x) * self.weight


class Attention(nn.Module):
    """Causal attention with grouped key and value heads."""

    def __init__(self, config):
        super().__init__()
        self.heads = config.heads
        self.kv_heads = config.kv_heads
        self.head_dim = config.head_dim
        kv_dim = config.kv_heads * config.head_dim
        self.wq = nn.Linear(config.dim, config.dim, bias=False)
        self.wk = nn.Linear(config.dim, kv_dim, bias=False)
        self.wv = nn.Linear(config.dim, kv_dim, bias=False)
        self.wo = nn.Linear(config.dim, config.dim, bias=False)

    def split_heads(self, x, heads):
        """[batch, seq, heads * head_dim] to [batch, heads, seq, head_dim]."""
        batch, seq, _ = x.shape
        return x.view(batch, seq, heads, self.head_dim).transpose(1, 2)

    def repeat_heads(self, x):
        """Repeats each key or value head for its group of query heads."""
        batch, heads, seq, head_dim = x.shape
        groups = self.heads // self.kv_heads
        if groups == 1:
            return x
        x = x[:, :, None].expand(batch, heads, groups, seq, head_dim)
        return x.reshape(batch, heads * groups, seq, head_dim)

    def forward(self, x, cosine, sine):
        query = self.split_heads(self.wq(x), self.heads)
        key = self.split_heads(self.wk(x), self.kv_heads)
        value = self.split_heads(self.wv(x), self.kv_heads)
        query = rotate(query, cosine, sine)
        key = self.repeat_heads(rotate(key, cosine, sine))
        value = self.repeat_heads(value)
        y = F.scaled_dot_product_attention(query, key, value, is_causal=True)
        return self.wo(y.transpose(1, 2).reshape(x.shape))


class FeedForward(nn.Module):
    """SwiGLU: w2(silu(w1 x) * w3 x)."""

    def __init__(self, config):
        super().__init__()
        self.w1 = nn.Linear(config.dim, config.ffn_dim, bias=False)
        self.w2 = nn.Linear(config.ffn_dim, config.dim, bias=False)
        self.w3 = nn.Linear(config.dim, config.ffn_dim, bias=False)

    def forward(self, x):
        return self.w2(F.silu(self.w1(x)) * self.w3(x))


class Block(nn.Module):
    """Attention and feed-forward, each behind a norm and around a skip."""

    def __init__(self, config):
        super().__init__()
        self.attention = Attention(config)
        self.feed_forward = FeedForward(config)
        self.attention_norm = RMSNorm(config.dim, config.norm_eps)
        self.ffn_norm = RMSNorm(config.dim, config.norm_eps)

    def forward(self, x, cosine, sine):
        x = x + self.attention(self.attention_norm(x), cosine, sine)
        return x + self.feed_forward(self.ffn_norm(x))


class Llama(nn.Module):
    """``forward(tokens, labels)``, both i64 [batch, seq], returns the loss.

    The loss is the mean cross entropy of next-token prediction; ``labels``
    are the tokens shifted by one.
    """

    def __init__(self, config):
        super().__init__()
        self.tok_embeddings = nn.Embedding(config.vocab, config.dim)
        self.layers = nn.ModuleList(
            Block(config) for _ in range(config.layers)
        )
        self.norm = RMSNorm(config.dim, config.norm_eps)
        self.output = nn.Linear(config.dim, config.vocab, bias=False)
        with real_tensors():
            cosine, sine = rotary_tables(config)
        self.register_buffer("rope_cos", cosine, persistent=False)
        self.register_buffer("rope_sin", sine, persistent=False)
        for parameter in self.parameters():
            if parameter.dim() > 1:
                nn.init.normal_(parameter, std=0.02)
        if config.tied:
            self.output.weight = self.tok_embeddings.weight

    def forward(self, tokens, labels):
        seq = tokens.shape[1]
        cosine, sine = self.rope_cos[:seq], self.rope_sin[:seq]
        x = self.tok_embeddings(tokens)
        for layer in self.layers:
            x = layer(x, cosine, sine)
        logits = self.output(self.norm(x))
        return F.cross_entropy(
            logits.flatten(0, 1).float(), labels.flatten(0, 1)
        )


example_inputs = next_token_inputs
