"""Records calibration, conformal sets and intervals, detection and selective prediction of drawn predictions, as postprocessing.json beside this file.

Logits, means and variances are multiples of 1/64, which float32 and decimals hold exactly. Everything is computed in float64: calibration by
SciPy's minimizers, torch and netcal, TorchUncertainty and scikit-learn; conformal prediction by MAPIE and TorchUncertainty; detection by
scikit-learn and TorchUncertainty; selective prediction by TorchUncertainty.
"""

import json
import pathlib
import warnings
from importlib.metadata import version

import numpy as np
import torch
from mapie.classification import SplitConformalClassifier
from mapie.regression import SplitConformalRegressor
from netcal.scaling import TemperatureScaling
from scipy.optimize import minimize, minimize_scalar
from scipy.special import log_softmax, logsumexp, softmax
from scipy.stats import norm
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.isotonic import IsotonicRegression
from sklearn.metrics import average_precision_score, roc_auc_score
from torch_uncertainty.metrics.classification import AUGRC, AURC, FPR95, CovAt5Risk, RiskAt80Cov
from torch_uncertainty.ood_criteria import EnergyCriterion, MaxLogitCriterion, MutualInformationCriterion
from torch_uncertainty.post_processing import ConformalClsAPS, ConformalClsRAPS, ConformalRegCQR, TemperatureScaler
from torch_uncertainty.post_processing import DirichletScaler
from torch.utils.data import DataLoader, TensorDataset

warnings.filterwarnings("ignore")
torch.set_default_dtype(torch.float64)
random = np.random.default_rng(2028)


def in_steps(values):
    return np.round(np.asarray(values, dtype=np.float64) * 64) / 64


def draw(members, samples, classes, sharpness):
    """Logits [M, N, K] of overconfident members that share a signal, and labels."""
    signal = random.normal(0, 1.5, (samples, classes))
    y = np.array([random.choice(classes, p=softmax(row)) for row in signal])
    logits = in_steps(sharpness * (signal + random.normal(0, 1, (members, samples, classes))))
    return logits, y


def log_mixture(logits, temperatures):
    t = np.asarray(temperatures).reshape(-1, 1, 1)
    return logsumexp(log_softmax(logits / t, axis=-1), axis=0) - np.log(len(logits))


def nll(log_p, y):
    return -log_p[np.arange(len(y)), y].mean()


def best(function):
    grid = np.linspace(-4.5, 4.5, 181)
    centre = grid[np.argmin([function(x) for x in grid])]
    return float(np.exp(minimize_scalar(function, bounds=(centre - 0.1, centre + 0.1), method="bounded", options={"xatol": 1e-12}).x))


def joint(logits, y):
    members = len(logits)
    start = np.full(members, np.log(best(lambda t: nll(log_mixture(logits, np.full(members, np.exp(t))), y))))
    found = minimize(lambda t: nll(log_mixture(logits, np.exp(t)), y), start, method="Nelder-Mead", options={"xatol": 1e-10, "fatol": 1e-15, "maxiter": 100000, "maxfev": 100000, "adaptive": True})
    found = minimize(lambda t: nll(log_mixture(logits, np.exp(t)), y), found.x, method="Nelder-Mead", options={"xatol": 1e-10, "fatol": 1e-15, "maxiter": 100000, "maxfev": 100000})
    return np.exp(found.x).tolist()


def linear(log_p, y, classes, full, penalty):
    """The least cross-entropy of softmax(W log p + b) plus a penalty, by torch's L-BFGS with line search."""
    inputs, labels = torch.tensor(log_p), torch.tensor(y)
    weight = (torch.eye(classes) if full else torch.ones(classes)).requires_grad_()
    bias = torch.zeros(classes, requires_grad=True)
    optimizer = torch.optim.LBFGS([weight, bias], max_iter=5000, tolerance_grad=1e-12, tolerance_change=1e-16, line_search_fn="strong_wolfe")

    def loss():
        optimizer.zero_grad()
        mapped = inputs @ weight.T + bias if full else inputs * weight + bias
        value = torch.nn.functional.cross_entropy(mapped, labels) + penalty(weight, bias)
        value.backward()
        return value

    for _ in range(5):
        optimizer.step(loss)
    return weight.detach().numpy().tolist(), bias.detach().numpy().tolist()


