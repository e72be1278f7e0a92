"""The layers of bench/compute/layers.json in PyTorch, each with a dense layer of 10 behind it."""

import json
import pathlib

import torch
from torch import nn
from torch.nn import functional

MEASURED = json.loads((pathlib.Path(__file__).parent.parent / "compute" / "layers.json").read_text())
CHANNELS_LAST = {"layerNormalization", "dense", "attention", "lstm", "gru", "simpleRNN"}


class Function(nn.Module):
    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, x):
        return self.function(x)


class Recurrent(nn.Module):
    """The last state. PyTorch has no dropout of a layer's state: only that of the inputs is here."""

    def __init__(self, kind, inputs, options):
        super().__init__()
        self.layer = kind(inputs, options["units"], batch_first=True)
        self.rate = options.get("dropout", 0)

    def forward(self, x):
        if self.rate > 0:
            x = x * functional.dropout(torch.ones(x.shape[0], 1, x.shape[2]), self.rate)
        return self.layer(x)[0][:, -1]


class Attention(nn.Module):
    def __init__(self, inputs, units):
        super().__init__()
        self.query, self.key, self.value = (nn.Linear(inputs, units) for _ in range(3))

    def forward(self, x):
        return torch.softmax(self.query(x) @ self.key(x).mT, -1) @ self.value(x)


def convolution(options, channels, rank=2):
    size, stride = options["kernelSize"], options.get("strides", 1)
    kind = nn.Conv1d if rank == 1 else nn.Conv2d
    return nn.Sequential(kind(channels, options["filters"], size, stride, size // 2), nn.ReLU())


def depthwise(options, channels):
    size = options["kernelSize"]
    return nn.Conv2d(channels, channels, size, padding=size // 2, groups=channels)


LAYERS = {
    "dense": lambda options, channels: nn.Sequential(nn.Linear(channels, options["units"]), nn.ReLU()),
    "conv1d": lambda options, channels: convolution(options, channels, 1),
    "conv2d": convolution,
    "depthwiseConv2d": lambda options, channels: nn.Sequential(depthwise(options, channels), nn.ReLU()),
    "separableConv2d": lambda options, channels: nn.Sequential(
        depthwise({"kernelSize": options["kernelSize"]}, channels), nn.Conv2d(channels, options["filters"], 1), nn.ReLU()
    ),
    "conv2dTranspose": lambda options, channels: nn.Sequential(
        nn.ConvTranspose2d(channels, options["filters"], options["kernelSize"], options["strides"], 1, 1), nn.ReLU()
    ),
    "maxPooling2d": lambda options, channels: nn.MaxPool2d(2),
    "averagePooling2d": lambda options, channels: nn.AvgPool2d(2),
    "globalAveragePooling2d": lambda options, channels: nn.AdaptiveAvgPool2d(1),
    "upSampling2d": lambda options, channels: nn.Upsample(scale_factor=2),
    "batchNormalization": lambda options, channels: nn.BatchNorm2d(channels),
    "layerNormalization": lambda options, channels: nn.LayerNorm(channels),
    "relu": lambda options, channels: nn.ReLU(),
    "elu": lambda options, channels: nn.ELU(),
    "gelu": lambda options, channels: nn.GELU(),
    "swish": lambda options, channels: nn.SiLU(),
    "softmax": lambda options, channels: nn.Softmax(-1),
    "prelu": lambda options, channels: nn.PReLU(channels),
    "dropout": lambda options, channels: nn.Dropout(options["rate"]),
    "add": lambda options, channels: Function(lambda x: x + functional.relu(x)),
    "attention": lambda options, channels: Attention(channels, options["units"]),
    "lstm": lambda options, channels: Recurrent(nn.LSTM, channels, options),
    "gru": lambda options, channels: Recurrent(nn.GRU, channels, options),
    "simpleRNN": lambda options, channels: Recurrent(nn.RNN, channels, options),
}


def features_of(measured):
    """Channels lie where PyTorch's layer expects them."""
    *sizes, channels = measured["shape"]
    is_last = measured["layer"] in CHANNELS_LAST
    return torch.randn(measured["batch"], *([*sizes, channels] if is_last else [channels, *sizes]))


def model_of(measured):
    layer = LAYERS[measured["layer"]](measured["options"], measured["shape"][-1])
    with torch.no_grad():
        size = layer(features_of(measured)).flatten(1).shape[1]
    return nn.Sequential(layer, nn.Flatten(), nn.Linear(size, 10))
