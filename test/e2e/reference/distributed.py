# ===- distributed.py - PyTorch's own data parallelism ---------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Trains one model under DDP and under FSDP2 with both reshard settings, on
# Gloo ranks of this machine. One start of the processes runs every variant.
# Tested by test/e2e/reference-agrees.py.

import multiprocessing
import os
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass

import torch
import torch.distributed as dist
from safetensors.torch import load_file, save_file

from reference.training import (
    CastOnRead,
    Trained,
    adamw,
    batch_at,
    dump_of,
    ordered_mean,
    whole,
)

VARIANTS = ("ddp", "fsdp2-reshard", "fsdp2-keep")
TIMEOUT_SECONDS = 300


@dataclass(frozen=True)
class Case:
    """A model to train; `build_model()` gives equal weights at every call.

    FSDP2 shards each of `model.layers` alone when `by_layer` is set, and only
    the whole model otherwise (needed where the model looks at the dtype of a
    layer's parameter before it calls the layer). With `max_norm` gradients are
    clipped by clip_grad_norm_. `variants` are those of VARIANTS to train.
    """

    build_model: Callable
    batches: dict
    param_dtype: torch.dtype | None = None
    by_layer: bool = True
    max_norm: float | None = None
    variants: tuple = VARIANTS


def train_distributed(cases, steps, ranks=2, lr=1e-3):
    """Trains every case of {name: Case} under its variants.

    Returns {(name, variant): Trained}. Ranks are forked: call this before the
    first backward pass of the calling process.
    """
    with tempfile.TemporaryDirectory() as folder:
        context = multiprocessing.get_context("fork")
        processes = [
            context.Process(
                target=_run_rank, args=(rank, folder, ranks, cases, steps, lr)
            )
            for rank in range(ranks)
        ]
        for process in processes:
            process.start()
        _join(processes)
        return {
            (name, variant): _read(folder, name, variant)
            for name, case in cases.items()
            for variant in case.variants
        }


def _join(processes):
    deadline = time.monotonic() + TIMEOUT_SECONDS
    for process in processes:
        process.join(max(0, deadline - time.monotonic()))
    codes = [process.exitcode for process in processes]
    for process in processes:
        process.kill()
    if any(code != 0 for code in codes):
        raise RuntimeError(f"reference ranks ended with exit codes {codes}")


def _run_rank(rank, folder, ranks, cases, steps, lr):
    os.environ["GLOO_SOCKET_IFNAME"] = "lo"
    torch.set_num_threads(1)
    dist.init_process_group(
        "gloo",
        init_method=f"file://{folder}/store",
        rank=rank,
        world_size=ranks,
    )
    for name, case in cases.items():
        for variant in case.variants:
            model = case.build_model()
            stepped = _wrap(model, variant, case)
            trained = _train(model, stepped, case, steps, lr)
            if rank == 0:
                _write(folder, name, variant, trained)
    dist.destroy_process_group()


def _wrap(model, variant, case):
    """What to call instead of `model`."""
    if variant == "ddp":
        return torch.nn.parallel.DistributedDataParallel(
            CastOnRead(model, case.param_dtype)
        )
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.fsdp import MixedPrecisionPolicy, fully_shard

    # Inputs stay as they are, as in the captured graph.
    options = {
        "mesh": init_device_mesh("cpu", (dist.get_world_size(),)),
        "reshard_after_forward": variant == "fsdp2-reshard",
        "mp_policy": MixedPrecisionPolicy(
            param_dtype=case.param_dtype,
            reduce_dtype=torch.float32 if case.param_dtype else None,
            cast_forward_inputs=False,
        ),
    }
    for layer in model.layers if case.by_layer else ():
        fully_shard(layer, **options)
    return fully_shard(model, **options)


def _train(model, stepped, case, steps, lr):
    parameters = dict(model.named_parameters())
    optimizer = adamw(list(parameters.values()), lr)
    rank, ranks = dist.get_rank(), dist.get_world_size()
    losses, norms = [], []
    for step in range(steps):
        optimizer.zero_grad()
        loss = stepped(**batch_at(case.batches, step * ranks + rank))
        loss.backward()
        gradients = {n: p.grad.clone() for n, p in parameters.items()}
        if case.max_norm is not None:
            norm = torch.nn.utils.clip_grad_norm_(
                parameters.values(), case.max_norm, foreach=False
            )
            norms.append(whole(norm))
        optimizer.step()
        for name, gradient in gradients.items():
            parameters[name].grad = gradient
        losses.append(_mean_over_ranks(loss.detach()))
    return Trained(losses, dump_of(model, losses[-1]), norms)


def _mean_over_ranks(loss):
    gathered = [torch.empty_like(loss) for _ in range(dist.get_world_size())]
    dist.all_gather(gathered, loss)
    return ordered_mean(gathered)


def _path(folder, name, variant):
    return os.path.join(folder, f"{name}-{variant}.safetensors")


def _write(folder, name, variant, trained):
    losses = torch.stack(trained.losses)
    tensors = {name: t.contiguous() for name, t in trained.tensors.items()}
    numbers = {"losses": losses}
    if trained.norms:
        numbers["norms"] = torch.stack(trained.norms)
    save_file({**numbers, **tensors}, _path(folder, name, variant))


def _read(folder, name, variant):
    tensors = load_file(_path(folder, name, variant))
    losses, norms = tensors.pop("losses"), tensors.pop("norms", ())
    return Trained(list(losses), tensors, list(norms))
