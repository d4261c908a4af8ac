# ===- training.py - Training steps by PyTorch itself ----------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# What a compiled plan must equal bit for bit: eager PyTorch on one device, and
# its extension to N data-parallel ranks by docs/semantics.md: gradients are
# summed in rank order, divided once by N, clipped, and handed to AdamW. One
# process plays all ranks, so that nothing here is a collective.
# Tested by test/e2e/reference-agrees.py.

import contextlib
import math
from dataclasses import dataclass, field

import torch
from torch import nn


@dataclass
class Trained:
    """What a run leaves behind.

    losses: one 0-dim tensor per step, the mean over ranks.
    tensors: parameters and persistent buffers by FQN, the last step's gradients
    as `grad.<fqn>`, the last `loss`: what `simplefsdp-run --dump` writes.
    norms: one 0-dim tensor per step, that of all gradients before clipping;
    empty when it is not formed.
    """

    losses: list
    tensors: dict
    norms: list = field(default_factory=list)


@dataclass(frozen=True)
class Clipping:
    """What happens to gradients before the optimizer.

    max_norm: None leaves them alone. skips: no optimizer step when the norm is
    not finite. chunks: of each gradient, for its norm; None for one per rank.
    """

    max_norm: float | None = None
    skips: bool = False
    chunks: int | None = None


class CastOnRead(nn.Module):
    """Runs `model` with every parameter cast to `dtype` where it is read.

    Each name of a tied parameter has a cast of its own, so that its gradients
    are added in the stored dtype. Batch norms read theirs as stored.
    """

    def __init__(self, model, dtype):
        super().__init__()
        self.model = model
        self.dtype = dtype

    def forward(self, **batch):
        if self.dtype is None:
            return self.model(**batch)
        cast = {
            f"{prefix}.{name}" if prefix else name: parameter.to(self.dtype)
            for prefix, module in self.model.named_modules()
            if not isinstance(module, nn.BatchNorm2d)
            for name, parameter in module.named_parameters(recurse=False)
        }
        return torch.func.functional_call(
            self.model, cast, kwargs=batch, tie_weights=False
        )


def adamw(parameters, lr):
    """The optimizer whose arithmetic the runtime follows."""
    return torch.optim.AdamW(parameters, lr=lr, foreach=False, fused=False)


def batch_at(batches, index):
    """Batch `index` of tensors [batches, ...]; starts over at the end."""
    return {name: t[index % t.shape[0]] for name, t in batches.items()}


@dataclass(frozen=True)
class Reduction:
    """How gradients of several ranks and micro-batches become one.

    grouped: ranks per block; blocks are summed first, each in rank order.
    replicas_first: hybrid meshes only: for each place in a replica of `grouped`
    ranks, sum over the replicas; then over the places.
    divisor: None for the number of summands.
    sync: "each" reduces every micro-batch and adds the sums, "last" adds the
    micro-batches of each rank and reduces once, "shard-each-replica-last" sums
    within replicas of `grouped` ranks every time and over them at the end.
    """

    grouped: int | None = None
    replicas_first: bool = False
    divisor: float | None = None
    sync: str = "each"


def ordered_sum(tensors):
    """The sum in list order, in the tensors' dtype."""
    total = tensors[0]
    for tensor in tensors[1:]:
        total = total + tensor
    return total


def ordered_mean(tensors):
    """Sum in list order, then one division, in the tensors' dtype."""
    total = ordered_sum(tensors)
    return total / len(tensors) if len(tensors) > 1 else total


def sum_over_ranks(tensors, reduction):
    """One tensor per rank, summed in the reduction's order."""
    block = reduction.grouped or len(tensors)
    if reduction.replicas_first:
        places = [ordered_sum(tensors[i::block]) for i in range(block)]
        return ordered_sum(places)
    return ordered_sum(replica_sums(tensors, block))


def replica_sums(tensors, ranks):
    """The sum within each replica of `ranks` ranks."""
    starts = range(0, len(tensors), ranks)
    return [ordered_sum(tensors[i : i + ranks]) for i in starts]


def reduced(gradients, reduction):
    """`gradients[micro-batch][rank]` of one parameter as one gradient."""
    if reduction.sync == "each":
        sums = [sum_over_ranks(of, reduction) for of in gradients]
        total = ordered_sum(sums)
    elif reduction.sync == "last":
        ranks = [ordered_sum(of) for of in zip(*gradients)]
        total = sum_over_ranks(ranks, reduction)
    else:
        replicas = [replica_sums(of, reduction.grouped) for of in gradients]
        total = ordered_sum([ordered_sum(of) for of in zip(*replicas)])
    count = len(gradients) * len(gradients[0])
    divisor = reduction.divisor or count
    return total / divisor if divisor != 1 else total


