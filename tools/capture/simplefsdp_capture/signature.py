# ===- signature.py - From AOTAutograd's descriptors to a full signature ---===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The joint graph as traced has one placeholder per parameter name, tangents
# as inputs and descriptors instead of a signature. Here it becomes a graph
# that a reader of ExportedPrograms understands: the loss seeds backward, and
# every input and output says what it is.
# Tested by test/unit/capture/test_bitwise.py and test_manifest.py.
"""From AOTAutograd's descriptors to a full export signature."""

import operator
from dataclasses import dataclass, field

import torch
import torch.utils._pytree as pytree
from torch._functorch._aot_autograd import descriptors as desc
from torch.export.exported_program import (
    ExportedProgram,
    ModuleCallEntry,
    ModuleCallSignature,
)
from torch.export.graph_signature import (
    ExportGraphSignature,
    InputKind,
    InputSpec,
    OutputKind,
    OutputSpec,
    TensorArgument,
)

from .errors import CaptureError
from .names import rename_placeholder

aten = torch.ops.aten
LOSS_INDEX = 0


@dataclass
class Roles:
    """What each placeholder and output of the finished graph is.

    Values are nodes. ``gradients`` and ``mutations`` are keyed by FQN,
    ``inputs`` and ``outputs`` by dotted Python path.
    """

    parameters: dict = field(default_factory=dict)
    buffers: dict = field(default_factory=dict)
    constants: dict = field(default_factory=dict)
    inputs: dict = field(default_factory=dict)
    loss: torch.fx.Node = None
    outputs: dict = field(default_factory=dict)
    gradients: dict = field(default_factory=dict)
    mutations: dict = field(default_factory=dict)


@dataclass(frozen=True)
class ConstantInput:
    """Descriptor of a placeholder for a tensor that forward made."""

    target: str


def lift_constants(graph_module):
    """Turns tensors held by attributes of the graph into placeholders.

    Returns the tensors by name.
    """
    graph, constants = graph_module.graph, {}
    last = graph.find_nodes(op="placeholder")[-1]
    for node in graph.find_nodes(op="get_attr"):
        value = getattr(graph_module, node.target)
        if not isinstance(value, torch.Tensor):
            continue
        if node.target not in constants:
            constants[node.target] = value
            with graph.inserting_after(last):
                last = graph.placeholder(node.target)
            last.meta["val"] = node.meta.get("val", value)
            last.meta["desc"] = ConstantInput(node.target)
        node.replace_all_uses_with(last)
        graph.erase_node(node)
    return constants


def assign_roles(graph, state, in_paths, out_paths):
    """Reads the descriptors of ``graph`` and edits it into its final form.

    Placeholders of aliases and of arguments that are no tensors disappear,
    the tangent of the loss becomes ones_like(loss), and the output lists
    mutated buffers, loss, other outputs and gradients, in this order.
    """
    roles = Roles()
    _merge_getitems(graph)
    _assign_outputs(graph, roles, out_paths)
    _seed_backward(graph, roles, out_paths)
    _assign_placeholders(graph, roles, state, in_paths)
    graph.output(tuple(_ordered_outputs(roles)))
    _drop_asserts(graph)
    graph.eliminate_dead_code()
    graph.lint()
    return roles


def _merge_getitems(graph):
    """Merges equal getitems, which ExportedProgram would do after us."""
    first_of = {}
    for node in graph.find_nodes(
        op="call_function", target=operator.getitem
    ):
        first = first_of.setdefault(node.args, node)
        if first is not node:
            node.replace_all_uses_with(first)
            graph.erase_node(node)


def _assign_outputs(graph, roles, out_paths):
    """Sorts the traced outputs into ``roles`` and removes the output node."""
    output = graph.output_node()
    for node, what in zip(output.args[0], output.meta["desc"], strict=True):
        if node is None:
            continue
        if isinstance(what, desc.GradAOTOutput):
            _assign_gradient(roles, what.grad_of, node)
        elif isinstance(what, desc.InputMutationAOTOutput):
            _assign_mutation(roles, what.mutated_input, node)
        elif not isinstance(what, desc.PlainAOTOutput):
            raise CaptureError(
                "can't capture an output of forward that is a view of "
                f"another differentiable tensor ({what.expr()}): return a "
                "detached copy of it"
            )
        elif what.idx == LOSS_INDEX:
            roles.loss = node
        elif isinstance(node, torch.fx.Node):
            roles.outputs[out_paths[what.idx]] = node
    graph.erase_node(output)


def _assign_gradient(roles, of, node):
    if not isinstance(of, desc.ParamAOTInput):
        raise CaptureError(
            f"can't capture the gradient of {of.expr()}: expected only "
            "parameters to require gradients; detach the others"
        )
    roles.gradients[of.target] = node


def _assign_mutation(roles, of, node):
    """Keeps updates of buffers; those of inputs end with the step."""
    if isinstance(of, desc.BufferAOTInput):
        roles.mutations[of.target] = node
    elif not isinstance(of, desc.PlainAOTInput):
        raise CaptureError(
            f"can't capture the in-place change of {of.expr()} in forward: "
            "parameters change in the optimizer only"
        )


