# ===- batches.py - Data as safetensors ------------------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The runtime reads one tensor per parameter of forward, with one more leading
# dimension for the batch. Batches are streamed into the file, so memory holds
# one at a time.
# Tested by test/unit/capture/test_batches.py.
"""Data for the runtime, as safetensors."""

import json
import struct
from collections.abc import Mapping

import torch
import torch.utils._pytree as pytree

from .archive import written_atomically
from .errors import CaptureError
from .names import key_text

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
