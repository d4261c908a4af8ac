# ===- models-vision.py - Vision models train to PyTorch's bits -------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# RUN: rm -rf %t && %python %s %t f32
# RUN: rm -rf %t && %python %s %t bf16

import pathlib
import sys

import torch
from support.compare import Checks
from support.models import check_model

MODELS = ("vit", "resnet18")

folder = pathlib.Path(sys.argv[1])
torch.set_num_threads(1)
with Checks() as check:
    for model in MODELS:
        check_model(check, model, dtype=sys.argv[2], folder=folder)
