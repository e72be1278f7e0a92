"""Records the metrics of PyTorch, torchmetrics, scikit-learn, SciPy and MAPIE for predictions, as metrics.json beside this file.

Inputs are multiples of 1/64, which float32 and decimals hold exactly, so that both sides see the same numbers. Everything is computed in
float64.
"""

import json
import math
import pathlib
import warnings

import mapie
import numpy as np
import scipy
import scipy.stats
import sklearn
import torch
import torch.nn.functional as F
import torchmetrics
from mapie.metrics.calibration import expected_calibration_error
from sklearn.calibration import calibration_curve
from sklearn.metrics import accuracy_score, brier_score_loss, log_loss, mean_squared_error
from torch.distributions import Categorical, MixtureSameFamily, Normal
from torchmetrics.functional.classification import multiclass_accuracy, multiclass_calibration_error

warnings.filterwarnings("ignore")
BINS = 15
random = np.random.default_rng(2026)


def in_steps(values):
    return np.round(np.asarray(values, dtype=np.float64) * 64) / 64


def number(value):
    value = float(value)
    return value if math.isfinite(value) else str(value).replace("inf", "Infinity").replace("nan", "NaN")


def scores(log_p, p, y, edges_agree):
    """For one predictive distribution: log_p, p [N, K] in float64."""
    classes = p.shape[1]
    found = {"nll": number(F.nll_loss(log_p, y))}
    if not torch.isfinite(p).all():
        return {**found, "acc": "NaN", "ece": "NaN", "brier": "NaN"}
    confidence, chosen = p.max(dim=1)
    hits = (chosen == y).numpy().astype(int)
    found["acc"] = number(multiclass_accuracy(p, y, num_classes=classes, average="micro"))
    assert math.isclose(found["acc"], accuracy_score(y, chosen), abs_tol=1e-6)
    found["acc"] = number(accuracy_score(y, chosen))
    # Like scikit-learn's sum over classes, without its check of two classes against the one-sided form.
    found["brier"] = number(((p - F.one_hot(y, classes)) ** 2).sum(dim=1).mean())
    if len(y) > 1:
        of_sklearn = brier_score_loss(y, p.numpy(), labels=list(range(classes)), scale_by_half=False)
        assert math.isclose(found["brier"], of_sklearn, abs_tol=1e-12)
    # MAPIE's `num_bins` counts the edges. Its bins are (lower, upper], like ours.
    found["ece"] = number(expected_calibration_error(hits, confidence.numpy(), num_bins=BINS + 1))
    if edges_agree:
        of_torchmetrics = multiclass_calibration_error(p, y, num_classes=classes, n_bins=BINS, norm="l1")
        found["ece_torchmetrics"] = number(of_torchmetrics)
    # Also (lower, upper]. On edges torchmetrics differs from both, and therefore from us.
    accuracies, confidences = calibration_curve(hits, confidence.numpy(), n_bins=BINS, strategy="uniform")
    found["bins"] = [[number(a), number(c)] for a, c in zip(accuracies, confidences)]
    return found


def classification(name, stack, y, of_logits=True, edges_agree=True):
    """stack: logits or probabilities [M, N, K]."""
    stack = torch.tensor(np.asarray(stack, dtype=np.float32)).double()
    members, samples, classes = stack.shape
    y = torch.tensor(y)
    log_p = F.log_softmax(stack, dim=-1) if of_logits else stack.log()
    p = log_p.exp() if of_logits else stack
    if of_logits and torch.isfinite(p).all():
        for member in range(members):
            entropy = F.cross_entropy(stack[member], y)
            assert torch.isclose(entropy, F.nll_loss(log_p[member], y), rtol=1e-12, atol=0) or entropy.isinf()
    mixture = torch.logsumexp(log_p, dim=0) - math.log(members)
    mean = p.mean(dim=0)
    product = F.log_softmax(log_p.mean(dim=0), dim=-1)
    total = scipy.stats.entropy(mean.numpy(), axis=1)
    own = torch.stack([torch.special.entr(row).sum(dim=-1) for row in p]).numpy()
    own_of_scipy = scipy.stats.entropy(p.numpy(), axis=2)
    assert np.allclose(own, own_of_scipy, rtol=1e-9, atol=1e-12, equal_nan=True)
    chosen = p.argmax(dim=-1).numpy()
    is_finite = bool(torch.isfinite(p).all())
    return {
        "name": name,
        "form": "logits" if of_logits else "probabilities",
        "shape": [members, samples, classes],
        "values": [number(value) for value in stack.flatten().tolist()],
        "targets": y.tolist(),
        "ensemble": scores(mixture, mean, y, edges_agree),
        "product": scores(product, product.exp(), y, edges_agree) if of_logits else None,
        "members": [scores(log_p[m], p[m], y, edges_agree) for m in range(members)],
        "predictive_entropy": number(total.mean()) if is_finite else "NaN",
        "mutual_information": number((total - own.mean(axis=0)).mean()) if is_finite else "NaN",
        "not_unanimous": number((chosen != chosen[0]).any(axis=0).mean()) if is_finite else "NaN",
    }