def of_torch_uncertainty(scaler, log_p, y):
    scaler.fit(DataLoader(TensorDataset(torch.tensor(log_p), torch.tensor(y)), batch_size=len(y)), progress=False)
    return scaler


def dirichlet(log_p, y, classes, strength):
    def penalty(weight, bias):
        off = (weight**2).sum() - (weight.diagonal() ** 2).sum()
        return strength * (off / (classes * (classes - 1)) + (bias**2).mean())

    found = linear(log_p, y, classes, True, penalty)
    peer = of_torch_uncertainty(DirichletScaler(classes, lambda_reg=strength, mu_reg=strength, lr=1, max_iter=500), log_p, y)
    assert np.abs(softmax(peer(torch.tensor(log_p)).detach().numpy(), axis=1) - softmax(log_p @ np.array(found[0]).T + found[1], axis=1)).max() < 1e-3
    return {"weights": found[0], "bias": found[1]}


def isotonic(log_p, y, fresh, classes):
    columns = [IsotonicRegression(y_min=0, y_max=1, out_of_bounds="clip").fit(np.exp(log_p[:, k]), y == k).predict(np.exp(fresh[:, k])) for k in range(classes)]
    mapped = np.stack(columns, axis=1)
    return (mapped / mapped.sum(axis=1, keepdims=True)).tolist()


def calibration(members, samples, classes, sharpness):
    logits, y = draw(members, samples, classes, sharpness)
    fresh = in_steps(random.normal(0, sharpness * 1.5, (members, 5, classes)))
    log_p = log_mixture(logits, np.ones(members))
    pooled = best(lambda t: nll(log_softmax(log_p / np.exp(t), axis=1), y))
    peer = of_torch_uncertainty(TemperatureScaler(lr=1, max_iter=500), log_p, y)
    assert abs(peer.temperature[0].item() / pooled - 1) < 1e-3, (peer.temperature, pooled)
    if classes > 2:
        # netcal fits in float32 and clips probabilities.
        other = TemperatureScaling()
        other.fit(np.exp(log_p), y)
        assert np.abs(other.transform(np.exp(log_p)) - softmax(log_p / pooled, axis=1)).max() < 2e-2
    vector = linear(log_p, y, classes, False, lambda weight, bias: 1e-6 * (bias**2).sum())
    return {
        "name": f"M={members} N={samples} K={classes} sharpness={sharpness}",
        "shape": [members, samples, classes],
        "logits": logits.flatten().tolist(),
        "targets": y.tolist(),
        "fresh": fresh.flatten().tolist(),
        "pooled": pooled,
        "shared": best(lambda t: nll(log_mixture(logits, np.full(members, np.exp(t))), y)),
        "perMember": [best(lambda t: nll(log_softmax(row / np.exp(t), axis=1), y)) for row in logits],
        "joint": joint(logits, y),
        "vector": {"scale": vector[0], "bias": vector[1]},
        "dirichlet": dirichlet(log_p, y, classes, 0.05),
        "isotonic": isotonic(log_p, y, log_mixture(fresh, np.ones(members)), classes),
    }


class Given(ClassifierMixin, BaseEstimator):
    """Probabilities as inputs."""

    def __init__(self, classes=2):
        self.classes = classes

    def fit(self, x, y):
        return self

    @property
    def classes_(self):
        return np.arange(self.classes)

    def __sklearn_is_fitted__(self):
        return True

    def predict_proba(self, x):
        return x

    def predict(self, x):
        return x.argmax(axis=1)


def rank_of(n, alpha):
    return int(np.ceil((n + 1) * (1 - alpha) - 1e-9))


