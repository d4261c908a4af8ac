# ===- test_archive.py - Files appear whole or not at all ------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Files appear whole or not at all."""

import errno
import os
import stat
import unittest

from fixtures import CaptureTest, Pair, batch
from simplefsdp_capture import CaptureError, capture
from simplefsdp_capture.archive import written_atomically


class Stop(BaseException):
    """Ends a write half way, as a signal would."""


class AtomicWrites(CaptureTest):
    def test_f48_interrupted_write_leaves_the_old_file(self):
        with written_atomically(self.path) as file:
            file.write(b"old")
        with self.assertRaises(Stop):
            with written_atomically(self.path) as file:
                file.write(b"half of the n")
                raise Stop
        with open(self.path, "rb") as file:
            self.assertEqual(file.read(), b"old")
        self.assertEqual(os.listdir(self.folder), ["step.pt2"])

    def test_full_disk(self):
        with self.refused("can't write", "No space left"):
            with written_atomically(self.path):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    def test_mode_is_that_of_an_ordinary_file(self):
        plain = os.path.join(self.folder, "plain")
        open(plain, "wb").close()
        with written_atomically(self.path):
            pass
        modes = [stat.S_IMODE(os.stat(p).st_mode) for p in (plain, self.path)]
        self.assertEqual(modes[0], modes[1])

    def test_folder_that_does_not_exist(self):
        path = os.path.join(self.folder, "no", "step.pt2")
        with self.assertRaisesRegex(CaptureError, "can't write .*no/step"):
            capture(Pair(), (batch(),), path)


class Bytes(CaptureTest):
    def test_two_captures_are_equal(self):
        model, files = Pair(), []
        for _ in range(2):
            capture(model, (batch(),), self.path)
            with open(self.path, "rb") as file:
                files.append(file.read())
        self.assertEqual(files[0], files[1])


if __name__ == "__main__":
    unittest.main()
