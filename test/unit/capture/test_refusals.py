# ===- test_refusals.py - What can't be captured is refused by name --------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Each refusal names the module or value, the reason and a way out, and leaves
# no file behind.
"""What can't be captured is refused by name."""

import contextlib
import inspect
import io
import unittest

import torch
from torch import nn
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.fx.experimental.symbolic_shapes import ShapeEnv
from torch.utils.checkpoint import checkpoint

from fixtures import CaptureTest, Pair, batch


class Losses(CaptureTest):
    def test_second_differentiable_output(self):
        class Two(Pair):
            def forward(self, x):
                y = self.b(self.a(x))
                return {"loss": y.square().mean(), "logits": y}

        with self.refused("output 'logits'", "return it detached"):
            self.capture(Two(), (batch(),))

    def test_loss_that_is_no_floating_scalar(self):
        class Result(Pair):
            def forward(self, x):
                return self.outcome(self.b(self.a(x)))

        for outcome, got in (
            (lambda y: y, "torch.float32 of shape [4, 4]"),
            (lambda y: y.argmax(), "torch.int64 of shape []"),
            (lambda y: 3.0, "float"),
            (lambda y: None, "NoneType"),
            (lambda y: (y.detach(), y.mean()), "of shape [4, 4]"),
        ):
            model = Result()
            model.outcome = outcome
            with self.subTest(got=got), self.refused("not a loss", got):
                self.capture(model, (batch(),))

    def test_nothing_to_train(self):
        class Sum(Pair):
            def forward(self, x):
                return x.sum()

        with self.refused("no trainable parameter", "--eval"):
            self.capture(Sum(), (batch(),))
        with self.refused("no trainable parameter"):
            self.capture(Pair().requires_grad_(False), (batch(),))


class DynamicShapes(CaptureTest):
    """F51 and F52: a symbolic size is refused, never made a constant."""

    def test_f51_marked_range(self):
        x = batch()
        torch._dynamo.mark_dynamic(x, 0, min=2, max=10)
        with self.refused("input 'x'", "dimension 0", "[2, 10]"):
            self.capture(Pair(), (x,))

    def test_f51_marked_dimension(self):
        x = batch()
        torch._dynamo.mark_dynamic(x, 0)
        with self.refused("input 'x'", "dimension 0", "static shapes"):
            self.capture(Pair(), (x,))

    def test_f52_symbol(self):
        mode = FakeTensorMode(shape_env=ShapeEnv())
        with self.refused("input 'x'", "symbol s", "range [2,"):
            self.capture(Pair(), (mode.from_tensor(batch()),))


class Choice(nn.Module):
    def forward(self, x):
        if x.sum() > 0:
            return x
        return -x


NO_NUMBERS = "no int(), float(), .item()"
# What PyTorch says of its own symbols.
JARGON = r"(?i)guard|hint|symbol|expression|\b(u|zuf)\d"


def line_of(owner, text):
    """``file:line`` of the first source line of ``owner`` with ``text``."""
    lines, first = inspect.getsourcelines(owner)
    offset = next(i for i, line in enumerate(lines) if text in line)
    return f"test_refusals.py:{first + offset}"


class ValuesDecide(CaptureTest):
    def test_control_flow(self):
        class Flow(Pair):
            def __init__(self):
                super().__init__()
                self.choice = Choice()

            def middle(self, x):
                return self.choice(x)

        printed = io.StringIO()
        with contextlib.redirect_stderr(printed):
            with self.refused(
                f"module 'choice' at {line_of(Choice, 'if x')}: control flow",
                "torch.where",
                f"({NO_NUMBERS}), or decide outside of forward",
            ) as message:
                self.capture(Flow(), (batch(),))
        self.assertEqual(printed.getvalue(), "")
        self.assertNotRegex(message.text, JARGON)

    def test_numbers_of_python(self):
        class Number(Pair):
            def middle(self, x):
                return x * self.kind(x.sum())

        for kind in (int, float, bool):
            model = Number()
            model.kind = kind
            place = f"module 'Number' at {line_of(Number, 'self.kind(')}:"
            with self.subTest(kind=kind):
                with self.refused(place, NO_NUMBERS) as message:
                    self.capture(model, (batch(),))
                self.assertNotRegex(message.text, JARGON)

    def test_number_from_a_tensor(self):
        class Item(Pair):
            def middle(self, x):
                return x * x.sum().item()

        with self.refused("test_refusals.py:", "values of a tensor"):
            self.capture(Item(), (batch(),))

    def test_size_from_a_tensor(self):
        class Selected(Pair):
            def middle(self, x):
                return x + x[x > 0].sum()

        with self.refused("aten.index.Tensor", "values of a tensor"):
            self.capture(Selected(), (batch(),))

    def test_control_flow_operator(self):
        class Cond(Pair):
            def middle(self, x):
                return torch.cond(x.sum() > 0, torch.sin, torch.cos, (x,))

        with self.refused("operator 'cond'", "test_refusals.py:"):
            self.capture(Cond(), (batch(),))