def binary(name, logits, y):
    z = torch.tensor(np.asarray(logits, dtype=np.float32)).double()
    y = torch.tensor(y)
    log_p = torch.stack([F.logsigmoid(-z), F.logsigmoid(z)], dim=-1)
    ensemble = torch.logsumexp(log_p, dim=0) - math.log(len(z))
    return {
        "name": name,
        "shape": list(z.shape),
        "values": z.flatten().tolist(),
        "targets": y.tolist(),
        "ensemble_nll": number(F.nll_loss(ensemble, y)),
        # Not `binary_cross_entropy_with_logits`, which splits off -z + log(sigmoid) and so loses precision for nearly certain predictions.
        "member_nll": [number(F.nll_loss(row, y)) for row in log_p],
        "member_acc": [number(((row > 0).long() == y).double().mean()) for row in z],
    }


def regression(name, means, variances, y):
    m, v, t = (torch.tensor(np.asarray(a, dtype=np.float32)).double() for a in (means, variances, y))
    members = len(m)
    mixture = MixtureSameFamily(
        Categorical(torch.full((m.shape[1], members), 1 / members, dtype=torch.float64)), Normal(m.T, v.T.sqrt())
    )
    mean = m.mean(dim=0)
    return {
        "name": name,
        "shape": list(m.shape),
        "means": m.flatten().tolist(),
        "variances": v.flatten().tolist(),
        "targets": t.tolist(),
        "ens_mse": number(mean_squared_error(t, mean)),
        "member_mse": [number(torchmetrics.functional.mean_squared_error(row, t)) for row in m],
        "member_nll": [number(F.gaussian_nll_loss(a, t, b, full=True, eps=0)) for a, b in zip(m, v)],
        "ens_nll": number(-mixture.log_prob(t).mean()),
        "ens_std": number(m.std(dim=0).mean()) if members > 1 else 0.0,
        "aleatoric_variance": number(v.mean(dim=0).mean()),
        "epistemic_variance": number(m.var(dim=0, unbiased=False).mean()),
    }


def labels(samples, classes):
    return random.integers(0, classes, samples).tolist()


def logits(members, samples, classes, scale):
    return in_steps(random.normal(0, scale, (members, samples, classes)))


classifications = []
for members, samples, classes, scale in [
    (1, 1, 2, 1), (2, 1, 3, 2), (3, 7, 2, 1), (2, 5, 3, 3), (4, 9, 4, 2), (5, 11, 5, 4), (2, 33, 10, 5), (8, 6, 3, 1), (3, 17, 8, 50),
]:  # fmt: skip
    name = f"M={members} N={samples} K={classes} scale={scale}"
    # For torchmetrics, confidences closer to 1 than float32's precision are on an edge.
    edges_agree = scale < 50
    given = logits(members, samples, classes, scale)
    classifications.append(classification(name, given, labels(samples, classes), edges_agree=edges_agree))
gaps = [[[200, 0, -200], [0, 200, 0], [0, 0, 200]], [[100, 0, 0], [-200, 0, 0], [0, 1, 0]]]
for target in ([0, 1, 2], [1, 0, 0], [2, 2, 1]):
    classifications.append(classification(f"gaps of 200 and 400, targets {target}", gaps, target))
