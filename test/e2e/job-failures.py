# ===- job-failures.py - Ranks that die, stop or disagree ------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# RUN: rm -rf %t && %python %s %t
#
# A job of several processes ends on all ranks, names the cause once, and
# leaves nothing behind: a killed rank, a stopped rank, ranks started with
# different options, a port that is in use.

import os
import pathlib
import re
import signal
import socket
import sys
import time

from support.compare import Checks
from support.failures import Job, check_failure
from support.steps import captured_step
from support.toolchain import compile_plan, tool

ENDLESS_STEPS = 1_000_000
START_SECONDS = 60


def command(plan, step, *arguments, backend="gloo"):
    return [
        tool("simplefsdp-run"),
        *(plan, "--weights", step.archive, "--data", step.data),
        *("--backend", backend, *arguments),
    ]


def wait_for_steps(metrics):
    """Until the job has trained a step."""
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline:
        if metrics.exists() and metrics.stat().st_size > 0:
            return
        time.sleep(0.05)


def check_signalled_rank(check, name, plan, step, folder, number, backend):
    metrics = folder / f"{number.name}-{backend}.jsonl"
    job = Job(
        command(
            plan,
            step,
            *("-n", 2, "--steps", ENDLESS_STEPS, "--timeout", 10),
            *("--metrics", metrics),
            backend=backend,
        )
    )
    wait_for_steps(metrics)
    ranks = job.ranks()
    check.that(len(ranks) == 2, f"{name}: expected 2 ranks, found {ranks}")
    if len(ranks) == 2:
        os.kill(ranks[1], number)
    check_failure(check, f"{name} over {backend}", job.end(60), "rank 1")


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def launcher_environment(rank, port, ranks=2):
    """What torchrun would set."""
    return {
        "RANK": str(rank),
        "LOCAL_RANK": str(rank),
        "WORLD_SIZE": str(ranks),
        "LOCAL_WORLD_SIZE": str(ranks),
        "MASTER_ADDR": "127.0.0.1",
        "MASTER_PORT": str(port),
    }


def check_disagreement(check, plan, step):
    """Every rank names the field, the ranks and their values."""
    port = free_port()
    jobs = [
        Job(
            command(plan, step, "--steps", 1, "--lr", lr),
            launcher_environment(rank, port),
        )
        for rank, lr in enumerate(("0.001", "0.002"))
    ]
    for rank, job in enumerate(jobs):
        check_failure(
            check,
            f"different options, rank {rank}",
            job.end(),
            r"\blr\b",
            r"0\.001",
            r"0\.002",
        )


def check_same_environment_trains(check, plan, step, folder, backend):
    """The same start with equal options does train."""
    port = free_port()
    dumps = folder / f"launched-{backend}.safetensors"
    arguments = ("--steps", 2, "--dump", dumps)
    jobs = [
        Job(
            command(plan, step, *arguments, backend=backend),
            launcher_environment(rank, port),
        )
        for rank in range(2)
    ]
    for rank, job in enumerate(jobs):
        ended = job.end()
        check.that(
            ended.code == 0 and not ended.leftovers,
            f"launched rank {rank}: exit code {ended.code}\n{ended.errors}",
        )
    check.that(dumps.exists(), "launched ranks wrote no dump")


def check_torchrun(check, plan, step, folder):
    """torchrun serves the store itself and passes on how to reach it.

    Without an address torchrun looks up the host's own name, and waits for
    minutes on a machine whose name nothing resolves.
    """
    dump, report = folder / "torchrun.safetensors", folder / "torchrun.html"
    torchrun = pathlib.Path(sys.executable).parent / "torchrun"
    job = Job(
        [
            *(torchrun, "--nproc-per-node", 2, "--no-python"),
            *("--rdzv-backend", "c10d", "--rdzv-endpoint", "127.0.0.1:0"),
            *("--local-addr", "127.0.0.1"),
            *command(
                plan,
                step,
                *("--steps", 2, "--dump", dump, "--report", report),
                backend="auto",
            ),
        ]
    )
    ended = job.end()
    check.that(
        ended.code == 0 and dump.exists() and not ended.leftovers,
        f"torchrun: exit code {ended.code}\n{ended.errors}",
    )
    check.that(
        "<th>backend</th><td>shm</td>" in report.read_text(),
        "ranks of one host: auto did not choose shm",
    )


def check_port_in_use(check, plan, step):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        job = Job(
            command(plan, step, "--steps", 1),
            launcher_environment(0, port),
        )
        check_failure(
            check, "port in use", job.end(), re.escape(str(port)), "in use"
        )


folder = pathlib.Path(sys.argv[1])
folder.mkdir(parents=True)
with Checks() as check:
    step = captured_step("llama")
    plan = compile_plan(
        step.archive,
        "mesh=dp:2 mode=fully_shard optimizer=adamw",
        folder / "step.plan.json",
    )
    for backend in ("shm", "gloo"):
        check_signalled_rank(
            check, "killed", plan, step, folder, signal.SIGKILL, backend
        )
        check_signalled_rank(
            check, "stopped", plan, step, folder, signal.SIGSTOP, backend
        )
        check_same_environment_trains(check, plan, step, folder, backend)
    check_disagreement(check, plan, step)
    check_torchrun(check, plan, step, folder)
    check_port_in_use(check, plan, step)