def smallest(scores, alpha):
    rank = rank_of(len(scores), alpha)
    return float("inf") if rank > len(scores) else float(np.sort(scores)[rank - 1])


def class_scores(peer, p):
    return peer._calculate_all_labels(torch.tensor(p)).numpy()


def sets_by(scores, thresholds, p):
    # A score that differs from its threshold by rounding alone equals it.
    chosen = scores <= np.asarray(thresholds).reshape(1, -1) + 1e-9
    chosen[np.arange(len(p)), p.argmax(axis=1)] = True
    return chosen.astype(int).flatten().tolist()


def conformal_sets(samples, classes, alpha):
    p = softmax(random.normal(0, 2, (samples, classes)), axis=1)
    y = np.array([random.choice(classes, p=softmax(0.6 * np.log(row))) for row in p])
    q = softmax(random.normal(0, 2, (12, classes)), axis=1)
    mapie = SplitConformalClassifier(Given(classes), confidence_level=1 - alpha, conformity_score="lac", prefit=True).conformalize(p, y)
    _, mapie_sets = mapie.predict_set(q)
    aps = ConformalClsAPS(alpha, randomized=False, enable_ts=False)
    raps = ConformalClsRAPS(alpha, randomized=False, penalty=0.05, regularization_rank=2)
    scores = {"thr": (1 - p, 1 - q), "aps": (class_scores(aps, p), class_scores(aps, q)), "raps": (class_scores(raps, p), class_scores(raps, q))}
    found = {}
    for name, (own, new) in scores.items():
        right = own[np.arange(samples), y]
        marginal = [smallest(right, alpha)]
        conditional = [smallest(right[y == k], alpha) for k in range(classes)]
        found[name] = {
            "marginal": {"thresholds": marginal, "sets": sets_by(new, marginal, q)},
            "conditional": {"thresholds": [t if np.isfinite(t) else "Infinity" for t in conditional], "sets": sets_by(new, conditional, q)},
        }
    of_mapie = mapie_sets[:, :, 0].astype(int)
    of_mapie[np.arange(12), q.argmax(axis=1)] = 1
    assert of_mapie.flatten().tolist() == found["thr"]["marginal"]["sets"]
    return {"name": f"N={samples} K={classes} alpha={alpha}", "classes": classes, "alpha": alpha, "probabilities": p.flatten().tolist(), "targets": y.tolist(), "fresh": q.flatten().tolist(), "methods": found}


class Means(RegressorMixin, BaseEstimator):
    """Means as inputs."""

    def fit(self, x, y):
        return self

    def __sklearn_is_fitted__(self):
        return True

    def predict(self, x):
        return x[:, 0]


def intervals(samples, alpha):
    means, deviations = random.normal(0, 2, samples), random.uniform(0.3, 2, samples)
    y = means + 1.4 * deviations * random.normal(0, 1, samples)
    low, high = means - deviations, means + 1.2 * deviations
    mapie = SplitConformalRegressor(Means(), confidence_level=1 - alpha, prefit=True).conformalize(means[:, None], y)
    _, found = mapie.predict_interval(np.array([[0.0]]))
    split = smallest(np.abs(y - means), alpha)
    assert abs(found[0, 1, 0] - split) < 1e-9 and abs(found[0, 0, 0] + split) < 1e-9
    cqr = ConformalRegCQR(alpha, torch.nn.Identity())
    cqr.fit(DataLoader(TensorDataset(torch.tensor(np.stack([low, high], axis=1)), torch.tensor(y)), batch_size=samples))
    # TorchUncertainty interpolates the level ceil((n + 1)(1 - alpha)) / n over n - 1 steps, which gives the next larger score.
    cqr_scores = np.maximum(low - y, y - high)
    rank = rank_of(samples, alpha)
    assert abs(cqr.q_hat.item() - np.sort(cqr_scores)[min(rank, samples - 1)]) < 1e-12
    return {
        "name": f"N={samples} alpha={alpha}",
        "alpha": alpha,
        "means": means.tolist(),
        "deviations": deviations.tolist(),
        "lower": low.tolist(),
        "upper": high.tolist(),
        "targets": y.tolist(),
        "split": split,
        "sigma-scaled": smallest(np.abs(y - means) / deviations, alpha),
        "cqr": smallest(cqr_scores, alpha),
        # The scale with the least NLL, by a minimizer.
        "sigmaScale": best(lambda s: -norm.logpdf(y, means, deviations * np.exp(s)).mean()),
    }


