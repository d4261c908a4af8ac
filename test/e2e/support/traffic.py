# ===- traffic.py - What a plan's collectives must move --------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The traffic oracle of docs/semantics.md: collectives and bytes received per
# rank and step, worked out from parameter shapes and from what eager autograd
# saves for backward.
# Tested by test/e2e/traffic.py.

import collections
import json
import math
import re
from dataclasses import dataclass

import torch

BLOCK = re.compile(r"(?:.*?\.)?\d+(?=\.)")


@dataclass(frozen=True)
class Traffic:
    """Launches and bytes received by one rank in one step, by kind."""

    launches: dict
    bytes_received: dict


@dataclass(frozen=True)
class Sharding:
    """What decides the traffic of trainable parameters.

    Widths are bytes per element on the wire. `kept` names parameters that
    backward does not read (an embedding table, say): they are never gathered
    a second time. `replicas` repeat the group of `ranks` (hybrid_shard).
    """

    ranks: int
    mode: str
    reshard: str = "always"
    bucket: str = "none"
    gather_width: int = 4
    reduce_width: int = 4
    kept: frozenset = frozenset()
    replicas: int = 1


def not_saved_for_backward(model, inputs):
    """Names of parameters that eager autograd does not save for backward."""
    owners = {
        parameter.untyped_storage().data_ptr(): name
        for name, parameter in model.named_parameters()
    }
    saved = set()

    def pack(tensor):
        saved.add(owners.get(tensor.untyped_storage().data_ptr()))
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda x: x):
        model(**inputs)
    return frozenset(owners.values()) - saved


def buckets_of(names):
    """{fqn: bucket} of a block plan, for names in registration order.

    A block is the prefix up to the first numeric segment (`layers.3`). What
    comes before the first block is one bucket, what comes after it and has no
    number another; without any number there is one bucket.
    """
    blocks = {name: BLOCK.match(name) for name in names}
    if not any(blocks.values()):
        return {name: "all" for name in names}
    buckets, seen = {}, False
    for name, block in blocks.items():
        seen = seen or block is not None
        outside = "after" if seen else "before"
        buckets[name] = block.group(0) if block else outside
    return buckets


def row_chunk_bytes(shape, ranks, width):
    """One chunk of whole rows: ceil(rows / ranks) of them."""
    return math.ceil(shape[0] / ranks) * math.prod(shape[1:]) * width


def element_chunk_bytes(shape, ranks, width):
    """One chunk of the flat elements."""
    return math.ceil(math.prod(shape) / ranks) * width


def expected_traffic(shapes, sharding):
    """The oracle for trainable parameters {fqn: shape}."""

    def received(names, chunk_bytes, width):
        peers = sharding.ranks - 1
        return sum(
            peers * chunk_bytes(shapes[name], sharding.ranks, width)
            for name in names
        )

    def launches(names):
        if sharding.bucket == "none":
            return len(names)
        buckets = buckets_of(list(shapes))
        return len({buckets[name] for name in names})

    reduce_width = sharding.reduce_width
    if sharding.mode == "replicate":
        moved = 2 * received(shapes, element_chunk_bytes, reduce_width)
        return Traffic({"all_reduce": launches(shapes)}, {"all_reduce": moved})
    regathered = [name for name in shapes if name not in sharding.kept]
    if sharding.reshard == "auto":
        # The built-in models use their blocks in the order of registration.
        buckets = buckets_of(list(shapes))
        last = list(buckets.values())[-1]
        regathered = [n for n in regathered if buckets[n] != last]
    rounds = [shapes] if sharding.reshard == "never" else [shapes, regathered]
    rounds = [names for names in rounds if names]
    traffic = Traffic(
        {
            "all_gather": sum(launches(names) for names in rounds),
            "reduce_scatter": launches(shapes),
        },
        {
            "all_gather": sum(
                received(names, row_chunk_bytes, sharding.gather_width)
                for names in rounds
            ),
            "reduce_scatter": received(shapes, row_chunk_bytes, reduce_width),
        },
    )
    if sharding.mode == "hybrid_shard":
        traffic.launches["all_reduce"] = launches(shapes)
        traffic.bytes_received["all_reduce"] = replica_bytes(shapes, sharding)
    return traffic


def replica_bytes(shapes, sharding):
    """The slow axis carries 2(R - 1) / R of each rank's chunk."""
    total = 0
    for shape in shapes.values():
        elements = row_chunk_bytes(shape, sharding.ranks, width=1)
        piece = math.ceil(elements / sharding.replicas)
        total += 2 * (sharding.replicas - 1) * piece * sharding.reduce_width
    return total


def planned_traffic(plan_path):
    """What the plan's own instructions say."""
    with open(plan_path) as file:
        plan = json.load(file)
    launches, received = collections.Counter(), collections.Counter()
    for program in plan["programs"]:
        for instruction in program["instructions"]:
            kind = instruction.get("start")
            if kind is not None:
                launches[kind] += 1
                received[kind] += instruction["bytes_received"]
    return Traffic(dict(launches), dict(received))
