# ===- random-deaths.py - Ranks that die or stop at any moment -------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# RUN: rm -rf %t && %python %s %t --moments 3
#
# A rank is killed or stopped at a random moment: while ranks connect, or in the
# midst of training. Every time all ranks end, one error names the rank, and no
# process is left. Run it by hand with more moments and another seed:
#
#   python test/e2e/random-deaths.py FOLDER --moments 200 --seed 7

import argparse
import os
import pathlib
import random
import signal
import time

from support.compare import Checks
from support.failures import Job, check_failure
from support.steps import captured_step
from support.toolchain import compile_plan, tool

RANKS = 3
ENDLESS_STEPS = 1_000_000
TIMEOUT_SECONDS = 6
# What a busy machine may add to the timeout before the test gives up.
PATIENCE_SECONDS = 120
START_SECONDS = 60


def parse_arguments():
    parser = argparse.ArgumentParser(description="Kill and stop ranks.")
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--moments", type=int, default=200, metavar="N")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--backends", nargs="+", default=["shm", "gloo"])
    return parser.parse_args()


def start(backend, step, plan, metrics):
    return Job(
        [
            *(tool("simplefsdp-run"), "-n", RANKS, plan),
            *("--weights", step.archive, "--data", step.data),
            *("--backend", backend, "--steps", ENDLESS_STEPS),
            *("--timeout", TIMEOUT_SECONDS, "--metrics", metrics),
        ]
    )


def wait_until(condition):
    deadline = time.monotonic() + START_SECONDS
    while not condition() and time.monotonic() < deadline:
        time.sleep(0.01)


def is_training(metrics):
    return metrics.exists() and metrics.stat().st_size > 0


def strike(job, metrics, number, chance):
    """Signals one rank; returns which, and a description.

    Who stops while ranks connect is missed after the start-up limit of two
    minutes only, so then a rank is killed.
    """
    wait_until(lambda: len(job.ranks()) == RANKS)
    starting = number == signal.SIGKILL and chance.random() < 0.4
    if not starting:
        wait_until(lambda: is_training(metrics))
    delay = chance.uniform(0, 0.6)
    time.sleep(delay)
    rank = chance.randrange(RANKS)
    os.kill(job.ranks()[rank], number)
    phase = "start" if starting else "first step"
    return rank, f"{number.name} of rank {rank}, {delay:.3f} s after {phase}"


def check_moment(check, name, job, metrics, number, chance):
    """Seconds from the signal to the end of the job."""
    rank, what = strike(job, metrics, number, chance)
    struck = time.monotonic()
    ended = job.end(TIMEOUT_SECONDS + PATIENCE_SECONDS)
    check_failure(check, f"{name}, {what}", ended, rf"\brank {rank}\b")
    return time.monotonic() - struck


def main():
    options = parse_arguments()
    options.folder.mkdir(parents=True, exist_ok=True)
    with Checks() as check:
        step = captured_step("llama")
        plan = compile_plan(
            step.archive,
            f"mesh=dp:{RANKS} mode=fully_shard bucket=block reorder=prefetch "
            "optimizer=adamw",
            options.folder / "step.plan.json",
        )
        for backend in options.backends:
            chance = random.Random(f"{backend} {options.seed}")
            longest = 0.0
            for moment in range(options.moments):
                metrics = options.folder / f"{backend}-{moment}.jsonl"
                number = (signal.SIGKILL, signal.SIGSTOP)[moment % 2]
                job = start(backend, step, plan, metrics)
                name = f"{backend}, moment {moment}"
                seconds = check_moment(
                    check, name, job, metrics, number, chance
                )
                longest = max(longest, seconds)
                metrics.unlink(missing_ok=True)
            print(
                f"{backend}: {options.moments} moments, the longest end took "
                f"{longest:.1f} s with a timeout of {TIMEOUT_SECONDS} s"
            )


main()
