# ===- training.py - Training steps by PyTorch itself ----------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# What a compiled plan must equal bit for bit: eager PyTorch on one device, and
# its extension to N data-parallel ranks by docs/semantics.md: gradients are
# summed in rank order, divided once by N, and handed to AdamW. One process
# plays all ranks, so that nothing here is a collective.
# Tested by test/e2e/reference-agrees.py.

from dataclasses import dataclass

import torch
from torch import nn


@dataclass
class Trained:
    """What a run leaves behind.

    losses: one 0-dim tensor per step, the mean over ranks.
    tensors: parameters and persistent buffers by FQN, the last step's gradients
    as `grad.<fqn>`, the last `loss`: what `simplefsdp-run --dump` writes.
    """

    losses: list
    tensors: dict


class CastOnRead(nn.Module):
    """Runs `model` with every parameter cast to `dtype` where it is read."""

    def __init__(self, model, dtype):
        super().__init__()
        self.model = model
        self.dtype = dtype

    def forward(self, **batch):
        if self.dtype is None:
            return self.model(**batch)
        cast = {
            name: parameter.to(self.dtype)
            for name, parameter in self.model.named_parameters()
        }
        return torch.func.functional_call(self.model, cast, kwargs=batch)


def adamw(parameters, lr):
    """The optimizer whose arithmetic the runtime follows."""
    return torch.optim.AdamW(parameters, lr=lr, foreach=False, fused=False)


def batch_at(batches, index):
    """Batch `index` of tensors [batches, ...]; starts over at the end."""
    return {name: t[index % t.shape[0]] for name, t in batches.items()}


def ordered_mean(tensors):
    """Sum in list order, then one division, in the tensors' dtype."""
    total = tensors[0]
    for tensor in tensors[1:]:
        total = total + tensor
    return total / len(tensors) if len(tensors) > 1 else total


def train_eager(
    model,
    batches,
    steps,
    ranks=1,
    lr=1e-3,
    param_dtype=None,
    make_optimizer=adamw,
):
    """Trains `model` in place as `ranks` data-parallel ranks would.

    Rank r of step s reads batch s * ranks + r. With one rank this is plain
    eager training.
    """
    reading = CastOnRead(model, param_dtype)
    parameters = dict(model.named_parameters())
    optimizer = make_optimizer(list(parameters.values()), lr)
    losses = []
    for step in range(steps):
        rank_losses, rank_gradients = [], []
        for rank in range(ranks):
            optimizer.zero_grad()
            loss = reading(**batch_at(batches, step * ranks + rank))
            loss.backward()
            rank_losses.append(loss.detach())
            rank_gradients.append({n: p.grad for n, p in parameters.items()})
        for name, parameter in parameters.items():
            gradients = [of_rank[name] for of_rank in rank_gradients]
            parameter.grad = mean_gradient(gradients)
        optimizer.step()
        losses.append(ordered_mean(rank_losses))
    return Trained(losses, dump_of(model, losses[-1]))


def mean_gradient(gradients):
    """None for a parameter that no path to the loss uses."""
    return None if gradients[0] is None else ordered_mean(gradients)


def dump_of(model, loss):
    """Loss, parameters, buffers and gradients as a runtime dump has them."""
    tensors = {"loss": loss.clone()}
    state = model.state_dict()
    tensors |= {n: b.clone() for n, b in model.named_buffers() if n in state}
    for name, parameter in model.named_parameters():
        tensors[name] = whole(parameter.detach()).clone()
        if parameter.grad is not None:
            tensors[f"grad.{name}"] = whole(parameter.grad).clone()
    return tensors


def whole(tensor):
    """The tensor itself, gathered when it is a DTensor."""
    return tensor.full_tensor() if hasattr(tensor, "full_tensor") else tensor
