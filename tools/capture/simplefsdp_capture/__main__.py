# ===- __main__.py - Entry of the capture command --------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Tested by test/unit/capture/test_command.py.
"""Entry of ``python -m simplefsdp_capture``."""

import sys

from .command import main

sys.exit(main())
