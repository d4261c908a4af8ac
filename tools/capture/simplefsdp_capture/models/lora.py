# ===- lora.py - Built-in Llama with low-rank adapters ---------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The built-in Llama, frozen, with trainable low-rank adapters beside the
# projections of attention and feed-forward (Hu et al., 2021). Names of frozen
# parameters are those of the Llama, so its weights load.
# Tested by test/unit/capture/test_models.py.
"""Built-in Llama with frozen weights and trainable low-rank adapters."""

import math
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import nn

from . import llama
from .tokens import next_token_inputs


@dataclass(frozen=True)
class LoraConfig(llama.LlamaConfig):
    """Sizes of one adapted Llama: ``rank`` of the adapters, and their scale.

    An adapter adds ``scale * B (A x)``.
    """

    rank: int = 8
    scale: float = 2.0


SIZES = {
    size: LoraConfig(**vars(config)) for size, config in llama.SIZES.items()
}


class Adapted(nn.Linear):
    """x @ weight.T with a frozen weight, plus scale * (x @ a.T) @ b.T.

    ``lora_a: [rank, inputs]`` starts random, ``lora_b: [outputs, rank]`` as
    zeros, so that the first step is the frozen model's.
    """

    def __init__(self, inputs, outputs, rank, scale):
        super().__init__(inputs, outputs, bias=False)
        self.weight.requires_grad_(False)
        self.scale = scale
        self.lora_a = nn.Parameter(torch.empty(rank, inputs))
        self.lora_b = nn.Parameter(torch.zeros(outputs, rank))
        nn.init.kaiming_uniform_(self.lora_a, a=math.sqrt(5))

    def forward(self, x):
        low = F.linear(x, self.lora_a)
        return super().forward(x) + self.scale * F.linear(low, self.lora_b)


def adapt(module, config):
    """Puts an adapted layer, with the same weight, in place of each linear."""
    for name, child in module.named_children():
        if not isinstance(child, nn.Linear):
            adapt(child, config)
            continue
        adapted = Adapted(
            child.in_features, child.out_features, config.rank, config.scale
        )
        adapted.weight = child.weight
        setattr(module, name, adapted)


class Lora(llama.Llama):
    """``forward`` of the built-in Llama; only adapters are trained."""

    def __init__(self, config):
        super().__init__(config)
        self.requires_grad_(False)
        adapt(self.layers, config)


example_inputs = next_token_inputs
