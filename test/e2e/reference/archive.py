# ===- archive.py - Training a saved graph by PyTorch itself ---------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# For archives whose model we do not have: PyTorch loads the graph and runs it
# operator by operator; AdamW follows. That is what the runtime must equal.
# Tested by test/e2e/foreign-archives.py.

import torch
from safetensors.torch import load_file
from torch.export.graph_signature import InputKind, OutputKind

from reference.training import Trained, adamw, batch_at


class SavedStep:
    """A joint graph and its state; inputs are known by their graph names."""

    def __init__(self, path):
        self.program = torch.export.load(path)
        signature = self.program.graph_signature
        self.parameters = {
            name: torch.nn.Parameter(
                tensor.detach().clone(), requires_grad=tensor.requires_grad
            )
            for name, tensor in self.program.state_dict.items()
            if name in signature.parameters
        }
        self.buffers = {
            name: tensor.clone()
            for name, tensor in {
                **self.program.state_dict,
                **self.program.constants,
            }.items()
            if name not in signature.parameters
        }

    def input_names(self):
        """Names of the user's inputs, in order."""
        return list(self.program.graph_signature.user_inputs)

    def example_batch(self):
        """{input name: an example tensor's shape and dtype}."""
        placeholders = {
            node.name: node.meta["val"]
            for node in self.program.graph.nodes
            if node.op == "placeholder"
        }
        return {name: placeholders[name] for name in self.input_names()}

    def run(self, batch):
        """Returns (loss, {fqn: gradient}); buffers change in place."""
        arguments = [
            self._argument(spec, batch)
            for spec in self.program.graph_signature.input_specs
        ]
        with torch.no_grad():
            interpreter = torch.fx.Interpreter(self.program.graph_module)
            results = interpreter.run(*arguments)
        loss, gradients = None, {}
        specs = self.program.graph_signature.output_specs
        for spec, value in zip(specs, results):
            if spec.kind is OutputKind.LOSS_OUTPUT:
                loss = value
            elif spec.kind is OutputKind.GRADIENT_TO_PARAMETER:
                gradients[spec.target] = value
            elif spec.kind is OutputKind.BUFFER_MUTATION:
                self.buffers[spec.target] = value
        return loss, gradients

    def _argument(self, spec, batch):
        if spec.kind is InputKind.USER_INPUT:
            return batch[spec.arg.name]
        if spec.kind is InputKind.PARAMETER:
            return self.parameters[spec.target].detach()
        return self.buffers[spec.target]


def train_archive(path, data, steps, lr=1e-3):
    """Trains the saved graph on one rank with the batches of a file."""
    step = SavedStep(path)
    batches = load_file(data)
    optimizer = adamw(list(step.parameters.values()), lr)
    losses = []
    for index in range(steps):
        loss, gradients = step.run(batch_at(batches, index))
        for name, parameter in step.parameters.items():
            parameter.grad = gradients.get(name)
        optimizer.step()
        losses.append(loss.clone())
    tensors = {"loss": losses[-1]}
    tensors |= {n: p.detach().clone() for n, p in step.parameters.items()}
    # What the state does not hold is a constant, and no part of a dump.
    tensors |= {
        name: buffer.clone()
        for name, buffer in step.buffers.items()
        if name in step.program.state_dict
    }
    tensors |= {
        f"grad.{name}": parameter.grad
        for name, parameter in step.parameters.items()
        if parameter.grad is not None
    }
    return Trained(losses, tensors)
