# ===- errors.py - The exceptions of the capture package -------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Everything that can't be captured, written or loaded ends in CaptureError.
# Tested by test/unit/capture/test_refusals.py.
"""The exceptions of the capture package."""


class CaptureError(Exception):
    """Says what can't be captured, where, and what to do about it.

    The message is one sentence or a few clauses, lower case and without a
    full stop, so that the command can print it after ``error: `` as it is.
    """


class UsageError(CaptureError):
    """A command line that no model could satisfy."""
