"""Records SWAG's moments and samples, and running statistics of batch normalization, in float64.

Moments and samples: algorithm 1 of Maddox et al., "A simple baseline for Bayesian uncertainty in deep learning" (arXiv 1902.02476), with the means of the
squares as in the paper. Statistics: `torch.optim.swa_utils.update_bn` of a linear layer and a batch normalization; PyTorch divides the variance
of a batch of b samples by b - 1, TensorFlow.js by b.

Run in this folder: python3 make_swag.py
"""

import json

import numpy as np
import torch
from torch.optim.swa_utils import update_bn

T, K = 7, 4
shapes = {"dense_0/kernel": [2, 3], "dense_0/bias": [3]}
size = sum(int(np.prod(shape)) for shape in shapes.values())


def swag(weights, columns):
    """Moments of weights [T, n], one after the other as in the paper."""
    mean = np.zeros(weights.shape[1])
    squares = np.zeros(weights.shape[1])
    deviations = []
    for n, w in enumerate(weights):
        mean = (n * mean + w) / (n + 1)
        squares = (n * squares + w**2) / (n + 1)
        if len(deviations) == columns:
            deviations.pop(0)
        deviations.append(w - mean)
    return mean, squares - mean**2, np.stack(deviations, axis=1)


def flat_to_tensors(values):
    tensors, start = {}, 0
    for name, shape in shapes.items():
        count = int(np.prod(shape))
        tensors[name] = values[start : start + count].tolist()
        start += count
    return tensors


random = np.random.default_rng(14)
trajectory = (random.normal(size=(1, size)) + 0.3 * random.normal(size=(T, size))).astype(np.float32)
mean, variance, deviations = swag(trajectory.astype(np.float64), K)
z1, z2 = random.normal(size=size), random.normal(size=K)
sample = mean + np.sqrt(variance) * z1 / np.sqrt(2) + deviations @ z2 / np.sqrt(2 * (K - 1))

torch.manual_seed(3)
inputs = torch.randn(12, 2, dtype=torch.float64)
kernel = torch.tensor(np.array(flat_to_tensors(sample)["dense_0/kernel"]).reshape(2, 3))
bias = torch.tensor(np.array(flat_to_tensors(sample)["dense_0/bias"]))
model = torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.BatchNorm1d(3)).double()
with torch.no_grad():
    model[0].weight.copy_(kernel.T)
    model[0].bias.copy_(bias)
# One batch: the statistics do not depend on the order of the samples.
update_bn([inputs], model)

with open("swag.json", "w") as file:
    json.dump(
        {
            "shapes": shapes,
            "columns": K,
            "trajectory": [flat_to_tensors(w) for w in trajectory.astype(np.float64)],
            "mean": flat_to_tensors(mean),
            "variance": flat_to_tensors(variance),
            "deviations": [flat_to_tensors(column) for column in deviations.T],
            "z1": z1.tolist(),
            "z2": z2.tolist(),
            "sample": flat_to_tensors(sample),
            "statistics": {
                "inputs": inputs.tolist(),
                "mean": model[1].running_mean.tolist(),
                "variance": (model[1].running_var * (len(inputs) - 1) / len(inputs)).tolist(),
            },
        },
        file,
        indent=1,
    )
    file.write("\n")
