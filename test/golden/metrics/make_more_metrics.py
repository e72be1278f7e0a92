"""Records metrics on request by scikit-learn, torchmetrics, SciPy and NumPy for drawn predictions, as more-metrics.json beside this file.

Inputs are multiples of 1/64, which float32 and decimals hold exactly. Everything is computed in float64. Calibration errors by class and of equal
mass are their formulas in NumPy; the CRPS is SciPy's numerical integral of its definition.
"""

import json
import pathlib
import warnings

import numpy as np
import scipy
import sklearn
import torch
import torchmetrics
from scipy.integrate import quad
from scipy.special import softmax
from scipy.stats import norm
from sklearn.metrics import (
    average_precision_score,
    f1_score,
    mean_absolute_error,
    r2_score,
    roc_auc_score,
    top_k_accuracy_score,
)
from torchmetrics.functional.classification import multiclass_auroc, multiclass_f1_score

warnings.filterwarnings("ignore")
random = np.random.default_rng(2027)
BINS = 15


def in_steps(values):
    return np.round(np.asarray(values, dtype=np.float64) * 64) / 64


def macro(score, p, y):
    classes = [1] if p.shape[1] == 2 else range(p.shape[1])
    return float(np.mean([score(y == k, p[:, k]) for k in classes if 0 < (y == k).sum() < len(y)]))


def classwise_ece(p, y):
    edges = np.arange(BINS) / BINS
    total = 0
    for k in range(p.shape[1]):
        bins = np.clip(np.searchsorted(edges, p[:, k], side="left") - 1, 0, BINS - 1)
        for b in np.unique(bins):
            chosen = bins == b
            total += chosen.mean() * abs((y[chosen] == k).mean() - p[chosen, k].mean())
    return total / p.shape[1]


def equal_mass_ece(p, y):
    confidence, hit = p.max(axis=1), p.argmax(axis=1) == y
    order = np.argsort(confidence, kind="stable")
    parts = [part for part in np.array_split(order, BINS) if len(part) > 0]
    return float(sum(len(s) / len(y) * abs(hit[s].mean() - confidence[s].mean()) for s in parts))


def class_scores(p, y):
    classes = p.shape[1]
    auroc, f1 = macro(roc_auc_score, p, y), f1_score(y, p.argmax(axis=1), average="macro")
    of_torchmetrics = multiclass_f1_score(torch.tensor(p), torch.tensor(y), num_classes=classes, average="macro")
    assert abs(f1 - float(of_torchmetrics)) < 1e-6
    if len(np.unique(y)) == classes:
        assert abs(auroc - float(multiclass_auroc(torch.tensor(p), torch.tensor(y), num_classes=classes))) < 1e-6
    scores = {
        "auroc": auroc,
        "ap": macro(average_precision_score, p, y),
        "f1": float(f1),
        "classwise_ece": float(classwise_ece(p, y)),
        "equal_mass_ece": equal_mass_ece(p, y),
    }
    for k in (2, 3):
        if classes > k:
            scores[f"top{k}_acc"] = float(top_k_accuracy_score(y, p, k=k, labels=range(classes)))
    return scores


def classification(members, samples, classes, scale):
    logits = in_steps(random.normal(0, scale, (members, samples, classes)))
    # scikit-learn counts the last of equally probable classes first, Tutti the first: no ties here.
    for member, sample in np.ndindex(members, samples):
        while len(np.unique(logits[member, sample])) < classes:
            logits[member, sample] = in_steps(random.normal(0, scale, classes))
    y = random.integers(0, classes, samples)
    p = softmax(logits, axis=2)
    chosen = p.argmax(axis=2)
    pairs = [(i, j) for i in range(members) for j in range(i)]
    return {
        "name": f"M={members} N={samples} K={classes} scale={scale}",
        "shape": [members, samples, classes],
        "values": logits.flatten().tolist(),
        "targets": y.tolist(),
        "ensemble": class_scores(p.mean(axis=0), y),
        "members": [class_scores(row, y) for row in p],
        "disagreement": float(np.mean([(chosen[i] != chosen[j]).mean() for i, j in pairs])),
    }


def gaussian_scores(means, deviations, y, columns):
    """means, deviations [M, N] of a uniformly weighted mixture."""

    def distribution(x, n):
        return norm.cdf(x, means[:, n], deviations[:, n]).mean()

    def crps(n):
        low, high = (means[:, n] - 12 * deviations[:, n]).min(), (means[:, n] + 12 * deviations[:, n]).max()
        low, high = min(low, y[n]), max(high, y[n])
        points = [x for x in sorted(means[:, n]) if low < x < y[n]], [x for x in sorted(means[:, n]) if y[n] < x < high]
        below = quad(lambda x: distribution(x, n) ** 2, low, y[n], points=points[0] or None, limit=500, epsabs=1e-13)
        above = quad(lambda x: (1 - distribution(x, n)) ** 2, y[n], high, points=points[1] or None, limit=500, epsabs=1e-13)
        return below[0] + above[0]

    at_target = np.array([distribution(y[n], n) for n in range(len(y))])
    prediction = means.mean(axis=0)
    return {
        "mae": float(mean_absolute_error(y, prediction)),
        "r2": float(r2_score(y.reshape(-1, columns), prediction.reshape(-1, columns))),
        "crps": float(np.mean([crps(n) for n in range(len(y))])),
        **{f"coverage_{c}": float((abs(at_target - 0.5) <= c / 200).mean()) for c in (50, 90, 95)},
    }


def regression(members, samples, columns, spread):
    values = samples * columns
    means = in_steps(random.normal(0, spread, (members, values)))
    variances = in_steps(random.uniform(0.05, 4, (members, values)))
    y = in_steps(random.normal(0, 2, values))
    deviations = np.sqrt(variances)
    return {
        "name": f"M={members} N={samples} T={columns} spread={spread}",
        "shape": [members, samples, columns],
        "means": means.flatten().tolist(),
        "variances": variances.flatten().tolist(),
        "targets": y.tolist(),
        "ensemble": gaussian_scores(means, deviations, y, columns),
        "members": [gaussian_scores(means[m : m + 1], deviations[m : m + 1], y, columns) for m in range(members)],
    }


lists = {
    "classification": [
        classification(*case) for case in [(2, 40, 2, 1), (3, 33, 4, 2), (4, 50, 6, 1), (2, 9, 3, 3), (3, 100, 10, 2)]
    ],
    "regression": [regression(*case) for case in [(2, 8, 1, 1), (3, 12, 1, 5), (4, 6, 3, 2), (2, 5, 2, 30)]],
}
versions = {
    "torchmetrics": torchmetrics.__version__,
    "scikit-learn": sklearn.__version__,
    "scipy": scipy.__version__,
    "numpy": np.__version__,
}
body = ",\n".join(
    f'"{kind}": [\n' + ",\n".join(json.dumps(case, separators=(",", ":")) for case in cases) + "\n]"
    for kind, cases in lists.items()
)
pathlib.Path(__file__).with_name("more-metrics.json").write_text(f'{{"versions": {json.dumps(versions)},\n{body}\n}}\n')