classifications += [
    classification("gaps of 1000: probabilities underflow float64", [[[1000, 0]], [[1500, 0]]], [1]),
    classification("one broken and one gap of 1000", [[[1000, 0]], [[0, 0]]], [1]),
    classification("nearly certain and right", [[[20, 0], [0, 25]], [[30, 0], [0, 18]]], [0, 1]),
    classification("all of one class", logits(3, 8, 3, 2), [1] * 8),
    classification("identical members", np.repeat(logits(1, 6, 3, 2), 3, axis=0), labels(6, 3)),
    classification("equal logits", np.zeros((2, 4, 4)), [0, 1, 2, 3]),
    classification("a masked class of logit -Infinity", [[[1, -math.inf, 2]], [[0, -math.inf, 0]]], [0]),
    classification("a masked class is the target", [[[1, -math.inf, 2]], [[0, -math.inf, 0]]], [1]),
    classification("NaN in one member", [[[1, 2], [math.nan, 0]], [[1, 0], [0, 1]]], [0, 1]),
    classification("Infinity in one member", [[[1, 2], [math.inf, 0]], [[1, 0], [0, 1]]], [0, 1]),
]
certain = [[[1, 0], [0, 1], [1, 0]], [[1, 0], [1, 0], [1, 0]]]
classifications += [
    classification("probabilities 0 and 1, right", certain, [0, 1, 0], of_logits=False, edges_agree=False),
    classification("probabilities 0 and 1, wrong", certain, [1, 1, 0], of_logits=False, edges_agree=False),
    classification("probabilities of 1/2: ties", np.full((2, 4, 2), 0.5), [0, 1, 1, 0], of_logits=False),
    classification(
        "given probabilities", in_steps([[[0.75, 0.25], [0.5, 0.5]], [[0.25, 0.75], [0.9375, 0.0625]]]), [0, 1],
        of_logits=False,
    ),
]  # fmt: skip

binaries = [
    binary("small", in_steps(random.normal(0, 2, (3, 9))), labels(9, 2)),
    binary("one sample", [[0.5]], [1]),
    binary("zeros: ties are class 0", [[0, 0, 0], [0, 1, -1]], [0, 1, 0]),
    binary("gaps of 200", [[200, -200, 0], [100, -100, 50]], [0, 1, 1]),
    binary("nearly certain and right", [[40, -40], [30, -36]], [1, 0]),
    binary("all of one class", in_steps(random.normal(0, 3, (2, 7))), [1] * 7),
]

regressions = []
for members, samples, offset in [(1, 1, 0), (1, 6, 0), (2, 1, 3), (3, 8, 0), (5, 20, 1000), (2, 4, -7)]:
    means = in_steps(random.normal(offset, 2, (members, samples)))
    variances = in_steps(random.uniform(0.05, 4, (members, samples)))
    targets = in_steps(random.normal(offset, 2, samples))
    regressions.append(regression(f"M={members} N={samples} around {offset}", means, variances, targets))
regressions += [
    regression("one member far away", [[0, 0], [1000, 1000]], [[1, 1], [1, 1]], [0, 0.5]),
    regression("a small variance", [[0, 1], [0.5, 1]], [[1 / 64, 2], [1 / 64, 1 / 64]], [3, 1]),
    regression("identical members", [[1, 2], [1, 2], [1, 2]], [[1, 1], [1, 1], [1, 1]], [1, 4]),
]

versions = {
    "torch": torch.__version__.split("+")[0],
    "torchmetrics": torchmetrics.__version__,
    "scikit-learn": sklearn.__version__,
    "mapie": mapie.__version__,
    "scipy": scipy.__version__,
    "numpy": np.__version__,
}
lists = {"classification": classifications, "binary": binaries, "regression": regressions}
body = ",\n".join(
    f'"{kind}": [\n' + ",\n".join(json.dumps(case, separators=(",", ":")) for case in cases) + "\n]"
    for kind, cases in lists.items()
)
pathlib.Path(__file__).with_name("metrics.json").write_text(f'{{"versions": {json.dumps(versions)},\n{body}\n}}\n')
