"""Records PyTorch's losses and gradients with smoothed labels and a temperature, as softened.json: `python3 make_softened.py`."""

import json
from pathlib import Path

import torch
from torch.nn import functional

EPSILON, TEMPERATURE = 0.2, 1.5


def states(logits, targets):
    smoothed = targets * (1 - EPSILON) + EPSILON / 2
    return functional.binary_cross_entropy_with_logits(logits / TEMPERATURE, smoothed)


def ordinal(logits, labels):
    """Cross-entropy of the class probabilities of continuation ratios."""
    onward = torch.sigmoid(logits / TEMPERATURE)
    reached = torch.cat([torch.ones(len(logits), 1, dtype=torch.float64), onward.cumprod(1)], 1)
    stopped = torch.cat([1 - onward, torch.ones(len(logits), 1, dtype=torch.float64)], 1)
    return functional.cross_entropy((reached * stopped).log(), labels, label_smoothing=EPSILON)


def record(task, loss, logits, targets):
    logits = torch.tensor(logits, dtype=torch.float64, requires_grad=True)
    value = loss(logits, torch.tensor(targets, dtype=torch.float64 if loss is states else torch.long))
    value.backward()
    return {"task": task, "logits": logits.tolist(), "targets": targets, "loss": value.item(), "gradient": logits.grad.tolist()}


cases = [
    record("binary", states, [[0.5], [-1.25], [3.0]], [[1.0], [1.0], [0.0]]),
    record("multi-label", states, [[0.5, -2.0], [1.5, 0.25]], [[1.0, 0.0], [0.0, 1.0]]),
    record("ordinal", ordinal, [[0.5, -1.0, 2.0], [1.0, 0.25, -0.5], [-0.75, 1.5, 0.125]], [0, 3, 1]),
]
golden = {"source": f"PyTorch {torch.__version__}, float64", "labelSmoothing": EPSILON, "temperature": TEMPERATURE, "cases": cases}
Path(__file__).with_name("softened.json").write_text(json.dumps(golden, indent=1) + "\n")
