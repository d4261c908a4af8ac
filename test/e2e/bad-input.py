# ===- bad-input.py - Bad input gives one clear error ----------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# RUN: rm -rf %t && %python %s %t %inputs/archives
#
# Files, options and data that can't work: one error that says what, where and
# what to do; a non-zero exit code; no hang; no process left.

import json
import pathlib
import sys
from array import array

import torch
from safetensors.torch import load_file, save_file
from support.compare import Checks
from support.failures import check_command
from support.steps import captured_step
from support.toolchain import compile_plan, tool

OPTIONS = "mesh=dp:2 mode=fully_shard optimizer=adamw"


def opt(*arguments):
    return [tool("simplefsdp-opt"), *arguments]


def run(plan, *arguments, ranks=2):
    return [tool("simplefsdp-run"), "-n", ranks, plan, *arguments]


def check_archives(check, step, folder, archives):
    """F47 and F48 through the command line; unit tests have all of them."""
    whole = step.archive.read_bytes()
    for percent in (10, 50, 99):
        cut = folder / f"cut-{percent}.pt2"
        cut.write_bytes(whole[: len(whole) * percent // 100])
        check_command(
            check,
            f"F48 cut at {percent} %",
            opt(cut, f"--simplefsdp={OPTIONS}"),
            cut.name,
            "truncated or corrupt",
        )
    weights = folder / "weights.pt2"
    save_file({"w": torch.zeros(2)}, weights)
    check_command(
        check, "F47 no archive", opt(weights), weights.name, "not an.* archive"
    )
    for name, reason in (
        ("core_table_wrong_flash", "gradients would be wrong"),
        ("makefx_user_io", "gradient"),
    ):
        check_command(
            check, name, opt(archives / f"{name}.pt2"), f"{name}.pt2", reason
        )


def check_options(check, step):
    for option, pattern in (
        ("mode=sharded", "sharded"),
        ("mode=hybrid_shard", "hybrid_shard"),
        ("bucket=sometimes", "sometimes"),
        ("mesh=dp:0", "dp"),
        ("colour=blue", "colour"),
    ):
        check_command(
            check,
            f"option {option}",
            opt(step.archive, f"--simplefsdp=mesh=dp:2 {option}"),
            pattern,
        )


def check_weights(check, plan, step, folder):
    parameters = dict(step.build_model().named_parameters())
    good = {name: p.detach().clone() for name, p in parameters.items()}
    name = "layers.1.attention.wq.weight"
    bad = {
        "missing": {n: t for n, t in good.items() if n != name},
        "of another shape": {**good, name: torch.zeros(3, 5)},
        "of another dtype": {**good, name: good[name].double()},
    }
    for what, tensors in bad.items():
        path = folder / f"{what.replace(' ', '-')}.safetensors"
        save_file(tensors, path)
        check_command(
            check,
            f"weight {what}",
            run(plan, "--weights", path, "--data", step.data, "--steps", 1),
            name,
            code=1,
        )


def write_tokens(path, tokens):
    path.write_bytes(array("H", tokens).tobytes())
    return path


def check_data(check, plan, step, folder):
    weights = ("--weights", step.archive, "--steps", 1)
    short = write_tokens(folder / "short.bin", [1] * 8)
    check_command(
        check,
        "data too short",
        run(plan, *weights, "--data", short),
        "short.bin",
        r"\b8\b",
        code=1,
    )
    # One id past the vocabulary of 256, far behind the first batch.
    large = write_tokens(folder / "large.bin", [1] * 5000 + [256] + [1] * 5000)
    check_command(
        check,
        "token id too large",
        run(plan, *weights, "--data", large),
        "large.bin",
        r"\b256\b",
        code=1,
    )
    batches = load_file(step.data)
    unlabelled = folder / "unlabelled.safetensors"
    save_file({"tokens": batches["tokens"]}, unlabelled)
    check_command(
        check,
        "input missing",
        run(plan, *weights, "--data", unlabelled),
        "labels",
        code=1,
    )


def check_usage(check, plan, step):
    data = ("--data", step.data)
    weights = ("--weights", step.archive)
    check_command(
        check,
        "mesh and -n",
        run(plan, *weights, *data, ranks=3),
        r"\b3\b",
        r"\b2\b",
    )
    check_command(
        check,
        "unknown option",
        run(plan, *weights, *data, "--speed", "high"),
        "--speed",
        code=2,
    )
    check_command(
        check,
        "backend of another build",
        run(plan, *weights, *data, "--backend", "nccl"),
        "nccl",
    )
    check_command(check, "no weights", run(plan, *data), "--weights|--init")


def check_edited_plans(check, plan_path, step, folder):
    text = plan_path.read_text()
    inputs = ("--weights", step.archive, "--data", step.data, "--steps", 1)

    def edited(name, change):
        plan = json.loads(text)
        change(plan)
        path = folder / f"{name}.plan.json"
        path.write_text(json.dumps(plan))
        return run(path, *inputs)

    def without_first_wait(plan):
        instructions = plan["programs"][0]["instructions"]
        index = next(i for i, x in enumerate(instructions) if "wait" in x)
        del instructions[index]

    def other_peak(plan):
        plan["predicted_peak_bytes"] += 1

    def other_constant(plan):
        scalars = [s for s in plan["scalars"] if s["op"] == "constant"]
        scalars[0]["constant"] += 0.5

    check_command(
        check,
        "plan without a wait",
        edited("wait", without_first_wait),
        code=1,
    )
    check_command(
        check,
        "plan of another peak",
        edited("peak", other_peak),
        "peak",
        code=1,
    )
    check_command(
        check,
        "plan that was not proved",
        edited("constant", other_constant),
        "prove|--unproved",
        code=1,
    )
    check_command(
        check,
        "plan of another version",
        edited("version", lambda plan: plan.update(format_version=99)),
        "99",
        code=1,
    )


folder, archives = map(pathlib.Path, sys.argv[1:])
folder.mkdir(parents=True)
with Checks() as check:
    step = captured_step("llama")
    plan = compile_plan(step.archive, OPTIONS, folder / "good.plan.json")
    check_archives(check, step, folder, archives)
    check_options(check, step)
    check_weights(check, plan, step, folder)
    check_data(check, plan, step, folder)
    check_usage(check, plan, step)
    check_edited_plans(check, plan, step, folder)
