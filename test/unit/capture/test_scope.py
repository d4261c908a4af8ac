# ===- test_scope.py - Module, phase and source line of each node ----------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Module, phase and source line of each node."""

import os
import unittest

import torch

from fixtures import CaptureTest, Pair, batch
from simplefsdp_capture.models import build, configure
from simplefsdp_capture.scope import is_user_file, portable_path


def scopes(replay):
    """{node name: custom} of all operators that are no getitem."""
    return {
        node.name: node.meta["custom"]
        for node in replay.program.graph.nodes
        if node.op == "call_function"
        and isinstance(node.target, torch._ops.OpOverload)
    }


class Scopes(CaptureTest):
    def test_every_operator_has_a_scope(self):
        replay = self.capture(*build(*configure("llama", "tiny")))
        for name, scope in scopes(replay).items():
            self.assertEqual(set(scope), {"fqn", "seq", "phase", "src"}, name)
            self.assertIn(scope["phase"], ("fwd", "bwd"), name)
            self.assertGreaterEqual(scope["seq"], 0, name)

    def test_weights_are_used_in_their_module_in_both_phases(self):
        replay = self.capture(*build(*configure("llama", "tiny")))
        phases = {}
        for scope in scopes(replay).values():
            phases.setdefault(scope["fqn"], set()).add(scope["phase"])
        for entry in replay.manifest["parameters"]:
            module = entry["fqn"].rpartition(".")[0]
            self.assertEqual(phases[module], {"fwd", "bwd"}, module)

    def test_backward_follows_the_loss(self):
        replay = self.capture(*build(*configure("llama", "tiny")))
        order = [scope["phase"] for scope in scopes(replay).values()]
        first = order.index("bwd")
        self.assertEqual(set(order[:first]), {"fwd"})
        self.assertEqual(set(order[first:]), {"bwd"})
        seed = list(scopes(replay))[first]
        self.assertTrue(seed.startswith("ones_like"), seed)

    def test_backward_shares_the_forward_operators_number(self):
        replay = self.capture(*build(*configure("llama", "tiny")))
        numbers = {"fwd": set(), "bwd": set()}
        for scope in scopes(replay).values():
            numbers[scope["phase"]].add(scope["seq"])
        self.assertEqual(min(numbers["fwd"]), 0)
        self.assertLessEqual(numbers["bwd"], numbers["fwd"])

    def test_source_is_the_innermost_user_line(self):
        replay = self.capture(Pair(), (batch(),))
        sources = {scope["src"] for scope in scopes(replay).values()}
        for source in sources:
            self.assertRegex(source, r"^fixtures\.py:\d+$")
        # One line in forward, one in the method that it calls.
        self.assertEqual(len(sources), 2)


class Paths(unittest.TestCase):
    def test_libraries_are_not_the_users(self):
        self.assertFalse(is_user_file(torch.nn.modules.linear.__file__))
        self.assertFalse(is_user_file("<string>"))
        self.assertTrue(is_user_file(__file__))

    def test_paths_are_relative_to_an_import_root(self):
        inside = os.path.join(os.getcwd(), "models", "net.py")
        self.assertEqual(portable_path(inside), "models/net.py")
        self.assertEqual(portable_path("/nowhere/net.py"), "/nowhere/net.py")


if __name__ == "__main__":
    unittest.main()
