# ===- archive.py - Writing files whole or not at all ----------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# A file appears under its name only when it is complete: it is written beside
# its place, synced and renamed.
# Tested by test/unit/capture/test_archive.py.
"""Writing files whole or not at all."""

import contextlib
import json
import os
import tempfile

import torch

from .errors import CaptureError
from .manifest import FILE_NAME


@contextlib.contextmanager
def written_atomically(path):
    """Yields an open temporary file that becomes ``path`` on success.

    On an error the temporary file is removed and ``path`` stays as it was.
    """
    path = os.fspath(path)
    folder, name = os.path.split(os.path.abspath(path))
    try:
        handle, temporary = tempfile.mkstemp(prefix=f".{name}.", dir=folder)
    except OSError as error:
        raise CaptureError(f"can't write {path}: {error.strerror}") from None
    try:
        with os.fdopen(handle, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.chmod(temporary, 0o666 & ~_umask())
        os.replace(temporary, path)
    except BaseException as error:
        os.unlink(temporary)
        if isinstance(error, OSError):
            reason = error.strerror or error
            raise CaptureError(f"can't write {path}: {reason}") from error
        raise


def save_program(program, manifest, path):
    """Writes an ExportedProgram and its manifest as the archive ``path``."""
    text = json.dumps(manifest, indent=1)
    with written_atomically(path) as file:
        torch.export.save(program, file, extra_files={FILE_NAME: text})


def read_manifest(path):
    """Returns the manifest of an archive as plain lists and dicts."""
    reader = torch._C.PyTorchFileReader(os.fspath(path))
    return json.loads(reader.get_record(f"extra/{FILE_NAME}"))


def _umask():
    mask = os.umask(0)
    os.umask(mask)
    return mask
