"""Records losses of products of experts, and of members coupled by labels, by PyTorch in float64, as products.json: `python3 make_products.py`.

The product's distribution is built from the members' distributions themselves (logarithms averaged, then normalised), not from mean logits. The
gradients are those of autograd through it. Values are multiples of 1/64, which float32 has exactly.
"""

import json
from pathlib import Path

import torch
from torch.distributions import Bernoulli, Poisson, kl_divergence
from torch.nn import functional

MEMBERS, BATCH = 3, 4
generator = torch.Generator().manual_seed(14)


def on_grid(*shape, scale=1.5):
    return (torch.randn(shape, generator=generator, dtype=torch.float64) * scale * 64).round() / 64


def classes_loss(outputs, targets, smoothing, temperature):
    logs = functional.log_softmax(outputs / temperature, -1).mean(0)
    return functional.cross_entropy(logs, targets.long(), label_smoothing=smoothing)


def states_loss(outputs, targets, smoothing, temperature):
    both = torch.stack([functional.logsigmoid(-outputs / temperature), functional.logsigmoid(outputs / temperature)], -1).mean(0)
    logs = functional.log_softmax(both, -1)
    smoothed = targets.reshape(outputs.shape[1:]) * (1 - smoothing) + smoothing / 2
    return -(smoothed * logs[..., 1] + (1 - smoothed) * logs[..., 0]).mean()


def counts_loss(outputs, targets, smoothing, temperature):
    """The normalised geometric mean over counts from 0 to 400, without the term log y! that no weight changes."""
    support = torch.arange(401, dtype=torch.float64)
    logs = functional.log_softmax(Poisson(outputs.exp()[..., None]).log_prob(support).mean(0), -1)
    chosen = logs.gather(-1, targets.long().reshape(*outputs.shape[1:], 1))
    return (-chosen[..., 0] - torch.lgamma(targets.reshape(outputs.shape[1:]) + 1)).mean()


def values_loss(outputs, targets, smoothing, temperature):
    return ((outputs.mean(0) - targets.reshape(outputs.shape[1:])) ** 2).mean()


LOSSES = {
    "classification": classes_loss,
    "binary": states_loss,
    "multi-label": states_loss,
    "poisson-regression": counts_loss,
    "regression": values_loss,
}


def record(task, width, targets, smoothing=0.0, temperature=1.0):
    outputs = on_grid(MEMBERS, BATCH, width).requires_grad_()
    loss = LOSSES[task](outputs, targets, smoothing, temperature)
    (gradient,) = torch.autograd.grad(loss, outputs)
    return {
        "task": task,
        "labelSmoothing": smoothing,
        "temperature": temperature,
        "outputs": outputs.flatten(1).tolist(),
        "targets": targets.flatten().tolist(),
        "loss": loss.item(),
        "gradients": gradient.flatten(1).tolist(),
    }


def product_nll(case):
    """The score of the product as a distribution: with log y! for counts."""
    outputs = torch.tensor(case["outputs"], dtype=torch.float64).mean(0)
    targets = torch.tensor(case["targets"], dtype=torch.float64)
    of = Poisson(outputs.exp()) if case["task"] == "poisson-regression" else Bernoulli(logits=outputs)
    return -of.log_prob(targets).mean().item()


def coupled():
    """KL of a member's decisions from the ensemble's mean, which takes no gradient; the mean over samples and labels."""
    logits = on_grid(MEMBERS, BATCH, 2).requires_grad_()
    mean = logits.sigmoid().mean(0).detach()
    losses = [kl_divergence(Bernoulli(logits=own), Bernoulli(probs=mean)).mean() for own in logits]
    (gradient,) = torch.autograd.grad(sum(losses), logits)
    return {"logits": logits.flatten(1).tolist(), "losses": [loss.item() for loss in losses], "gradients": gradient.flatten(1).tolist()}


labels = torch.tensor([2.0, 0.0, 1.0, 2.0], dtype=torch.float64)
states = torch.tensor([[1.0, 0.0], [0.0, 0.0], [1.0, 1.0], [0.0, 1.0]], dtype=torch.float64)
counts = torch.tensor([[3.0, 0.0], [1.0, 7.0], [0.0, 2.0], [5.0, 1.0]], dtype=torch.float64)
cases = [
    record("classification", 3, labels),
    record("classification", 3, labels, 0.2, 1.5),
    record("binary", 1, states[:, 0]),
    record("binary", 1, states[:, 1], 0.2, 1.5),
    record("multi-label", 2, states),
    record("multi-label", 2, states, 0.2, 1.5),
    record("poisson-regression", 2, counts),
    record("regression", 2, on_grid(4, 2)),
]
for case in cases:
    if case["task"] in ("multi-label", "poisson-regression"):
        case["productNll"] = product_nll(case)
golden = {"source": f"PyTorch {torch.__version__}, float64", "cases": cases, "coupled": coupled()}
Path(__file__).with_name("products.json").write_text(json.dumps(golden, indent=1) + "\n")
