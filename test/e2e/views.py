# ===- views.py - Metrics, trace, report and weights of a run --------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# RUN: rm -rf %t && %python %s %t
#
# What a run leaves: metrics with every key, a trace whose spans are disjoint or
# nested on each track (F61), a profile with a row per kernel call, a report of
# one file, weights that load back into the model, and the same bits when fresh
# and freed memory is filled with NaN.

import collections
import json
import math
import pathlib
import sys

import simplefsdp_capture
import torch
from support.compare import Checks
from support.steps import captured_step
from support.toolchain import Run, compile_plan, read_metrics

METRICS = {
    "step",
    "loss",
    "lr",
    "grad_norm",
    "applied",
    "tokens",
    "tokens_per_s",
    "step_ms",
    "exposed_ms",
    "peak_bytes",
    "time",
}
PROFILE = {
    "call",
    "overload",
    "tensors",
    "ns",
    "workspace_bytes",
    "predicted_workspace_bytes",
}
RANKS = 4
STEPS = 3


def check_metrics(check, records):
    check.that(len(records) == STEPS, f"expected {STEPS} records")
    for number, record in enumerate(records, 1):
        missing = METRICS - record.keys()
        check.that(not missing, f"metrics of step {number} lack {missing}")
        check.that(record["step"] == number, f"step {record['step']}")
        check.that(math.isfinite(record["loss"]), f"loss {record['loss']}")


def overlapping(spans):
    """The first pair of [begin, end) that overlaps without nesting."""
    open_spans = []
    for begin, end in sorted(spans, key=lambda s: (s[0], -s[1])):
        while open_spans and open_spans[-1][1] <= begin:
            open_spans.pop()
        if open_spans and end > open_spans[-1][1]:
            return open_spans[-1], (begin, end)
        open_spans.append((begin, end))
    return None


def check_f61_trace(check, path):
    events = json.loads(path.read_text())
    if isinstance(events, dict):
        events = events["traceEvents"]
    tracks = collections.defaultdict(list)
    for event in events:
        if event["ph"] == "X":
            begin = event["ts"]
            tracks[event["pid"], event["tid"]].append(
                (begin, begin + event["dur"])
            )
    check.that(tracks, "F61: trace without spans")
    for track, spans in tracks.items():
        found = overlapping(spans)
        check.that(found is None, f"F61: spans overlap on {track}: {found}")
    ranks = {pid for pid, _ in tracks}
    check.that(len(ranks) == RANKS, f"F61: tracks of ranks {ranks}")


def check_profile(check, path, plan):
    rows = json.loads(path.read_text())["kernels"]
    program = json.loads(plan.read_text())["programs"][-1]
    calls = [i["call"] for i in program["instructions"] if "call" in i]
    check.that(
        [row["call"] for row in rows] == calls,
        f"profile of {len(rows)} kernels, expected {len(calls)}",
    )
    for row in rows:
        missing = PROFILE - row.keys()
        check.that(not missing, f"profile of {row['call']} lacks {missing}")
        check.that(row["ns"] > 0, f"{row['call']} took {row['ns']} ns")


def check_weights(check, step, path, trained):
    model = step.build_model()
    simplefsdp_capture.load_weights(model, path)
    for name, parameter in model.named_parameters():
        check.that(
            torch.equal(parameter, trained.tensors[name]),
            f"saved weight {name} differs from the dump",
        )


folder = pathlib.Path(sys.argv[1])
folder.mkdir(parents=True)
with Checks() as check:
    step = captured_step("llama")
    plan = compile_plan(
        step.archive,
        f"mesh=dp:{RANKS} mode=fully_shard bucket=block reorder=prefetch "
        "optimizer=adamw results=gradients",
        folder / "step.plan.json",
    )
    run = Run(plan, RANKS)
    trace, report = folder / "trace.json", folder / "report.html"
    weights = folder / "weights.safetensors"
    profile = folder / "profile.json"
    trained = run.train(
        *(step.archive, step.data, STEPS, folder),
        *("--trace", trace, "--report", report, "--save-weights", weights),
        *("--profile", profile),
    )
    check_metrics(check, read_metrics(folder / "metrics.jsonl"))
    check_f61_trace(check, trace)
    check_profile(check, profile, plan)
    check_weights(check, step, weights, trained)
    page = report.read_text()
    check.that("<svg" in page, "report without a drawing")
    for address in ("http://", "https://"):
        loaded = page.replace(f'"{address}www.w3.org', "")
        check.that(f'="{address}' not in loaded, "report loads from elsewhere")
    filled = run.train(
        *(step.archive, step.data, STEPS, folder / "nan"),
        *("--debug-fill", "nan"),
    )
    check.same_run("memory filled with NaN", trained, filled)
