# ===- make_seeds.py - First inputs of the fuzz targets --------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# `make_seeds.py TARGET FOLDER [simplefsdp-opt]` fills FOLDER with small correct
# files of the kind that TARGET reads: captured graphs of test/Inputs, plans
# that the compiler makes of them, and a few files written here, in forms that
# the captured ones do not use. Equal calls give equal files.

import io
import json
import pathlib
import struct
import subprocess
import sys
import zipfile

INPUTS = pathlib.Path(__file__).resolve().parents[2] / "Inputs"
CAPTURED = ("mlp_frozen", "mlp_unused", "mlp_batchnorm", "mlp_dropout")
PLANS = (
    ("mlp_unused", "mesh=dp:2 mode=replicate optimizer=sgd momentum=0.9"),
    ("mlp_unused", "mesh=dp:3 mode=fully_shard"),
    ("mlp_unused", "mesh=dp_replicate:2,dp_shard:2 mode=hybrid_shard"),
    ("mlp_frozen", "mesh=dp:2 micro-batches=2 reduce-dtype=f64"),
    ("mlp_batchnorm", "mesh=dp:2 mode=replicate reorder=none bucket=none"),
)


def captured_archive(name):
    return INPUTS / "archives" / f"{name}.pt2"


def archives():
    yield "captured", captured_archive("mlp_frozen").read_bytes()
    yield "weights", weights_alone("mlp_frozen")
    yield "stored", small_zip()
    yield "compressed", small_zip(compression=zipfile.ZIP_DEFLATED)
    yield "large", small_zip(force_zip64=True)
    yield "streamed", small_zip(stream=True)
    yield "comment", small_zip(comment=b"a comment")


def weights_alone(name):
    """A captured archive whose program has no graph: a tenth of the bytes."""
    target = io.BytesIO()
    with (
        zipfile.ZipFile(captured_archive(name)) as source,
        zipfile.ZipFile(target, "w") as result,
    ):
        for entry in source.infolist():
            content = source.read(entry)
            if entry.filename.endswith("/model.json"):
                version = json.loads(content)["schema_version"]
                content = json.dumps({"schema_version": version}).encode()
            elif "/sample_inputs/" in entry.filename:
                continue
            result.writestr(zipfile.ZipInfo(entry.filename), content)
    return target.getvalue()


class Unseekable(io.RawIOBase):
    """A stream: makes zipfile put sizes behind the contents."""

    def __init__(self):
        self.content = b""

    def writable(self):
        return True

    def write(self, content):
        self.content += bytes(content)
        return len(content)


def small_zip(
    compression=zipfile.ZIP_STORED,
    force_zip64=False,
    stream=False,
    comment=b"",
):
    target = Unseekable() if stream else io.BytesIO()
    with zipfile.ZipFile(target, "w", compression) as archive:
        for name, content in (
            ("model/archive_format", b"pt2"),
            ("model/byteorder", b"little"),
            ("model/data/weights/weight_0", bytes(range(16))),
        ):
            entry = zipfile.ZipInfo(name)
            with archive.open(entry, "w", force_zip64=force_zip64) as file:
                file.write(content)
        archive.comment = comment
    return target.content if stream else target.getvalue()


def safetensors():
    yield "empty", tensor_file({}, 0)
    yield "one", tensor_file({"a": ("F32", [2, 3])}, 24)
    yield (
        "kinds",
        tensor_file(
            {
                "model.weight": ("BF16", [4, 2]),
                "model.bias": ("F64", [2]),
                "steps": ("I64", []),
                "none": ("F16", [0, 7]),
                "mask": ("BOOL", [3]),
                "ids": ("U8", [1, 1, 5]),
            },
            48,
            {"format": "pt", "note": "α"},
        ),
    )


BYTES_OF = {"F64": 8, "I64": 8, "F32": 4, "F16": 2, "BF16": 2}


def tensor_file(tensors, total, metadata=None):
    header, offset = {}, 0
    if metadata:
        header["__metadata__"] = metadata
    for name, (dtype, shape) in tensors.items():
        size = BYTES_OF.get(dtype, 1)
        for extent in shape:
            size *= extent
        header[name] = {
            "dtype": dtype,
            "shape": shape,
            "data_offsets": [offset, offset + size],
        }
        offset += size
    assert offset == total, f"{offset} bytes of tensors, expected {total}"
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + bytes(total)


def exported_programs():
    yield (
        "own-operators",
        (INPUTS / "graphs" / "own-operators.json").read_bytes(),
    )
    for name in CAPTURED:
        with zipfile.ZipFile(captured_archive(name)) as archive:
            program = json.loads(archive.read(f"{name}/models/model.json"))
        yield name, json.dumps(without_history(program)).encode()


def without_history(program):
    """Where nodes come from is most of the text, and nothing reads it."""
    for node in program["graph_module"]["graph"]["nodes"]:
        node["metadata"].pop("from_node", None)
        node["metadata"].pop("torch_fn", None)
    return program


def plans(opt, folder):
    for number, (name, options) in enumerate(PLANS):
        path = folder / "plan.json"
        command = [opt, captured_archive(name), f"--simplefsdp={options}"]
        command += [f"--emit-plan={path}", "-o", "/dev/null"]
        subprocess.run(command, check=True, stdin=subprocess.DEVNULL)
        content = path.read_bytes()
        path.unlink()
        yield f"{number}-{name}", content


def make_seeds(target, folder, opt=None):
    """Writes the seeds of `target` into `folder`, which must exist."""
    folder = pathlib.Path(folder)
    seeds = {
        "archive": archives,
        "safetensors": safetensors,
        "exported-program": exported_programs,
        "plan": lambda: plans(opt, folder),
    }
    for name, content in seeds[target]():
        (folder / name).write_bytes(content)


if __name__ == "__main__":
    make_seeds(*sys.argv[1:])
