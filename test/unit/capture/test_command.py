# ===- test_command.py - The capture command -------------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The capture command."""

import contextlib
import io
import os
import subprocess
import sys
import unittest

import torch

from fixtures import TOOL, CaptureTest
from simplefsdp_capture.archive import read_manifest
from simplefsdp_capture.command import main

USER_MODEL = """
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(3, 1)

    def forward(self, x):
        return self.linear(x).mean()

def net(batch=2):
    return Net(), (torch.randn(batch, 3),)

def wrong():
    return Net()

def broken():
    return Net(), (torch.randn(2, 5),)

def failing():
    raise ValueError("out of\\n luck")
"""


class CommandTest(CaptureTest):
    def run_main(self, *arguments):
        """Returns (exit code, standard output, standard error)."""
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            code = main([*arguments, "-o", self.path])
        return code, out.getvalue(), err.getvalue()

    def assert_fails(self, arguments, *parts, code=1):
        got, out, err = self.run_main(*arguments)
        self.assertEqual((got, out), (code, ""))
        self.assertTrue(err.startswith("error: "), err)
        self.assertEqual(err.count("\n"), 1, err)
        for part in parts:
            self.assertIn(part, err)
        self.assertFalse(os.path.exists(self.path))


class BuiltIn(CommandTest):
    def test_options_reach_the_archive(self):
        code, out, err = self.run_main(
            *("llama", "--size", "tiny", "--batch", "3", "--seq", "8"),
            *("--param-dtype", "bf16", "--fake"),
        )
        self.assertEqual((code, err), (0, ""))
        self.assertIn("131,392 parameter elements", out)
        manifest = read_manifest(self.path)
        self.assertEqual(manifest["inputs"][0]["shape"], [3, 8])
        self.assertEqual(manifest["param_dtype"], "bf16")
        self.assertTrue(manifest["fake"])

    def test_eval(self):
        self.run_main("mlp", "--eval")
        self.assertFalse(read_manifest(self.path)["train"])

    def test_seed_decides_the_weights(self):
        weights = []
        for seed in ("1", "1", "2"):
            self.run_main("mlp", "--seed", seed)
            program = torch.export.load(self.path)
            weights.append(program.state_dict["layers.0.weight"])
        self.assertTrue(torch.equal(weights[0], weights[1]))
        self.assertFalse(torch.equal(weights[0], weights[2]))

    def test_refusals(self):
        for arguments, parts in (
            (["bert"], ["unknown model 'bert'", "llama, lora, gpt2"]),
            (
                ["my_model.py"],
                ["'my_model.py' names no function", "my_model.py:FUNCTION"],
            ),
            (["my_model.py:"], ["'my_model.py:' names no function"]),
            ([":build"], ["':build' names no function"]),
            (["llama", "--size", "9b"], ["size '9b'", "tiny, small, 1b"]),
            (["llama", "--size", "8b"], ["--fake"]),
            (["mlp", "--seq", "8"], ["model 'mlp' has no --seq"]),
            (["llama", "--batch", "0"], ["--batch must be at least 1"]),
        ):
            with self.subTest(arguments=arguments):
                self.assert_fails(arguments, *parts, code=2)

    def test_wrong_usage(self):
        for arguments, part in (
            (["mlp"], "required: -o"),
            (["mlp", "-o", "x", "--param-dtype=f8"], "'f8'"),
            (["mlp", "-o", "x", "--speed=high"], "--speed=high"),
            (["mlp", "-o", "x", "--batch=many"], "'many'"),
        ):
            err = io.StringIO()
            with self.subTest(part=part), contextlib.redirect_stderr(err):
                with self.assertRaises(SystemExit) as caught:
                    main(arguments)
                self.assertEqual(caught.exception.code, 2)
                self.assertRegex(err.getvalue(), "^error: .*; see --help\n$")
                self.assertIn(part, err.getvalue())


class UserModel(CommandTest):
    def setUp(self):
        super().setUp()
        self.source = os.path.join(self.folder, "nets.py")
        with open(self.source, "w", encoding="utf-8") as file:
            file.write(USER_MODEL)
        self.addCleanup(sys.modules.pop, "nets", None)
        self.addCleanup(setattr, sys, "path", list(sys.path))

    def test_function_of_a_file(self):
        code, _, err = self.run_main(f"{self.source}:net", "--batch", "7")
        self.assertEqual((code, err), (0, ""))
        self.assertEqual(read_manifest(self.path)["inputs"][0]["shape"][0], 7)

    def test_function_of_a_module(self):
        sys.path.insert(0, self.folder)
        code, _, err = self.run_main("nets:net", "--fake")
        self.assertEqual((code, err), (0, ""))
        self.assertTrue(read_manifest(self.path)["fake"])

    def test_refusals(self):
        for arguments, parts in (
            ([f"{self.source}:nothing"], ["no function 'nothing'"]),
            ([f"{self.source}:wrong"], ["(model, example_inputs)", "Net"]),
            ([f"{self.source}:broken"], ["module 'linear' at nets.py:11"]),
            (["nowhere.py:net"], ["nowhere.py: no such file"]),
            (["no_such_module:net"], ["No module named 'no_such_module'"]),
            (
                [f"{self.source}:failing"],
                ["failed at nets.py:23: ValueError: out of luck"],
            ),
        ):
            with self.subTest(arguments=arguments):
                self.assert_fails(arguments, *parts)

    def test_option_that_the_function_lacks(self):
        arguments = [f"{self.source}:net", "--seq", "3"]
        self.assert_fails(arguments, "no parameter 'seq'", code=2)


class Process(CommandTest):
    def test_module_runs_and_reports_without_a_stack_trace(self):
        command = [sys.executable, "-m", "simplefsdp_capture"]
        environment = {**os.environ, "PYTHONPATH": str(TOOL)}
        result = subprocess.run(
            [*command, "bert", "-o", self.path],
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        self.assertEqual(result.returncode, 2)
        self.assertEqual(result.stdout, "")
        self.assertTrue(result.stderr.startswith("error: unknown model"))
        self.assertNotIn("Traceback", result.stderr)


if __name__ == "__main__":
    unittest.main()
