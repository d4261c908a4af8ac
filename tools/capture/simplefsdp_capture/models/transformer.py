# ===- transformer.py - Built-in encoder-decoder transformer ---------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# A plain single-device encoder-decoder (Vaswani et al., 2017): norms after the
# skips, sine and cosine positions, cross attention, padding that attention
# does not see, and one table as both embeddings and the head.
# Tested by test/unit/capture/test_models.py.
"""Built-in encoder-decoder transformer with cross attention."""

import math
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import nn

from ..fake import real_tensors

PADDING = 0


@dataclass(frozen=True)
class TransformerConfig:
    """Sizes of one transformer; ``layers`` counts each side alone.

    ``seq`` is the length of the source; the target is half as long.
    """

    dim: int
    layers: int
    heads: int
    ffn_dim: int
    vocab: int
    batch: int
    seq: int
    dropout: float = 0.0


# `base` and `big` are the shapes of the paper.
SIZES = {
    "tiny": TransformerConfig(32, 2, 4, 64, 64, batch=4, seq=12),
    "base": TransformerConfig(512, 6, 8, 2048, 37000, batch=4, seq=256),
    "big": TransformerConfig(1024, 6, 16, 4096, 37000, batch=4, seq=256),
}


def position_table(length, dim):
    """Sine and cosine of every position: f32 [length, dim]."""
    frequencies = 10000.0 ** (-torch.arange(0, dim, 2).float() / dim)
    angles = torch.outer(torch.arange(length).float(), frequencies)
    return torch.stack((angles.sin(), angles.cos()), dim=-1).flatten(1)


class Attention(nn.Module):
    """Attention of ``x`` to ``memory``, which is ``x`` in self attention."""

    def __init__(self, config):
        super().__init__()
        self.heads = config.heads
        self.query = nn.Linear(config.dim, config.dim)
        self.key = nn.Linear(config.dim, config.dim)
        self.value = nn.Linear(config.dim, config.dim)
        self.out = nn.Linear(config.dim, config.dim)

    def split_heads(self, x):
        """[batch, seq, dim] to [batch, heads, seq, dim / heads]."""
        batch, seq, _ = x.shape
        return x.view(batch, seq, self.heads, -1).transpose(1, 2)

    def forward(self, x, memory, mask=None, is_causal=False):
        y = F.scaled_dot_product_attention(
            self.split_heads(self.query(x)),
            self.split_heads(self.key(memory)),
            self.split_heads(self.value(memory)),
            attn_mask=mask,
            is_causal=is_causal,
        )
        return self.out(y.transpose(1, 2).reshape(x.shape))


class FeedForward(nn.Module):
    """Two layers around relu."""

    def __init__(self, config):
        super().__init__()
        self.linear1 = nn.Linear(config.dim, config.ffn_dim)
        self.linear2 = nn.Linear(config.ffn_dim, config.dim)

    def forward(self, x):
        return self.linear2(F.relu(self.linear1(x)))


class Skip(nn.Module):
    """norm(x + dropout(y))."""

    def __init__(self, config):
        super().__init__()
        self.dropout = config.dropout
        self.norm = nn.LayerNorm(config.dim)

    def forward(self, x, y):
        return self.norm(x + F.dropout(y, self.dropout, self.training))


class EncoderLayer(nn.Module):
    """Self attention and feed-forward."""

    def __init__(self, config):
        super().__init__()
        self.self_attention = Attention(config)
        self.self_skip = Skip(config)
        self.feed_forward = FeedForward(config)
        self.feed_forward_skip = Skip(config)

    def forward(self, x, mask):
        x = self.self_skip(x, self.self_attention(x, x, mask))
        return self.feed_forward_skip(x, self.feed_forward(x))


class DecoderLayer(nn.Module):
    """Causal self attention, attention to the encoder, feed-forward."""

    def __init__(self, config):
        super().__init__()
        self.self_attention = Attention(config)
        self.self_skip = Skip(config)
        self.cross_attention = Attention(config)
        self.cross_skip = Skip(config)
        self.feed_forward = FeedForward(config)
        self.feed_forward_skip = Skip(config)

    def forward(self, x, memory, memory_mask):
        x = self.self_skip(x, self.self_attention(x, x, is_causal=True))
        seen = self.cross_attention(x, memory, memory_mask)
        x = self.cross_skip(x, seen)
        return self.feed_forward_skip(x, self.feed_forward(x))


class Transformer(nn.Module):
    """``forward(source, target, labels)``, all i64, returns the loss.

    ``source: [batch, seq]`` may end in padding; ``target, labels: [batch,
    seq / 2]``, labels shifted by one. The loss is the mean cross entropy over
    the labels that are no padding.
    """

    def __init__(self, config):
        super().__init__()
        self.dim = config.dim
        self.dropout = config.dropout
        self.source_embedding = nn.Embedding(config.vocab, config.dim)
        self.target_embedding = nn.Embedding(config.vocab, config.dim)
        self.encoder = nn.ModuleList(
            EncoderLayer(config) for _ in range(config.layers)
        )
        self.decoder = nn.ModuleList(
            DecoderLayer(config) for _ in range(config.layers)
        )
        self.head = nn.Linear(config.dim, config.vocab, bias=False)
        with real_tensors():
            positions = position_table(config.seq, config.dim)
        self.register_buffer("positions", positions, persistent=False)
        for parameter in self.parameters():
            if parameter.dim() > 1:
                nn.init.xavier_uniform_(parameter)
        nn.init.normal_(self.source_embedding.weight, std=config.dim**-0.5)
        self.target_embedding.weight = self.source_embedding.weight
        self.head.weight = self.source_embedding.weight

    def embed(self, embedding, tokens):
        """[batch, seq] to [batch, seq, dim], in the dtype of the weights."""
        x = embedding(tokens) * math.sqrt(self.dim)
        x = x + self.positions[: tokens.shape[1]].type_as(x)
        return F.dropout(x, self.dropout, self.training)

    def forward(self, source, target, labels):
        mask = (source != PADDING)[:, None, None, :]
        memory = self.embed(self.source_embedding, source)
        for layer in self.encoder:
            memory = layer(memory, mask)
        x = self.embed(self.target_embedding, target)
        for layer in self.decoder:
            x = layer(x, memory, mask)
        return F.cross_entropy(
            self.head(x).flatten(0, 1).float(),
            labels.flatten(0, 1),
            ignore_index=PADDING,
        )


def example_inputs(config):
    """Random sentences; the first one of a batch is half padding."""
    half = config.seq // 2
    source = torch.randint(1, config.vocab, (config.batch, config.seq))
    source[0, half:] = PADDING
    target = torch.randint(1, config.vocab, (config.batch, half + 1))
    return {
        "source": source,
        "target": target[:, :-1].contiguous(),
        "labels": target[:, 1:].contiguous(),
    }
