# ===- tokens.py - Example batches of next-token prediction ----------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Tested by test/unit/capture/test_models.py.
"""Example batches of next-token prediction."""

import torch


def next_token_inputs(config):
    """Random tokens and their labels, i64 [batch, seq]."""
    tokens = torch.randint(config.vocab, (config.batch, config.seq + 1))
    return {
        "tokens": tokens[:, :-1].contiguous(),
        "labels": tokens[:, 1:].contiguous(),
    }
