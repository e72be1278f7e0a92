"""Records PyTorch's results for the optimizers and schedules of a run, as optimizers.json.

It trains a tiny MLP in float64 from given weights on given data, with batches in order: `python3 make_optimizers.py` with PyTorch 1.13 or
later. Weights have TensorFlow.js's layout, kernels [inputs, outputs].
"""

import json
import math
from pathlib import Path

import torch

SAMPLES, FEATURES, HIDDEN, CLASSES, BATCH, STEPS = 24, 2, 8, 3, 8, 30
EPOCH_STEPS = SAMPLES // BATCH
BASE = 0.05

CASES = {
    "sgd": {"kind": "sgd", "momentum": 0, "nesterov": False, "weightDecay": 0},
    "sgd, momentum": {"kind": "sgd", "momentum": 0.9, "nesterov": False, "weightDecay": 0},
    "sgd, Nesterov momentum and decay": {"kind": "sgd", "momentum": 0.9, "nesterov": True, "weightDecay": 0.01},
    "adam": {"kind": "adam", "beta1": 0.9, "beta2": 0.999, "epsilon": 1e-8, "weightDecay": 0},
    "adam, decay": {"kind": "adam", "beta1": 0.8, "beta2": 0.99, "epsilon": 1e-6, "weightDecay": 0.02},
    "rmsprop": {"kind": "rmsprop", "rho": 0.99, "momentum": 0, "centered": False, "epsilon": 1e-8, "weightDecay": 0},
    "rmsprop, centered, momentum and decay": {"kind": "rmsprop", "rho": 0.9, "momentum": 0.8, "centered": True, "epsilon": 1e-6, "weightDecay": 0.02},
    "adamw": {"kind": "adamw", "beta1": 0.9, "beta2": 0.999, "epsilon": 1e-8, "weightDecay": 0.1},
}
SCHEDULES = {
    "constant": {"kind": "constant", "warmupSteps": 0},
    "cosine": {"kind": "cosine", "warmupSteps": 0, "floorFraction": 0.1},
    "step": {"kind": "step", "warmupSteps": 0, "everyEpochs": 4, "factor": 0.5},
    "polynomial": {"kind": "polynomial", "warmupSteps": 5, "power": 2, "floorFraction": 0},
    "cosine-restarts": {"kind": "cosine-restarts", "warmupSteps": 4, "cycleSteps": 6, "cycleFactor": 2, "floorFraction": 0.2},
}
RUNS = [(case, "constant") for case in CASES] + [
    ("sgd, momentum", "cosine"),
    ("adam", "step"),
    ("adam", "polynomial"),
    ("sgd, momentum", "cosine-restarts"),
]


def data():
    """Three arms of a spiral, alternating."""
    features, labels = [], []
    for i in range(SAMPLES):
        label, along = i % CLASSES, (i // CLASSES + 1) / (SAMPLES // CLASSES)
        angle = 2 * math.pi * (label / CLASSES + along / 2)
        features.append([round(2 * along * math.cos(angle), 4), round(2 * along * math.sin(angle), 4)])
        labels.append(label)
    return features, labels


def model():
    torch.manual_seed(0)
    layers = torch.nn.Sequential(torch.nn.Linear(FEATURES, HIDDEN), torch.nn.Tanh(), torch.nn.Linear(HIDDEN, CLASSES))
    with torch.no_grad():
        for parameter in layers.parameters():
            # Four decimals, so that float32 and float64 start from almost equal values.
            parameter.copy_((parameter * 1e4).round() / 1e4)
    return layers.double()


def optimizer(parameters, case):
    decay = case["weightDecay"]
    if case["kind"] == "sgd":
        return torch.optim.SGD(
            parameters, BASE, momentum=case["momentum"], nesterov=case["nesterov"], weight_decay=decay
        )
    if case["kind"] == "rmsprop":
        options = {"alpha": case["rho"], "centered": case["centered"], "momentum": case["momentum"]}
        return torch.optim.RMSprop(parameters, BASE / 10, eps=case["epsilon"], weight_decay=decay, **options)
    kind = {"adam": torch.optim.Adam, "adamw": torch.optim.AdamW}[case["kind"]]
    betas = (case["beta1"], case["beta2"])
    return kind(parameters, BASE, betas=betas, eps=case["epsilon"], weight_decay=decay)


def schedule(steps_of, case):
    if case["kind"] == "cosine":
        return torch.optim.lr_scheduler.CosineAnnealingLR(steps_of, STEPS, eta_min=BASE * case["floorFraction"])
    if case["kind"] == "step":
        return torch.optim.lr_scheduler.StepLR(steps_of, case["everyEpochs"] * EPOCH_STEPS, case["factor"])
    if case["kind"] == "polynomial":
        warmup = case["warmupSteps"]
        return warmed(steps_of, warmup, torch.optim.lr_scheduler.PolynomialLR(steps_of, STEPS - warmup, case["power"]))
    if case["kind"] == "cosine-restarts":
        cycles = (case["cycleSteps"], case["cycleFactor"], BASE * case["floorFraction"])
        cosines = torch.optim.lr_scheduler.CosineAnnealingWarmRestarts(steps_of, *cycles)
        return warmed(steps_of, case["warmupSteps"], cosines)
    return torch.optim.lr_scheduler.ConstantLR(steps_of, factor=1)


def warmed(steps_of, warmup, following):
    rise = torch.optim.lr_scheduler.LinearLR(steps_of, 1 / warmup, total_iters=warmup - 1)
    return torch.optim.lr_scheduler.SequentialLR(steps_of, [rise, following], [warmup])


def train(case, kind, features, labels):
    net = model()
    steps_of = optimizer(net.parameters(), CASES[case])
    rates_of = schedule(steps_of, SCHEDULES[kind])
    losses, rates = [], []
    for step in range(STEPS):
        batch = slice(step % EPOCH_STEPS * BATCH, (step % EPOCH_STEPS + 1) * BATCH)
        loss = torch.nn.functional.cross_entropy(net(features[batch]), labels[batch])
        losses.append(loss.item())
        rates.append(rates_of.get_last_lr()[0])
        steps_of.zero_grad()
        loss.backward()
        steps_of.step()
        rates_of.step()
    settings = {**CASES[case], "learningRate": steps_of.defaults["lr"]}
    return {"name": case, "optimizer": settings, "schedule": SCHEDULES[kind], "rates": rates, "losses": losses}


def main():
    features, labels = data()
    tensors = (torch.tensor(features, dtype=torch.float64), torch.tensor(labels))
    weights = [parameter.detach().t().tolist() for parameter in model().parameters()]
    golden = {
        "source": f"PyTorch {torch.__version__}, float64",
        "batchSize": BATCH,
        "features": features,
        "labels": labels,
        "weights": weights,
        "runs": [train(case, kind, *tensors) for case, kind in RUNS],
    }
    path = Path(__file__).with_name("optimizers.json")
    path.write_text(json.dumps(golden, indent=1) + "\n")


main()
