"""Records calibration, sets and scores of drawn labels, as labels.json beside this file.

Logits are multiples of 1/64, which float32 and decimals hold exactly. Calibration is computed by SciPy's minimizers and held against scikit-learn's
Platt scaling; sets and scores by NumPy and SciPy, in float64. Targets that do not count are -1.
"""

import json
import pathlib
from importlib.metadata import version

import numpy as np
from scipy.optimize import minimize, minimize_scalar
from scipy.special import entr, expit, log_expit, logsumexp
from sklearn.calibration import _sigmoid_calibration

random = np.random.default_rng(2033)


def pooled(logits):
    return logsumexp(log_expit(logits), axis=0) - logsumexp(log_expit(-logits), axis=0)


def cross_entropy(z, t, w):
    return -np.average(t * log_expit(z) + (1 - t) * log_expit(-z), weights=w)


def temperature(z, y, w):
    grid = np.linspace(-4.5, 4.5, 181)
    value = lambda x: cross_entropy(z / np.exp(x), y, w)
    centre = grid[np.argmin([value(x) for x in grid])]
    return float(np.exp(minimize_scalar(value, bounds=(centre - 0.1, centre + 0.1), method="bounded", options={"xatol": 1e-12}).x))


def platt(z, y, w):
    present = w[y == 1].sum()
    t = np.where(y == 1, (present + 1) / (present + 2), 1 / (w.sum() - present + 2))
    found = np.array([1.0, 0.0])
    for _ in range(3):
        found = minimize(lambda v: cross_entropy(v[0] * z + v[1], t, w), found, method="Nelder-Mead", options={"xatol": 1e-11, "fatol": 1e-16, "maxiter": 10**5, "maxfev": 10**5}).x
    a, b = _sigmoid_calibration(z, y, sample_weight=w)
    assert np.abs(expit(-(a * z + b)) - expit(found[0] * z + found[1])).max() < 2e-4, (a, b, found)
    return found.tolist()


def smallest(scores, alpha):
    rank = int(np.ceil((len(scores) + 1) * (1 - alpha) - 1e-9))
    return "Infinity" if rank > len(scores) else float(np.sort(scores)[rank - 1])


def case(members, samples, labels, isWeighted):
    signal = random.normal(-0.5, 2, (samples, labels))
    y = (random.uniform(size=signal.shape) < expit(signal)).astype(int)
    logits = np.round(2.5 * (signal + random.normal(0, 1, (members, samples, labels))) * 64) / 64
    counts = np.ones_like(y, dtype=bool) if not isWeighted else random.uniform(size=y.shape) < 0.8
    weights = np.ones(samples) if not isWeighted else np.round(random.gamma(1.5, 1, samples) * 8 + 1) / 8
    z = pooled(logits)
    w = np.broadcast_to(weights[:, None], y.shape)
    p = expit(logits)
    mean = p.mean(axis=0)
    shared = temperature(z[counts], y[counts], w[counts])
    each = [(z[c, k], y[c, k], w[c, k]) for k, c in enumerate(counts.T)]
    calibrated = expit(z / shared)
    decided = (calibrated > 0.5) == (y == 1)
    return {
        "name": f"M={members} N={samples} L={labels}" + (" weighted and masked" if isWeighted else ""),
        "shape": [members, samples, labels],
        "logits": logits.flatten().tolist(),
        "targets": np.where(counts, y, -1).flatten().tolist(),
        "weights": weights.tolist() if isWeighted else None,
        "shared": shared,
        "each": [temperature(*own) for own in each],
        "platt": [platt(*own) for own in each],
        "calibrated": calibrated.flatten().tolist(),
        "thresholds": None if isWeighted else [smallest(1 - calibrated[y[:, k] == 1, k], 0.2) for k in range(labels)],
        "nll": float(cross_entropy((z / shared)[counts], y[counts], w[counts])),
        "brier": float(np.average((calibrated - y)[counts] ** 2, weights=w[counts])),
        "losses": [float(1 - d[c].mean()) if c.any() else 0 for d, c in zip(decided, counts)],
        "scores": {
            "entropy": (entr(mean) + entr(1 - mean)).sum(axis=1).tolist(),
            "mutual-information": (entr(mean) + entr(1 - mean) - (entr(p) + entr(1 - p)).mean(axis=0)).sum(axis=1).tolist(),
            "energy": (-np.log1p(np.exp(logits.mean(axis=0))).sum(axis=1)).tolist(),
            "max-logit": (-logits.mean(axis=0).max(axis=1)).tolist(),
            "variance": (2 * p.var(axis=0).sum(axis=1)).tolist(),
        },
    }


cases = [case(3, 80, 3, False), case(2, 60, 2, True)]
text = ",\n".join(json.dumps(own, separators=(",", ":")) for own in cases)
versions = {name: version(name) for name in ["numpy", "scipy", "scikit-learn"]}
pathlib.Path(__file__).with_name("labels.json").write_text(f'{{"versions": {json.dumps(versions)},\n"cases": [\n{text}\n]}}\n')
