# ===- mlp.py - Built-in multi-layer perceptron ----------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The smallest model with every ingredient of a training step: weights,
# biases, a non-linearity and a loss.
# Tested by test/unit/capture/test_models.py.
"""Built-in multi-layer perceptron for regression."""

from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import nn


@dataclass(frozen=True)
class MlpConfig:
    """Widths of one perceptron and the default batch of the command."""

    inputs: int
    hidden: int
    outputs: int
    layers: int
    batch: int


SIZES = {
    "tiny": MlpConfig(inputs=16, hidden=32, outputs=4, layers=2, batch=8),
    "small": MlpConfig(inputs=64, hidden=256, outputs=16, layers=4, batch=32),
}


class Mlp(nn.Module):
    """``forward(x, target)`` returns the mean squared error.

    ``x: f32 [batch, inputs]``, ``target: f32 [batch, outputs]``; ``x`` is
    read in the dtype of the weights.
    """

    def __init__(self, config):
        super().__init__()
        widths = [config.inputs]
        widths += [config.hidden] * (config.layers - 1)
        widths += [config.outputs]
        self.layers = nn.ModuleList(
            nn.Linear(a, b) for a, b in zip(widths, widths[1:])
        )

    def forward(self, x, target):
        x = x.to(self.layers[0].weight.dtype)
        for layer in self.layers[:-1]:
            x = F.relu(layer(x))
        return F.mse_loss(self.layers[-1](x).float(), target)


def example_inputs(config):
    """Random inputs and targets in f32."""
    return {
        "x": torch.randn(config.batch, config.inputs),
        "target": torch.randn(config.batch, config.outputs),
    }
