# ===- weights.py - Loading weights into a model ---------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Takes what `simplefsdp-run --weights` takes: what it saved, what capture
# saved, and folders of safetensors.
# Tested by test/unit/capture/test_weights.py.
"""Loading weights into a model."""

import contextlib
import json
import logging
import os
import zipfile

import torch
from safetensors import SafetensorError, safe_open

from .archive import read_manifest
from .errors import CaptureError
from .manifest import FILE_NAME
from .names import read_state

_INDEX = "model.safetensors.index.json"


@torch.no_grad()
def load_weights(model, path):
    """Copies the weights in ``path`` into ``model``, in place.

    ``path`` is a safetensors file, a ``.pt2`` archive (its initial weights),
    or a folder of safetensors with an index, with the names of
    ``model.named_parameters()``; a tied parameter may have any one of its
    names. Buffers are copied when the file has them. A missing or unknown
    name, or another shape or dtype, is a CaptureError, and then no weight has
    changed.
    """
    state = read_state(model)
    targets = {**state.parameters, **state.buffers}
    loaded = {}
    for file in _files(path):
        for name, tensor in _tensors(file):
            fqn = state.aliases.get(name, name)
            loaded[fqn] = _fitting(name, tensor, targets.get(fqn), file)
    missing = [fqn for fqn in state.parameters if fqn not in loaded]
    if missing:
        raise CaptureError(
            f"{path} lacks {len(missing)} of {len(state.parameters)} "
            f"parameters, first '{missing[0]}'"
        )
    for fqn, tensor in loaded.items():
        targets[fqn].copy_(tensor)


def _tensors(file):
    """Yields (name, tensor) of everything that ``file`` stores."""
    if zipfile.is_zipfile(file):
        yield from _archived_tensors(file)
        return
    try:
        with safe_open(file, framework="pt") as tensors:
            for name in tensors.keys():
                yield name, tensors.get_tensor(name)
    except SafetensorError as error:
        raise CaptureError(
            f"{file} is neither a safetensors file ({error}) nor a .pt2 "
            "archive; pass what simplefsdp-run --save-weights or capture wrote"
        ) from error


def _archived_tensors(file):
    with zipfile.ZipFile(file) as archive:
        records = {name.partition("/")[2] for name in archive.namelist()}
    if "archive_format" not in records:
        raise CaptureError(
            f"{file} is no .pt2 archive: expected one of torch.export; load a "
            "checkpoint of torch.save by model.load_state_dict(torch.load(…))"
        )
    if f"extra/{FILE_NAME}" in records and read_manifest(file)["fake"]:
        raise CaptureError(
            f"{file} has no weights: it was captured with fake ones; pass "
            "what simplefsdp-run --save-weights wrote"
        )
    yield from _load_program(file).state_dict.items()


def _load_program(file):
    """Loads an ExportedProgram; what torch logs of a failure is dropped."""
    disabled = logging.root.manager.disable
    logging.disable(logging.CRITICAL)
    try:
        with open(file, "rb") as stream, contextlib.redirect_stderr(None):
            return torch.export.load(stream)
    except Exception as error:
        raise CaptureError(
            f"{file} is a damaged .pt2 archive: torch.export.load can't read "
            "it; capture again"
        ) from error
    finally:
        logging.disable(disabled)


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
