# ===- fake.py - Building models without memory for their weights ----------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# A fake tensor has a shape and a dtype but no bytes. Large models are built
# with fake parameters; tables that the model computes in its constructor must
# be real, because their bytes go into the archive.
# Tested by test/unit/capture/test_capture.py.
"""Building models without memory for their weights."""

from torch._subclasses.fake_tensor import (
    FakeTensor,
    FakeTensorMode,
    unset_fake_temporarily,
)


def fake_weights():
    """Context in which every new tensor is fake (shape and dtype only)."""
    return FakeTensorMode(allow_non_fake_inputs=True)


def real_tensors():
    """Context that makes real tensors although ``fake_weights()`` is on.

    Use it in a constructor around the computation of non-persistent buffers;
    without ``fake_weights()`` it does nothing.
    """
    return unset_fake_temporarily()


def is_fake(tensor):
    """Whether ``tensor`` has a shape and a dtype but no bytes."""
    return isinstance(tensor, FakeTensor)
