# ===- resnet18.py - Built-in ResNet-18 -------------------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# A plain single-device ResNet-18 (He et al., 2015) with torchvision's names
# of parameters and buffers. Batch norms keep running statistics.
# Tested by test/unit/capture/test_models.py.
"""Built-in ResNet-18, in torchvision's names."""

from dataclasses import dataclass

import torch.nn.functional as F
from torch import nn

from .images import image_inputs

STAGES = 4
BLOCKS_PER_STAGE = 2


@dataclass(frozen=True)
class ResnetConfig:
    """Sizes of one ResNet-18; ``width`` is the channels of the first stage."""

    width: int
    image: int
    classes: int
    batch: int


SIZES = {
    "tiny": ResnetConfig(width=8, image=32, classes=10, batch=4),
    "imagenet": ResnetConfig(width=64, image=224, classes=1000, batch=4),
}


class Block(nn.Module):
    """Two 3x3 convolutions around a skip, which follows stride and width."""

    def __init__(self, inputs, outputs, stride):
        super().__init__()
        self.conv1 = nn.Conv2d(inputs, outputs, 3, stride, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(outputs)
        self.conv2 = nn.Conv2d(outputs, outputs, 3, 1, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(outputs)
        self.downsample = None
        if stride != 1 or inputs != outputs:
            self.downsample = nn.Sequential(
                nn.Conv2d(inputs, outputs, 1, stride, bias=False),
                nn.BatchNorm2d(outputs),
            )

    def forward(self, x):
        skip = x if self.downsample is None else self.downsample(x)
        x = F.relu(self.bn1(self.conv1(x)))
        return F.relu(self.bn2(self.conv2(x)) + skip)


def make_stage(inputs, outputs, stride):
    """Blocks of one width; the first one changes size and width."""
    rest = (Block(outputs, outputs, 1) for _ in range(BLOCKS_PER_STAGE - 1))
    return nn.Sequential(Block(inputs, outputs, stride), *rest)


class Resnet18(nn.Module):
    """``forward(images, labels)`` returns the mean cross entropy.

    ``images: f32 [batch, 3, image, image]``, read in the dtype of the weights;
    ``labels: i64 [batch]``.
    """

    def __init__(self, config):
        super().__init__()
        widths = [config.width << stage for stage in range(STAGES)]
        self.conv1 = nn.Conv2d(3, config.width, 7, 2, 3, bias=False)
        self.bn1 = nn.BatchNorm2d(config.width)
        self.layer1 = make_stage(config.width, widths[0], 1)
        self.layer2 = make_stage(widths[0], widths[1], 2)
        self.layer3 = make_stage(widths[1], widths[2], 2)
        self.layer4 = make_stage(widths[2], widths[3], 2)
        self.fc = nn.Linear(widths[3], config.classes)
        for module in self.modules():
            if isinstance(module, nn.Conv2d):
                nn.init.kaiming_normal_(
                    module.weight, mode="fan_out", nonlinearity="relu"
                )

    def forward(self, images, labels):
        x = self.conv1(images.to(self.conv1.weight.dtype))
        x = F.max_pool2d(F.relu(self.bn1(x)), 3, 2, 1)
        for stage in (self.layer1, self.layer2, self.layer3, self.layer4):
            x = stage(x)
        logits = self.fc(x.mean(dim=(2, 3)))
        return F.cross_entropy(logits.float(), labels)


example_inputs = image_inputs