def train_eager(
    model,
    batches,
    steps,
    ranks=1,
    lr=1e-3,
    param_dtype=None,
    make_optimizer=adamw,
    micro_batches=1,
    reduction=Reduction(),
    broadcast_buffers=False,
    drawing=None,
    clipping=None,
):
    """Trains `model` in place as `ranks` data-parallel ranks would.

    Micro-batch j of step s reads batch (s * micro_batches + j) * ranks + r on
    rank r. With one rank and one micro-batch this is plain eager training.
    Each rank has buffers of its own, or starts each batch with those of rank 0;
    the model is left with those of rank 0, which are what a dump holds.
    `drawing(step, micro_batch, rank)` is a context in which forward runs; steps
    count from 1.
    `make_optimizer` takes the parameters, or named ones if it has the attribute
    `takes_names`.
    """
    drawing = drawing or (lambda *position: contextlib.nullcontext())
    reading = CastOnRead(model, param_dtype)
    parameters = dict(model.named_parameters())
    optimizer = _optimizer_of(make_optimizer, parameters, lr)
    buffers = [copy_of_buffers(model) for _ in range(ranks)]
    losses, norms = [], []
    for step in range(steps):
        # [micro-batch][rank]
        step_losses, step_gradients = [], []
        for micro in range(micro_batches):
            first = (step * micro_batches + micro) * ranks
            micro_losses, micro_gradients = [], []
            if broadcast_buffers:
                buffers = [buffers[0]] * ranks
            for rank in range(ranks):
                optimizer.zero_grad()
                set_buffers(model, buffers[rank])
                with drawing(step + 1, micro, rank):
                    loss = reading(**batch_at(batches, first + rank))
                loss.backward()
                buffers[rank] = copy_of_buffers(model)
                micro_losses.append(loss.detach())
                micro_gradients.append(
                    {n: p.grad for n, p in parameters.items()}
                )
            step_losses.append(micro_losses)
            step_gradients.append(micro_gradients)
        for name, parameter in parameters.items():
            gradients = [[g[name] for g in of] for of in step_gradients]
            # None for a parameter that no path to the loss uses.
            unused = gradients[0][0] is None
            parameter.grad = None if unused else reduced(gradients, reduction)
        if clipping is None:
            optimizer.step()
        else:
            trained = [p for p in parameters.values() if p.grad is not None]
            norms.append(_clipped_step(trained, optimizer, clipping, ranks))
        losses.append(without_sign(mean_loss(step_losses)))
    set_buffers(model, buffers[0])
    return Trained(losses, dump_of(model, losses[-1]), norms)


def _optimizer_of(make_optimizer, parameters, lr):
    takes_names = getattr(make_optimizer, "takes_names", False)
    chosen = parameters if takes_names else list(parameters.values())
    return make_optimizer(chosen, lr)


def _clipped_step(parameters, optimizer, clipping, ranks):
    """Steps on clipped gradients, leaves the others, returns their norm."""
    gradients = [p.grad for p in parameters]
    chunks = clipping.chunks or ranks
    norm = norm_of_chunks(gradients, chunks)
    for parameter in parameters:
        parameter.grad = parameter.grad.clone()
    if clipping.max_norm is not None and chunks == 1:
        norm = torch.nn.utils.clip_grad_norm_(
            parameters, clipping.max_norm, foreach=False
        )
    elif clipping.max_norm is not None:
        torch.nn.utils.clip_grads_with_norm_(
            parameters, clipping.max_norm, norm, foreach=False
        )
    if not clipping.skips or math.isfinite(norm):
        optimizer.step()
    for parameter, gradient in zip(parameters, gradients):
        parameter.grad = gradient
    return without_sign(norm)


def without_sign(number):
    """The same, but one NaN for all: metrics don't tell them apart."""
    return torch.where(number.isnan(), float("nan"), number)


def norm_of_chunks(gradients, chunks):
    """The norm of all gradients by docs/semantics.md.

    The norm of a gradient is the root of the squares, added in order, of the
    norms of its chunks of rows; with one chunk it is the norm itself.
    """
    norms = []
    for gradient in gradients:
        if chunks == 1:
            norms.append(torch.linalg.vector_norm(gradient))
            continue
        rows = gradient.reshape(gradient.shape or (1,)).contiguous()
        size = -(-rows.shape[0] // chunks)
        total = torch.zeros((), dtype=gradient.dtype)
        for chunk in rows.split(size):
            total = total + torch.linalg.vector_norm(chunk) ** 2
        norms.append(total.sqrt())
    return torch.linalg.vector_norm(torch.stack(norms))


def mean_loss(losses):
    """The mean over ranks of each rank's mean over its micro-batches."""
    return ordered_mean([ordered_mean(of_rank) for of_rank in zip(*losses)])


def copy_of_buffers(model):
    """{FQN: a copy} of all buffers."""
    return {name: b.clone() for name, b in model.named_buffers()}


def set_buffers(model, values):
    """Copies `values` into the model's buffers."""
    for name, buffer in model.named_buffers():
        buffer.copy_(values[name])


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
