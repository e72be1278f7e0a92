"""Records losses, gradients and metrics of masked sequences by PyTorch and scikit-learn in float64, as sequences.json beside this file.

Outputs [M, N, T, W], targets [N, T] of classes or [N, T, W] of values, mask of the targets' shape. Classes are masked by `ignore_index`, values by a
mean over what the mask counts. Inputs are multiples of 1/64, which float32 and decimals hold exactly.
"""

import json
from pathlib import Path

import numpy as np
import sklearn
import torch
from sklearn import metrics
from torch.nn import functional

random = np.random.default_rng(2030)
IGNORED = -100


def in_steps(shape, scale=1.0):
    return torch.tensor(np.round(random.normal(0, scale, shape) * 64) / 64)


def with_gradient(outputs, loss):
    outputs = [output.clone().requires_grad_() for output in outputs]
    value = loss(*outputs)
    return {"loss": value.item(), "gradients": [g.flatten().tolist() for g in torch.autograd.grad(value, outputs)]}


def case(task, outputs, targets, mask, loss, found):
    members = [with_gradient([o[m] for o in outputs], loss) for m in range(len(outputs[0]))]
    return {
        "task": task,
        "shape": list(outputs[0].shape),
        "outputs": [output.flatten().tolist() for output in outputs],
        "targetShape": list(targets.shape[1:]),
        "targets": targets.flatten().tolist(),
        "mask": mask.flatten().int().tolist(),
        "members": members,
        "metrics": {name: float(value) for name, value in found.items()},
    }


def lengths(samples, steps):
    """Sequences of different lengths, padded at the end; one of them is whole."""
    ends = torch.tensor(random.integers(1, steps + 1, samples))
    ends[0] = steps
    return torch.arange(steps)[None] < ends[:, None]


def classification(members=2, samples=5, steps=4, classes=3):
    logits, mask = in_steps((members, samples, steps, classes), 2), lengths(samples, steps)
    labels = torch.tensor(random.integers(0, classes, (samples, steps)))
    ignored = torch.where(mask, labels, IGNORED)

    def loss(own):
        return functional.cross_entropy(own.flatten(0, 1), ignored.flatten(), ignore_index=IGNORED)

    p = logits.softmax(-1).mean(0).flatten(0, 1)
    kept = mask.flatten().numpy()
    y, chosen = labels.flatten().numpy()[kept], p.argmax(-1).numpy()[kept]
    found = {
        "ens_nll": functional.nll_loss(p.log(), ignored.flatten(), ignore_index=IGNORED),
        "member_1_nll": loss(logits[1]),
        "ens_acc": metrics.accuracy_score(y, chosen),
        "ens_f1": metrics.f1_score(y, chosen, average="macro"),
    }
    return case("classification", [logits], labels, mask, loss, found)


def binary(members=2, samples=4, steps=3):
    logits, mask = in_steps((members, samples, steps, 1), 2), lengths(samples, steps)
    y = torch.tensor(random.integers(0, 2, (samples, steps)))

    def loss(own):
        return functional.binary_cross_entropy_with_logits(own[..., 0][mask], y[mask].double())

    p = logits.sigmoid().mean(0)[..., 0]
    found = {"ens_nll": functional.binary_cross_entropy(p[mask], y[mask].double()), "member_0_nll": loss(logits[0])}
    return case("binary", [logits], y, mask, loss, found)


def regression(members=3, samples=4, steps=5, columns=2):
    values, y = in_steps((members, samples, steps, columns)), in_steps((samples, steps, columns))
    mask = lengths(samples, steps)[..., None].repeat(1, 1, columns)
    # A value of a step may be missing alone.
    mask[0, 1, 1] = False

    def loss(own):
        return functional.mse_loss(own[mask], y[mask])

    prediction = values.mean(0)
    r2 = [metrics.r2_score(y[..., c][mask[..., c]], prediction[..., c][mask[..., c]]) for c in range(columns)]
    found = {"ens_mse": loss(prediction), "member_2_mse": loss(values[2]), "ens_r2": np.mean(r2)}
    return case("regression", [values], y, mask, loss, found)


def gaussian(members=2, samples=3, steps=4):
    means, variances = in_steps((members, samples, steps, 1)), in_steps((members, samples, steps, 1)).abs() + 0.25
    y, mask = in_steps((samples, steps, 1)), lengths(samples, steps)[..., None]

    def loss(mean, variance):
        # Tutti's loss is twice the NLL without its constant.
        return 2 * functional.gaussian_nll_loss(mean[mask], y[mask], variance[mask])

    density = torch.distributions.Normal(means, variances.sqrt()).log_prob(y)
    nll = -(density.logsumexp(0) - np.log(members))
    return case("heteroscedastic-regression", [means, variances], y, mask, loss, {"ens_nll": nll[mask].mean()})


def quantiles(members=2, samples=3, steps=3):
    levels = torch.tensor([0.05, 0.5, 0.95])
    values, y, mask = in_steps((members, samples, steps, 3)), in_steps((samples, steps)), lengths(samples, steps)

    def loss(own):
        error = (y[..., None] - own)[mask]
        return torch.maximum(levels * error, (levels - 1) * error).mean()

    found = {"ens_pinball": loss(values.mean(0)), "member_1_pinball": loss(values[1])}
    return case("quantile-regression", [values], y, mask, loss, found)


cases = [classification(), binary(), regression(), gaussian(), quantiles()]
golden = {"source": f"PyTorch {torch.__version__} and scikit-learn {sklearn.__version__}, float64", "cases": cases}
Path(__file__).with_name("sequences.json").write_text(json.dumps(golden, indent=1) + "\n")
