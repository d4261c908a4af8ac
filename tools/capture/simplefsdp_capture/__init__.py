# ===- __init__.py - Public names of the capture package -------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Tested by test/unit/capture.
"""Captures the training step of a PyTorch model for the SimpleFSDP compiler.

``capture`` saves a step, ``write_batches`` its data, ``load_weights`` reads
trained weights back. ``python -m simplefsdp_capture`` does the first from the
command line.
"""

import torch

if torch.torch_version.TorchVersion(torch.__version__) < (2, 11):
    raise ImportError(
        f"simplefsdp_capture needs torch 2.11 or later, got {torch.__version__}"
    )

from .batches import write_batches
from .capture import capture
from .errors import CaptureError
from .fake import fake_weights, real_tensors
from .weights import load_weights

__all__ = [
    "CaptureError",
    "capture",
    "fake_weights",
    "load_weights",
    "real_tensors",
    "write_batches",
]
