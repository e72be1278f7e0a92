"""Records fits on weighted samples, as weighted.json beside this file.

Logits are multiples of 1/64, which float32 and decimals hold exactly. Calibration is computed by SciPy's minimizers and scikit-learn, weighted conformal
quantiles (Tibshirani et al., 2019, equation 8, with the largest weight for the new sample) and risk-coverage curves by NumPy, all in float64.
"""

import json
import pathlib
from importlib.metadata import version

import numpy as np
from scipy.optimize import minimize, minimize_scalar
from scipy.special import log_softmax, logsumexp, softmax
from scipy.stats import norm
from sklearn.isotonic import IsotonicRegression

random = np.random.default_rng(2031)


def log_mixture(logits, temperatures):
    t = np.asarray(temperatures).reshape(-1, 1, 1)
    return logsumexp(log_softmax(logits / t, axis=-1), axis=0) - np.log(len(logits))


def nll(log_p, y, w):
    return -np.average(log_p[np.arange(len(y)), y], weights=w)


def best(function):
    grid = np.linspace(-4.5, 4.5, 181)
    centre = grid[np.argmin([function(x) for x in grid])]
    return float(np.exp(minimize_scalar(function, bounds=(centre - 0.1, centre + 0.1), method="bounded", options={"xatol": 1e-12}).x))


def least(function, start):
    for _ in range(4):
        start = minimize(function, start, method="Nelder-Mead", options={"xatol": 1e-10, "fatol": 1e-15, "maxiter": 10**6, "maxfev": 10**6, "adaptive": True}).x
    return start


def isotonic(log_p, y, w, fresh, classes):
    columns = [IsotonicRegression(y_min=0, y_max=1, out_of_bounds="clip").fit(np.exp(log_p[:, k]), y == k, sample_weight=w).predict(np.exp(fresh[:, k])) for k in range(classes)]
    mapped = np.stack(columns, axis=1)
    return (mapped / mapped.sum(axis=1, keepdims=True)).flatten().tolist()


def calibration(members, samples, classes):
    signal = random.normal(0, 1.5, (samples, classes))
    y = np.array([random.choice(classes, p=softmax(row)) for row in signal])
    logits = np.round(2 * (signal + random.normal(0, 1, (members, samples, classes))) * 64) / 64
    fresh = np.round(random.normal(0, 3, (members, 5, classes)) * 64) / 64
    w = np.round(random.gamma(1.5, 1, samples) * 8 + 1) / 8
    log_p = log_mixture(logits, np.ones(members))
    shared = best(lambda t: nll(log_mixture(logits, np.full(members, np.exp(t))), y, w))
    vector = least(lambda v: nll(log_softmax(log_p * v[:classes] + v[classes:], axis=1), y, w) + 1e-6 * (v[classes:] ** 2).sum(), np.r_[np.ones(classes), np.zeros(classes)])
    return {
        "name": f"M={members} N={samples} K={classes}",
        "shape": [members, samples, classes],
        "logits": logits.flatten().tolist(),
        "targets": y.tolist(),
        "weights": w.tolist(),
        "fresh": fresh.flatten().tolist(),
        "pooled": best(lambda t: nll(log_softmax(log_p / np.exp(t), axis=1), y, w)),
        "shared": shared,
        "perMember": [best(lambda t: nll(log_softmax(row / np.exp(t), axis=1), y, w)) for row in logits],
        "joint": np.exp(least(lambda t: nll(log_mixture(logits, np.exp(t)), y, w), np.full(members, np.log(shared)))).tolist(),
        "vector": {"scale": vector[:classes].tolist(), "bias": vector[classes:].tolist()},
        "isotonic": isotonic(log_p, y, w, log_mixture(fresh, np.ones(members)), classes),
    }


def weighted_quantile(scores, w, alpha):
    """The level 1 - alpha of the weights p_i = w_i / (sum w + w_new) at the scores and p_new at infinity."""
    order = np.argsort(scores)
    p = w[order] / (w.sum() + w.max())
    place = np.searchsorted(np.cumsum(p), 1 - alpha)
    return float(scores[order][place]) if place < len(scores) else "Infinity"


def area(x, y):
    return float(np.trapezoid(y, x) / (x[-1] - x[0]))


def values(samples, alpha):
    mean, deviation = random.normal(0, 2, samples), random.uniform(0.3, 2, samples)
    y = mean + 1.4 * deviation * random.normal(0, 1, samples)
    w = random.gamma(1.5, 1, samples)
    order = np.argsort(deviation, kind="stable")
    coverage = np.cumsum(w[order]) / w.sum()
    sums = np.cumsum((w * (y - mean) ** 2)[order]) / w.sum()
    return {
        "name": f"N={samples} alpha={alpha}",
        "alpha": alpha,
        "means": mean.tolist(),
        "deviations": deviation.tolist(),
        "targets": y.tolist(),
        "weights": w.tolist(),
        "sigmaScale": best(lambda s: -np.average(norm.logpdf(y, mean, deviation * np.exp(s)), weights=w)),
        "split": weighted_quantile(np.abs(y - mean), w, alpha),
        "sigma-scaled": weighted_quantile(np.abs(y - mean) / deviation, w, alpha),
        "aurc": area(coverage, sums / coverage),
        "augrc": area(coverage, sums),
    }


body = {
    "versions": {name: version(name) for name in ["numpy", "scipy", "scikit-learn"]},
    "calibration": [calibration(*case) for case in [(3, 120, 3), (2, 90, 2)]],
    "values": [values(*case) for case in [(50, 0.1), (99, 0.05), (12, 0.02)]],
}
text = ",\n".join(f'"{kind}": ' + (json.dumps(part) if kind == "versions" else "[\n" + ",\n".join(json.dumps(case, separators=(",", ":")) for case in part) + "\n]") for kind, part in body.items())
pathlib.Path(__file__).with_name("weighted.json").write_text("{" + text + "\n}\n")
