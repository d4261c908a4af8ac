# ===- vit.py - Built-in vision transformer ---------------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# A plain single-device vision transformer (Dosovitskiy et al., 2020) with
# timm's parameter names: patches by a convolution, a class token, pre-norm
# blocks.
# Tested by test/unit/capture/test_models.py.
"""Built-in vision transformer, in timm's parameter names."""

from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import nn

from .images import image_inputs


@dataclass(frozen=True)
class VitConfig:
    """Sizes of one vision transformer; ``image`` and ``patch`` in pixels."""

    dim: int
    layers: int
    heads: int
    image: int
    patch: int
    classes: int
    batch: int
    norm_eps: float = 1e-6


# Published shapes of ViT-B/16 and ViT-L/16 at 224 pixels.
SIZES = {
    "tiny": VitConfig(32, 2, 4, image=16, patch=4, classes=10, batch=4),
    "b16": VitConfig(768, 12, 12, image=224, patch=16, classes=1000, batch=1),
    "l16": VitConfig(1024, 24, 16, image=224, patch=16, classes=1000, batch=1),
}


class PatchEmbedding(nn.Module):
    """[batch, 3, image, image] to one vector per patch."""

    def __init__(self, config):
        super().__init__()
        self.proj = nn.Conv2d(
            3, config.dim, kernel_size=config.patch, stride=config.patch
        )

    def forward(self, images):
        return self.proj(images).flatten(2).transpose(1, 2)


class Attention(nn.Module):
    """Attention without mask; one projection makes query, key and value."""

    def __init__(self, config):
        super().__init__()
        self.heads = config.heads
        self.qkv = nn.Linear(config.dim, 3 * config.dim)
        self.proj = nn.Linear(config.dim, config.dim)

    def forward(self, x):
        batch, seq, dim = x.shape
        qkv = self.qkv(x).view(batch, seq, 3, self.heads, -1)
        query, key, value = qkv.permute(2, 0, 3, 1, 4).unbind(0)
        y = F.scaled_dot_product_attention(query, key, value)
        return self.proj(y.transpose(1, 2).reshape(batch, seq, dim))


class FeedForward(nn.Module):
    """Two layers around gelu, four times as wide."""

    def __init__(self, config):
        super().__init__()
        self.fc1 = nn.Linear(config.dim, 4 * config.dim)
        self.fc2 = nn.Linear(4 * config.dim, config.dim)

    def forward(self, x):
        return self.fc2(F.gelu(self.fc1(x)))


class Block(nn.Module):
    """Attention and feed-forward, each behind a norm and around a skip."""

    def __init__(self, config):
        super().__init__()
        self.norm1 = nn.LayerNorm(config.dim, config.norm_eps)
        self.attn = Attention(config)
        self.norm2 = nn.LayerNorm(config.dim, config.norm_eps)
        self.mlp = FeedForward(config)

    def forward(self, x):
        x = x + self.attn(self.norm1(x))
        return x + self.mlp(self.norm2(x))


class Vit(nn.Module):
    """``forward(images, labels)`` returns the mean cross entropy.

    ``images: f32 [batch, 3, image, image]``, read in the dtype of the weights;
    ``labels: i64 [batch]``.
    """

    def __init__(self, config):
        super().__init__()
        tokens = (config.image // config.patch) ** 2 + 1
        self.cls_token = nn.Parameter(torch.zeros(1, 1, config.dim))
        self.pos_embed = nn.Parameter(torch.empty(1, tokens, config.dim))
        self.patch_embed = PatchEmbedding(config)
        self.blocks = nn.ModuleList(
            Block(config) for _ in range(config.layers)
        )
        self.norm = nn.LayerNorm(config.dim, config.norm_eps)
        self.head = nn.Linear(config.dim, config.classes)
        for parameter in self.parameters():
            if parameter.dim() > 1:
                nn.init.normal_(parameter, std=0.02)

    def forward(self, images, labels):
        images = images.to(self.patch_embed.proj.weight.dtype)
        x = self.patch_embed(images)
        first = self.cls_token.expand(x.shape[0], -1, -1)
        x = torch.cat((first, x), dim=1) + self.pos_embed
        for block in self.blocks:
            x = block(x)
        logits = self.head(self.norm(x)[:, 0])
        return F.cross_entropy(logits.float(), labels)


example_inputs = image_inputs
