# ===- images.py - Example batches of image classification -----------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Tested by test/unit/capture/test_models.py.
"""Example batches of image classification."""

import torch


def image_inputs(config):
    """Random images f32 [batch, 3, image, image] and i64 classes [batch]."""
    size = (config.batch, 3, config.image, config.image)
    return {
        "images": torch.randn(size),
        "labels": torch.randint(config.classes, (config.batch,)),
    }
