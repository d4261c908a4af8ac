# ===- batches.py - Data and weights as safetensors ------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The runtime reads one tensor per parameter of forward, with one more leading
# dimension for the batch; it writes weights under the model's own names.
# Batches are streamed into the file, so memory holds one at a time.
# Tested by test/unit/capture/test_batches.py.
"""Data for the runtime and weights from it, both as safetensors."""

import json
import os
import struct
from collections.abc import Mapping

import torch
import torch.utils._pytree as pytree
from safetensors import SafetensorError, safe_open

from .archive import written_atomically
from .errors import CaptureError
from .names import key_text, read_state

_SAFETENSORS_DTYPES = {
    torch.float64: "F64",
    torch.float32: "F32",
    torch.float16: "F16",
    torch.bfloat16: "BF16",
    torch.int64: "I64",
    torch.int32: "I32",
    torch.int16: "I16",
    torch.int8: "I8",
    torch.uint8: "U8",
    torch.bool: "BOOL",
}
_INDEX = "model.safetensors.index.json"


def write_batches(loader, path, steps, names=None):
    """Writes the first ``steps`` batches of ``loader`` to ``path``.

    Each batch is a dict keyed by the parameter names of forward (nested
    values get dotted names), or, with ``names`` given, a tuple or list of
    values in that order. All batches must have the shapes and dtypes of the
    first. The file holds one tensor [steps, ...] per name.
    """
    if steps < 1:
        raise CaptureError(f"expected steps to be at least 1, got {steps}")
    iterator = iter(loader)
    first = _named_tensors(_next_batch(iterator, 0, steps), names)
    header, offsets = _layout(first, steps)
    with written_atomically(path) as file:
        file.write(struct.pack("<Q", len(header)) + header)
        start = file.tell()
        for step in range(steps):
            batch = first
            if step:
                batch = _named_tensors(
                    _next_batch(iterator, step, steps), names
                )
                _check_same(first, batch, step)
            for name, tensor in batch.items():
                file.seek(start + offsets[name] + step * tensor.nbytes)
                file.write(_bytes(tensor))


def _next_batch(iterator, step, steps):
    try:
        return next(iterator)
    except StopIteration:
        raise CaptureError(
            f"the loader ended after {step} batches: expected {steps}; lower "
            "steps (the runtime starts over at the end of the file)"
        ) from None


def _named_tensors(batch, names):
    if isinstance(batch, (tuple, list)) and names is not None:
        if len(names) != len(batch):
            raise CaptureError(
                f"a batch has {len(batch)} values: expected {len(names)}, "
                f"for {', '.join(names)}"
            )
        batch = dict(zip(names, batch))
    if not isinstance(batch, Mapping):
        raise CaptureError(
            "expected batches to be dicts keyed by the parameter names of "
            f"forward, got {type(batch).__name__}; yield dicts or pass names="
        )
    leaves, _ = pytree.tree_flatten_with_path(dict(batch))
    return {
        ".".join(map(key_text, key)): _checked(key, tensor)
        for key, tensor in leaves
    }


def _checked(key, tensor):
    name = ".".join(map(key_text, key))
    if not isinstance(tensor, torch.Tensor):
        raise CaptureError(
            f"batch value '{name}' is no tensor: got {type(tensor).__name__}"
        )
    if tensor.dtype not in _SAFETENSORS_DTYPES:
        raise CaptureError(
            f"batch value '{name}' has dtype {tensor.dtype}: safetensors "
            "can't hold it"
        )
    return tensor.detach().cpu().contiguous()


def _layout(first, steps):
    """Header bytes of the file and the offset of each tensor after it."""
    entries, offsets, end = {}, {}, 0
    for name, tensor in first.items():
        begin, end = end, end + steps * tensor.nbytes
        offsets[name] = begin
        entries[name] = {
            "dtype": _SAFETENSORS_DTYPES[tensor.dtype],
            "shape": [steps, *tensor.shape],
            "data_offsets": [begin, end],
        }
    header = json.dumps(entries, separators=(",", ":")).encode()
    return header + b" " * (-len(header) % 8), offsets


def _check_same(first, batch, step):
    if first.keys() != batch.keys():
        raise CaptureError(
            f"batch {step} has the names {', '.join(batch)}: expected "
            f"{', '.join(first)}, as in batch 0"
        )
    for name, tensor in batch.items():
        expected = first[name]
        same = tensor.shape == expected.shape
        if not same or tensor.dtype != expected.dtype:
            raise CaptureError(
                f"batch {step} has {tensor.dtype} {list(tensor.shape)} for "
                f"'{name}': expected {expected.dtype} "
                f"{list(expected.shape)}, as in batch 0 (drop the last, "
                "smaller batch)"
            )


def _bytes(tensor):
    return tensor.flatten().view(torch.uint8).numpy().tobytes()


@torch.no_grad()
def load_weights(model, path):
    """Copies the weights in ``path`` into ``model``, in place.

    ``path`` is a safetensors file or a folder of them with an index, with
    the names of ``model.named_parameters()``; a tied parameter may have any
    one of its names. Buffers are copied when the file has them. A missing or
    unknown name, or another shape or dtype, is a CaptureError, and then no
    weight has changed.
    """
    state = read_state(model)
    targets = {**state.parameters, **state.buffers}
    loaded = {}
    for file in _files(path):
        try:
            with safe_open(file, framework="pt") as tensors:
                for name in tensors.keys():
                    fqn = state.aliases.get(name, name)
                    loaded[fqn] = _fitting(
                        name, tensors.get_tensor(name), targets.get(fqn), file
                    )
        except SafetensorError as error:
            raise CaptureError(
                f"{file} is no safetensors file ({error}); pass what "
                "simplefsdp-run --save-weights wrote"
            ) from error
    missing = [fqn for fqn in state.parameters if fqn not in loaded]
    if missing:
        raise CaptureError(
            f"{path} lacks {len(missing)} of {len(state.parameters)} "
            f"parameters, first '{missing[0]}'"
        )
    for fqn, tensor in loaded.items():
        targets[fqn].copy_(tensor)


def _fitting(name, tensor, target, file):
    if target is None:
        raise CaptureError(
            f"{file} holds '{name}', which is no parameter or buffer of the "
            "model"
        )
    same = tensor.shape == target.shape
    if not same or tensor.dtype != target.dtype:
        raise CaptureError(
            f"{file} holds '{name}' as {tensor.dtype} {list(tensor.shape)}: "
            f"expected {target.dtype} {list(target.shape)}"
        )
    return tensor


def _files(path):
    path = os.fspath(path)
    if not os.path.exists(path):
        raise CaptureError(f"{path}: no such file or folder")
    if not os.path.isdir(path):
        return [path]
    index = os.path.join(path, _INDEX)
    if os.path.exists(index):
        with open(index, encoding="utf-8") as file:
            shards = json.load(file)["weight_map"].values()
        return [os.path.join(path, shard) for shard in sorted(set(shards))]
    single = os.path.join(path, "model.safetensors")
    if os.path.exists(single):
        return [single]
    raise CaptureError(
        f"{path}: expected {_INDEX} or model.safetensors in this folder"
    )
