"""Records losses, their gradients and metrics of tasks by PyTorch and scikit-learn in float64, as tasks.json beside this file.

Inputs are multiples of 1/64, which float32 and decimals hold exactly.
"""

import json
import math
import pathlib

import numpy as np
import sklearn
import torch
import torch.nn.functional as F
from sklearn import metrics
from torch.distributions import Poisson

random = np.random.default_rng(2028)


def in_steps(shape, scale=1.0):
    return torch.tensor(np.round(random.normal(0, scale, shape) * 64) / 64)


def with_gradient(outputs, loss):
    outputs = [output.clone().requires_grad_() for output in outputs]
    value = loss(*outputs)
    gradients = torch.autograd.grad(value, outputs)
    return {"loss": value.item(), "gradients": [gradient.flatten().tolist() for gradient in gradients]}


def case(outputs, targets, loss, **found):
    """outputs [M, N, W] each; the loss of every member."""
    return {
        "shape": list(outputs[0].shape),
        "outputs": [output.flatten().tolist() for output in outputs],
        "targets": targets.flatten().tolist(),
        "members": [with_gradient([o[m] for o in outputs], lambda *own: loss(*own, targets)) for m in range(len(outputs[0]))],
        "metrics": found,
    }


def multi_label(members=3, samples=20, labels=4):
    logits = in_steps((members, samples, labels), 2)
    y = torch.tensor(random.integers(0, 2, (samples, labels))).double()
    log_p = torch.stack([F.logsigmoid(-logits), F.logsigmoid(logits)])
    own = torch.where(y == 1, log_p[1], log_p[0])
    p = logits.sigmoid().mean(dim=0)
    chosen = (p > 0.5).int().numpy()
    states = y.int().numpy()
    return case(
        [logits],
        y,
        F.binary_cross_entropy_with_logits,
        ens_nll=F.binary_cross_entropy(p, y).item(),
        member_1_nll=-own[1].mean().item(),
        ens_acc=1 - metrics.hamming_loss(states, chosen),
        ens_exact_match=metrics.accuracy_score(states, chosen),
        ens_f1=metrics.f1_score(states, chosen, average="macro"),
        ens_f1_micro=metrics.f1_score(states, chosen, average="micro"),
        ens_brier=((p - y) ** 2).mean().item(),
        ens_auroc=metrics.roc_auc_score(states, p.numpy(), average="macro"),
        ens_ap=metrics.average_precision_score(states, p.numpy(), average="macro"),
    )


def poisson(members=3, samples=12, columns=2):
    z = in_steps((members, samples, columns))
    y = torch.tensor(random.poisson(3, (samples, columns))).double()
    y[0, 0] = 40
    own = Poisson(z.exp()).log_prob(y)
    rate = z.exp().mean(dim=0)
    return case(
        [z],
        y,
        lambda own_z, targets: F.poisson_nll_loss(own_z, targets, log_input=True, full=False),
        ens_nll=-(torch.logsumexp(own, dim=0) - math.log(members)).mean().item(),
        member_2_nll=-own[2].mean().item(),
        ens_deviance=metrics.mean_poisson_deviance(y.flatten(), rate.flatten()),
        ens_mse=metrics.mean_squared_error(y, rate),
    )


def heteroscedastic(members=2, samples=7, columns=3):
    mean, variance = in_steps((members, samples, columns)), in_steps((members, samples, columns)).abs() + 0.25
    y = in_steps((samples, columns))
    return case(
        [mean, variance],
        y,
        # Tutti's loss is twice the Gaussian NLL without its constant.
        lambda m, v, targets: 2 * F.gaussian_nll_loss(m, targets, v, eps=0),
        member_1_nll=F.gaussian_nll_loss(mean[1], y, variance[1], full=True, eps=0).item(),
        ens_r2=metrics.r2_score(y, mean.mean(dim=0)),
    )


def ordinal(members=3, samples=25, classes=5):
    z = in_steps((members, samples, classes - 1), 1.5)
    y = torch.tensor(random.integers(0, classes, samples))

    def log_p(own):
        onward = F.logsigmoid(own).cumsum(-1)
        reached = torch.cat([torch.zeros_like(onward[..., :1]), onward], -1)
        return reached + torch.cat([F.logsigmoid(-own), torch.zeros_like(own[..., :1])], -1)

    mean = log_p(z).exp().mean(dim=0)
    assert torch.allclose(mean.sum(-1), torch.ones(samples).double())
    chosen = mean.argmax(-1)
    return {"classes": classes} | case(
        [z],
        y,
        lambda own, targets: F.nll_loss(log_p(own), targets),
        ens_nll=F.nll_loss(mean.log(), y).item(),
        member_1_nll=F.nll_loss(log_p(z)[1], y).item(),
        ens_acc=metrics.accuracy_score(y, chosen),
        ens_mae=metrics.mean_absolute_error(y, chosen),
        ens_kappa=metrics.cohen_kappa_score(y, chosen, weights="quadratic"),
    )


def quantiles(members=3, samples=30, levels=(0.05, 0.5, 0.95)):
    values = in_steps((members, samples, len(levels))) + torch.tensor([-2.0, 0, 2.0])
    # Between the steps: at a target the loss has no gradient.
    y = in_steps((samples,), 2) + 1 / 128
    q = torch.tensor(levels).double()
    mean = values.mean(dim=0)

    def loss(own, targets):
        error = targets[:, None] - own
        return torch.maximum(q * error, (q - 1) * error).mean()

    def pinball(own):
        return float(np.mean([metrics.mean_pinball_loss(y, own[:, i], alpha=level) for i, level in enumerate(levels)]))

    assert math.isclose(loss(mean, y).item(), pinball(mean), rel_tol=1e-6)
    return case(
        [values],
        y,
        loss,
        ens_pinball=pinball(mean),
        member_1_pinball=pinball(values[1]),
        avg_member_pinball=float(np.mean([pinball(own) for own in values])),
        ens_interval_coverage=((mean[:, 0] <= y) & (y <= mean[:, 2])).double().mean().item(),
        ens_mae=metrics.mean_absolute_error(y, mean[:, 1]),
    )


recorded = {
    "versions": {"torch": torch.__version__.split("+")[0], "scikit-learn": sklearn.__version__},
    "multi-label": multi_label(),
    "poisson-regression": poisson(),
    "heteroscedastic-regression": heteroscedastic(),
    "ordinal": ordinal(),
    "quantile-regression": quantiles(),
}
pathlib.Path(__file__).with_name("tasks.json").write_text(json.dumps(recorded, separators=(",", ":")) + "\n")