def _seed_backward(graph, roles, out_paths):
    for node in graph.find_nodes(op="placeholder"):
        what = node.meta["desc"]
        if not isinstance(what, desc.TangentAOTInput):
            continue
        index = getattr(what.output, "idx", None)
        if index != LOSS_INDEX:
            raise CaptureError(_second_loss(what.output, out_paths))
        if node.users:
            with graph.inserting_before(min(node.users)):
                seed = graph.call_function(
                    aten.ones_like.default, (roles.loss,)
                )
            seed.meta = dict(roles.loss.meta, autograd_backward=True)
            node.replace_all_uses_with(seed)
        graph.erase_node(node)


def _second_loss(output, out_paths):
    index = getattr(output, "idx", None)
    name = out_paths[index] if index is not None else output.expr()
    return (
        f"output '{name}' of forward requires a gradient besides the loss: "
        "return it detached, or add it to the loss"
    )


def _assign_placeholders(graph, roles, state, in_paths):
    for node in graph.find_nodes(op="placeholder"):
        what = node.meta["desc"]
        target = getattr(what, "target", None)
        if isinstance(what, desc.PlainAOTInput):
            _assign_input(graph, roles, node, in_paths[what.idx])
        elif target in state.aliases:
            graph.erase_node(node)
        elif isinstance(what, desc.ParamAOTInput):
            roles.parameters[target] = node
            rename_placeholder(node, "p_", target)
        elif target in state.buffers:
            roles.buffers[target] = node
            rename_placeholder(node, "b_", target)
        elif isinstance(what, (desc.BufferAOTInput, ConstantInput)):
            roles.constants[target] = node
            rename_placeholder(node, "c_", target)
        else:
            raise CaptureError(f"can't capture graph input {what.expr()}")


def _assign_input(graph, roles, node, path):
    if isinstance(node.meta.get("val"), torch.Tensor):
        roles.inputs[path] = node
        rename_placeholder(node, "", path)
    else:
        graph.erase_node(node)


def _ordered_outputs(roles):
    yield from roles.mutations.values()
    yield roles.loss
    yield from roles.outputs.values()
    yield from roles.gradients.values()


def _drop_asserts(graph):
    for node in graph.find_nodes(
        op="call_function", target=aten._assert_tensor_metadata.default
    ):
        graph.erase_node(node)


def export_signature(roles, state):
    """Builds the ExportGraphSignature that says the same as ``roles``."""
    return ExportGraphSignature(
        [_input_spec(node, state) for node in _placeholders(roles)],
        list(_output_specs(roles)),
    )


def _placeholders(roles):
    graph = roles.loss.graph
    named = {
        node: (kind, name)
        for kind, nodes in (
            (InputKind.PARAMETER, roles.parameters),
            (InputKind.BUFFER, roles.buffers),
            (InputKind.CONSTANT_TENSOR, roles.constants),
            (InputKind.USER_INPUT, roles.inputs),
        )
        for name, node in nodes.items()
    }
    for node in graph.find_nodes(op="placeholder"):
        yield node, *named[node]


def _input_spec(placeholder, state):
    node, kind, name = placeholder
    return InputSpec(
        kind=kind,
        arg=TensorArgument(name=node.name),
        target=None if kind is InputKind.USER_INPUT else name,
        persistent=(
            name in state.persistent if kind is InputKind.BUFFER else None
        ),
    )


def _output_specs(roles):
    def spec(kind, node, target=None):
        return OutputSpec(kind, TensorArgument(name=node.name), target)

    for fqn, node in roles.mutations.items():
        yield spec(OutputKind.BUFFER_MUTATION, node, fqn)
    is_training = bool(roles.gradients)
    yield spec(
        OutputKind.LOSS_OUTPUT if is_training else OutputKind.USER_OUTPUT,
        roles.loss,
    )
    for node in roles.outputs.values():
        yield spec(OutputKind.USER_OUTPUT, node)
    for fqn, node in roles.gradients.items():
        yield spec(OutputKind.GRADIENT_TO_PARAMETER, node, fqn)


def make_program(graph_module, roles, state, constants):
    """Wraps the finished graph as an ExportedProgram.

    ``constants`` holds the tensors that forward made or that export lifted,
    by name. Parameters and buffers are shared with the model, not copied.
    """
    graph_module.recompile()
    constants = {name: constants[name] for name in roles.constants}
    _, in_spec = pytree.tree_flatten(((), dict.fromkeys(roles.inputs)))
    _, out_spec = pytree.tree_flatten(0)
    call = ModuleCallSignature([], [], in_spec=in_spec, out_spec=out_spec)
    saved = {**state.parameters}
    for fqn, buffer in state.buffers.items():
        (saved if fqn in state.persistent else constants)[fqn] = buffer
    return ExportedProgram(
        root=graph_module,
        graph=graph_module.graph,
        graph_signature=export_signature(roles, state),
        state_dict=saved,
        range_constraints={},
        module_call_graph=[ModuleCallEntry("", call)],
        constants=constants,
    )