def outside(members, samples, others, classes):
    near, far = in_steps(random.normal(0, 3, (members, samples, classes))), in_steps(random.normal(0, 1.5, (members, others, classes)))
    near[:, :, 0] += 2
    both = np.concatenate([near, far], axis=1)
    p = softmax(both, axis=2)
    z = torch.tensor(both)
    mean = p.mean(axis=0)
    scores = {
        "entropy": -(mean * np.log(mean)).sum(axis=1),
        "mutual-information": MutualInformationCriterion()(torch.tensor(p).transpose(0, 1)).numpy(),
        "energy": EnergyCriterion()(z.transpose(0, 1)).numpy(),
        "max-logit": MaxLogitCriterion()(z.transpose(0, 1)).numpy(),
        "variance": p.var(axis=0).sum(axis=1),
    }
    is_outside = np.arange(samples + others) >= samples
    figures = {}
    for name, score in scores.items():
        fpr = FPR95(pos_label=1)
        fpr.update(torch.tensor(score), torch.tensor(is_outside).long())
        figures[name] = {
            "auroc": float(roc_auc_score(is_outside, score)),
            "auprIn": float(average_precision_score(~is_outside, -score)),
            "auprOut": float(average_precision_score(is_outside, score)),
            "fpr95": float(fpr.compute()),
        }
    return {"name": f"M={members} N={samples}+{others} K={classes}", "shape": [members, samples, others, classes], "inside": near.flatten().tolist(), "outside": far.flatten().tolist(), "scores": {k: v.tolist() for k, v in scores.items()}, "figures": figures}


def selective(samples, classes):
    p = softmax(random.normal(0, 2, (samples, classes)), axis=1)
    y = np.array([random.choice(classes, p=row) for row in p])
    found = {}
    for name, metric in {"aurc": AURC(), "augrc": AUGRC(), "coverageAt5": CovAt5Risk(), "riskAt80": RiskAt80Cov()}.items():
        metric.update(torch.tensor(p), torch.tensor(y))
        found[name] = float(metric.compute())
    return {"name": f"N={samples} K={classes}", "classes": classes, "probabilities": p.flatten().tolist(), "targets": y.tolist(), **{k: v if v == v else None for k, v in found.items()}}


lists = {
    "calibration": [calibration(*case) for case in [(3, 150, 4, 2), (2, 120, 2, 3), (4, 200, 3, 0.4)]],
    "sets": [conformal_sets(*case) for case in [(60, 4, 0.1), (45, 3, 0.2), (80, 6, 0.05)]],
    "intervals": [intervals(*case) for case in [(40, 0.1), (99, 0.05), (63, 0.2)]],
    "outside": [outside(*case) for case in [(3, 60, 40, 4), (2, 30, 55, 6)]],
    "selective": [selective(*case) for case in [(80, 3), (150, 5), (41, 2)]],
}
versions = {name: version(name) for name in ["torch-uncertainty", "mapie", "netcal", "scikit-learn", "scipy", "torch"]}
body = ",\n".join(f'"{kind}": [\n' + ",\n".join(json.dumps(case, separators=(",", ":")) for case in cases) + "\n]" for kind, cases in lists.items())
pathlib.Path(__file__).with_name("postprocessing.json").write_text(f'{{"versions": {json.dumps(versions)},\n{body}\n}}\n')
