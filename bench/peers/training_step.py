"""The networks of bench/compute/networks.ts, and the layers of bench/compute/layers.json, in PyTorch.

For each input line "<case> <steps>" it prints the time of each training step in ms.
"""

import json
import os
import sys
import time

import torch
from torch import nn
from torch.nn import functional

import layers

torch.set_num_threads(int(os.environ.get("OMP_NUM_THREADS", "1")))
torch.manual_seed(1)


def multilayer_perceptron():
    return nn.Sequential(nn.Linear(3072, 512), nn.ReLU(), nn.Linear(512, 512), nn.ReLU(), nn.Linear(512, 10))


def small_cnn():
    return nn.Sequential(
        nn.Conv2d(1, 32, 3, padding=1),
        nn.ReLU(),
        nn.Conv2d(32, 64, 3, stride=2, padding=1),
        nn.ReLU(),
        nn.Flatten(),
        nn.Linear(64 * 14 * 14, 10),
    )


class MeanAndVariance(nn.Module):
    def __init__(self):
        super().__init__()
        self.mean = nn.Sequential(nn.Linear(1, 50), nn.Sigmoid(), nn.Linear(50, 1))
        self.variance = nn.Sequential(nn.Linear(1, 50), nn.Sigmoid(), nn.Linear(50, 1), nn.Softplus())

    def forward(self, x):
        return self.mean(x), self.variance(x)


class BasicBlock(nn.Module):
    def __init__(self, inputs, filters, stride):
        super().__init__()
        self.inner = nn.Sequential(
            nn.Conv2d(inputs, filters, 3, stride, 1, bias=False),
            nn.BatchNorm2d(filters),
            nn.ReLU(),
            nn.Conv2d(filters, filters, 3, 1, 1, bias=False),
            nn.BatchNorm2d(filters),
        )
        self.shortcut = nn.Identity()
        if stride != 1 or inputs != filters:
            self.shortcut = nn.Sequential(nn.Conv2d(inputs, filters, 1, stride, bias=False), nn.BatchNorm2d(filters))

    def forward(self, x):
        return functional.relu(self.inner(x) + self.shortcut(x))


def resnet_18():
    layers = [nn.Conv2d(3, 64, 3, 1, 1, bias=False), nn.BatchNorm2d(64), nn.ReLU()]
    inputs = 64
    for stage, filters in enumerate((64, 128, 256, 512)):
        layers += [BasicBlock(inputs, filters, 1 if stage == 0 else 2), BasicBlock(filters, filters, 1)]
        inputs = filters
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(512, 10))


class Recurrent(nn.Module):
    def __init__(self, kind, inputs, units, bidirectional=False):
        super().__init__()
        self.layer = kind(inputs, units, batch_first=True, bidirectional=bidirectional)
        self.head = nn.Linear(units * (2 if bidirectional else 1), 10)
        self.bidirectional = bidirectional

    def forward(self, x):
        _, state = self.layer(x)
        last = state[0] if isinstance(state, tuple) else state
        return self.head(torch.cat((last[0], last[1]), 1) if self.bidirectional else last[0])


def gaussian_nll(outputs, targets):
    mean, variance = outputs
    return (torch.log(variance) + (targets - mean) ** 2 / variance).mean()


def images(count, *shape):
    return torch.randn(count, *shape), torch.arange(count) % 10


def points():
    x = torch.arange(20, dtype=torch.float32).reshape(20, 1) / 2
    return x, x * torch.sin(x)


def adam(model):
    return torch.optim.Adam(model.parameters(), 0.001)


def sgd(model):
    return torch.optim.SGD(model.parameters(), 0.01, momentum=0.9)


CASES = {
    "mlp": (multilayer_perceptron, adam, functional.cross_entropy, lambda: images(128, 3072)),
    "cnn": (small_cnn, adam, functional.cross_entropy, lambda: images(64, 1, 28, 28)),
    "two-nets": (MeanAndVariance, adam, gaussian_nll, points),
    "lstm-16": (lambda: Recurrent(nn.LSTM, 8, 16), adam, functional.cross_entropy, lambda: images(64, 40, 8)),
    "gru-16": (lambda: Recurrent(nn.GRU, 8, 16), adam, functional.cross_entropy, lambda: images(64, 40, 8)),
    "bidirectional-gru-16": (lambda: Recurrent(nn.GRU, 8, 16, True), adam, functional.cross_entropy, lambda: images(64, 40, 8)),
    "lstm-128": (lambda: Recurrent(nn.LSTM, 64, 128), adam, functional.cross_entropy, lambda: images(64, 40, 64)),
    "resnet-18": (resnet_18, sgd, functional.cross_entropy, lambda: images(32, 3, 32, 32)),
}

for i, measured in enumerate(layers.MEASURED):
    CASES[f"layer-{i}"] = (
        lambda measured=measured: layers.model_of(measured),
        adam,
        functional.cross_entropy,
        lambda measured=measured: (layers.features_of(measured), torch.arange(measured["batch"]) % 10),
    )


def stepper(name):
    make_model, make_optimizer, loss_of, make_batch = CASES[name]
    model = make_model()
    optimizer = make_optimizer(model)
    features, targets = make_batch()

    def step():
        optimizer.zero_grad()
        loss = loss_of(model(features), targets)
        loss.backward()
        optimizer.step()
        return loss.item()

    return step


def main():
    print(json.dumps({"description": f"PyTorch {torch.__version__} ({os.environ.get('OPENBLAS_CORETYPE', 'native')})"}), flush=True)
    steppers = {}
    for line in sys.stdin:
        name, steps = line.split()
        if name not in steppers:
            steppers[name] = stepper(name)
        step = steppers[name]
        steps_ms = []
        for _ in range(int(steps)):
            start = time.perf_counter()
            step()
            steps_ms.append((time.perf_counter() - start) * 1000)
        print(json.dumps({"stepsMs": steps_ms}), flush=True)


if __name__ == "__main__":
    main()
