# ===- token-counts.py - A mean over tokens that ranks have unevenly -------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# RUN: rm -rf %t && %python %s %t
#
# F21: ranks have 1 to 4 valid tokens. gradient-scale=global divides the sum of
# gradients by the tokens of all ranks and micro-batches, as one process with the
# whole batch would; the mean of means would weigh tokens by their rank.

import pathlib
import sys

import torch
from reference.training import ordered_sum
from support.compare import Checks
from support.failures import check_command
from support.small import SmallStep
from support.toolchain import tool
from torch import nn
from torch.nn import functional

STEPS = 8
LR = 0.1
IGNORED = -100
CHOICES = (
    ("mesh=dp:1", 1, 1),
    ("mesh=dp:2 mode=replicate", 2, 1),
    ("mesh=dp:2 mode=fully_shard", 2, 1),
    ("mesh=dp:2 mode=fully_shard micro-batches=2", 2, 2),
    ("mesh=dp:2 mode=replicate micro-batches=2", 2, 2),
)


class Classifier(nn.Module):
    def __init__(self, reduction="sum"):
        super().__init__()
        torch.manual_seed(0)
        self.reduction = reduction
        self.layer = nn.Linear(6, 5)

    def forward(self, points, labels):
        loss = functional.cross_entropy(
            self.layer(points),
            labels,
            ignore_index=IGNORED,
            reduction=self.reduction,
        )
        return {"loss": loss, "tokens": (labels != IGNORED).sum()}


def make_batches(count):
    generator = torch.Generator().manual_seed(1)
    batches = []
    for index in range(count):
        labels = torch.randint(5, (4,), generator=generator)
        labels[1 + index % 4 :] = IGNORED
        points = torch.randn(4, 6, generator=generator)
        batches.append({"points": points, "labels": labels})
    return batches


def expected_parameters(batches, ranks, micro_batches):
    """SGD on the sum of gradients over all batches of a step, by tokens."""
    model = Classifier()
    parameters = list(model.parameters())
    optimizer = torch.optim.SGD(parameters, lr=LR, foreach=False, fused=False)
    place = 0
    for _ in range(STEPS):
        # Sums over ranks, one for each micro-batch.
        sums, tokens = [], 0
        for _ in range(micro_batches):
            of_ranks = []
            for _ in range(ranks):
                optimizer.zero_grad()
                result = model(**batches[place % len(batches)])
                result["loss"].backward()
                of_ranks.append([p.grad for p in parameters])
                tokens = tokens + result["tokens"]
                place += 1
            sums.append([ordered_sum(list(g)) for g in zip(*of_ranks)])
        for parameter, gradients in zip(parameters, zip(*sums)):
            parameter.grad = ordered_sum(list(gradients)) / tokens
        optimizer.step()
    return {n: p.detach().clone() for n, p in model.named_parameters()}


folder = pathlib.Path(sys.argv[1])
folder.mkdir(parents=True)
torch.set_num_threads(1)
with Checks() as check:
    batches = make_batches(16)
    step = SmallStep(Classifier, batches, folder / "sum").capture()
    for options, ranks, micro_batches in CHOICES:
        plan = step.compile(
            f"{options} gradient-scale=global:tokens optimizer=sgd"
            + (" sync=each" if micro_batches > 1 else "")
        )
        found = step.train(plan, ranks, STEPS, lr=LR).tensors
        expected = expected_parameters(batches, ranks, micro_batches)
        for name, tensor in expected.items():
            check.that(
                torch.equal(found[name], tensor),
                f"{options}: {name} differs by "
                f"{(found[name] - tensor).abs().max()}",
            )
    mean = SmallStep(
        lambda: Classifier("mean"), batches, folder / "mean"
    ).capture()
    for archive, name, message in (
        (mean.archive, "tokens", "the loss is a mean already"),
        (step.archive, "words", r"name of an output \(tokens\), got 'words'"),
    ):
        check_command(
            check,
            name,
            [
                *(tool("simplefsdp-opt"), archive, "-o", "/dev/null"),
                f"--simplefsdp=mesh=dp:2 gradient-scale=global:{name}",
            ],
            message,
            code=1,
        )
