# ===- data-parallel-2.py - Every schedule on 2 ranks gives the same bits --===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# RUN: rm -rf %t && %python %s %t f32
# RUN: rm -rf %t && %python %s %t bf16

import pathlib
import sys

import torch
from support.compare import Checks
from support.data_parallel import check_data_parallel

folder = pathlib.Path(sys.argv[1])
folder.mkdir(parents=True)
torch.set_num_threads(1)
with Checks() as check:
    check_data_parallel(check, ranks=2, dtype=sys.argv[2], folder=folder)