class Hundredfold(torch.autograd.Function):
    """Its backward is no derivative of its forward."""

    @staticmethod
    def forward(context, x):
        return x.clone()

    @staticmethod
    def backward(context, gradient):
        return gradient * 100


class DroppedRegions(CaptureTest):
    """What export would drop without a word."""

    def test_checkpoint(self):
        class Checkpointed(Pair):
            def middle(self, x):
                return checkpoint(
                    torch.relu, x, use_reentrant=self.reentrant
                )

        for reentrant in (False, True):
            model = Checkpointed()
            model.reentrant = reentrant
            with self.refused(
                "module 'Checkpointed' at test_refusals.py:",
                "torch.utils.checkpoint",
            ):
                self.capture(model, (batch(),))

    def test_checkpoint_works_again_afterwards(self):
        x = batch().requires_grad_()
        checkpoint(torch.relu, x, use_reentrant=False).sum().backward()
        checkpoint(torch.relu, x, use_reentrant=True).sum().backward()
        self.assertIsNotNone(x.grad)

    def test_custom_autograd_function(self):
        class Custom(Pair):
            def middle(self, x):
                return Hundredfold.apply(x)

        with self.refused("module 'Custom'", "function 'Hundredfold'"):
            self.capture(Custom(), (batch(),))
        self.capture(Custom(), (batch(),), train=False)
        x = batch().requires_grad_()
        Hundredfold.apply(x).sum().backward()
        self.assertTrue(torch.equal(x.grad, torch.full((4, 8), 100.0)))


class Arguments(CaptureTest):
    def test_no_module(self):
        with self.refused("expected model to be a torch.nn.Module", "dict"):
            self.capture({}, (batch(),))

    def test_names_that_are_no_python(self):
        for key in ("in", 'q"'):
            model = nn.ModuleDict({key: nn.Linear(4, 4)})
            with self.refused(f"name '{key}'", "rename it"):
                self.capture(model, (batch(),))

    def test_wrapped_model(self):
        with self.refused("wrapped by OptimizedModule", "model._orig_mod"):
            self.capture(torch.compile(Pair()), (batch(),))

    def test_no_inputs(self):
        with self.refused("tuple or list", "got Tensor"):
            self.capture(Pair(), batch())

    def test_wrong_inputs(self):
        with self.refused("do not fit Pair.forward", "too many"):
            self.capture(Pair(), (batch(), batch()))
        with self.refused("do not fit Pair.forward", "'y'"):
            self.capture(Pair(), {"x": batch(), "y": batch()})

    def test_differentiable_input(self):
        with self.refused("input 'x' requires a gradient"):
            self.capture(Pair(), (batch().requires_grad_(),))

    def test_wrong_shape_names_the_module(self):
        with self.refused("module 'a' at fixtures.py:", "[4, 5]"):
            self.capture(Pair(), (torch.randn(4, 5),))

    def test_parameters_that_share_memory(self):
        model = Pair()
        model.p = nn.Parameter(model.a.weight.data)
        with self.refused("'a.weight'", "'p'", "share memory"):
            self.capture(model, (batch(),))

    def test_parameters_elsewhere(self):
        with self.refused("parameter 'a.weight' is on meta", "cpu"):
            self.capture(Pair().to("meta"), (batch(),))


if __name__ == "__main__":
    unittest.main()
