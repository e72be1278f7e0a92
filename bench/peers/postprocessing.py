"""Computes calibration, conformal, detection and selective figures with TorchUncertainty 0.13, MAPIE 1.6, scikit-learn and SciPy on the members'
predictions and features that bench/postprocessing/record.ts wrote, and prints them beside Tutti's as a table in Markdown:

    python3 bench/peers/postprocessing.py <folder>
"""

import json
import logging
import pathlib
import sys
import warnings

import numpy as np
import torch
from mapie.classification import SplitConformalClassifier
from mapie.regression import SplitConformalRegressor
from scipy.optimize import minimize_scalar
from scipy.special import log_softmax, logsumexp, softmax
from scipy.stats import norm
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.covariance import LedoitWolf
from sklearn.metrics import average_precision_score, roc_auc_score
from sklearn.neighbors import NearestNeighbors
from torch.utils.data import DataLoader, TensorDataset
from torch_uncertainty.metrics.classification import AUGRC, AURC, FPR95, BrierScore, CalibrationError
from torch_uncertainty.ood_criteria import EnergyCriterion, MaxLogitCriterion, MutualInformationCriterion
from torch_uncertainty.post_processing import ConformalClsRAPS, TemperatureScaler

warnings.filterwarnings("ignore")
logging.disable(logging.WARNING)
torch.set_default_dtype(torch.float64)
folder = pathlib.Path(sys.argv[1])
tutti = json.loads((folder / "tutti.json").read_text())
ALPHA = 0.1


def read(name, output=0):
    targets = np.fromfile(folder / f"{name}-targets.f64")
    values = np.fromfile(folder / f"{name}-output-{output}.f32", dtype=np.float32).astype(np.float64)
    return values.reshape(tutti["members"], len(targets), -1), targets


def view(name, kind):
    values = np.fromfile(folder / f"{name}-{kind}.f32", dtype=np.float32).astype(np.float64)
    return values.reshape(len(np.fromfile(folder / f"{name}-targets.f64")), -1)


def mahalanobis(train, labels, fresh):
    classes = np.unique(labels)
    means = np.stack([train[labels == k].mean(axis=0) for k in classes])
    residuals = train - means[np.searchsorted(classes, labels)]
    scale = residuals.std(axis=0)
    scale[scale == 0] = 1
    fitted = LedoitWolf(assume_centered=True).fit(residuals / scale)
    return [np.sqrt(np.min([fitted.mahalanobis((own - mean) / scale) for mean in means], axis=0)) for own in fresh]


def nearest(train, fresh, isInput):
    train, scale = train[:1000], train[:1000].std(axis=0)
    scale[scale == 0] = 1
    compared = (lambda x: x / scale) if isInput else (lambda x: x / np.maximum(np.linalg.norm(x, axis=1, keepdims=True), 1e-30))
    fitted = NearestNeighbors(n_neighbors=10).fit(compared(train))
    return [fitted.kneighbors(compared(own))[0][:, -1] for own in fresh]


def distances(labels):
    """Detection by distances to the training samples, of features and of inputs."""
    kinds = [f"features-{member}" for member in range(tutti["members"])]
    of_features = [[view(name, kind) for name in ("train", "test", "other")] for kind in kinds]
    train, *fresh = [view(name, "inputs") for name in ("train", "test", "other")]
    mean = lambda found: [np.mean(own, axis=0) for own in zip(*found)]
    return {
        "mahalanobis": detection(*mean([mahalanobis(own, labels, others) for own, *others in of_features])),
        "knn": detection(*mean([nearest(own, others, False) for own, *others in of_features])),
        "input-mahalanobis": detection(*mahalanobis(train, labels, fresh)),
        "input-knn": detection(*nearest(train, fresh, True)),
    }


def log_mean(logits):
    return logsumexp(log_softmax(logits, axis=2), axis=0) - np.log(len(logits))


def loader(log_p, y):
    return DataLoader(TensorDataset(torch.tensor(log_p), torch.tensor(y)), batch_size=len(y))


def scores(log_p, y):
    p, labels = torch.tensor(np.exp(log_p)), torch.tensor(y)
    ece, brier = CalibrationError(task="multiclass", num_classes=p.shape[1], num_bins=15), BrierScore(num_classes=p.shape[1])
    ece.update(p, labels)
    brier.update(p, labels)
    return {"nll": -log_p[np.arange(len(y)), y].mean(), "ece": float(ece.compute()), "brier": float(brier.compute())}


class Given(ClassifierMixin, BaseEstimator):
    """Probabilities as inputs."""

    classes_ = np.arange(8)

    def fit(self, x, y):
        return self

    def __sklearn_is_fitted__(self):
        return True

    def predict_proba(self, x):
        return x

    def predict(self, x):
        return x.argmax(axis=1)


def coverage(sets, y):
    return {"coverage": sets[np.arange(len(y)), y].mean(), "meanSize": sets.sum(axis=1).mean()}


def detection(near, far):
    is_far = np.arange(len(near) + len(far)) >= len(near)
    both = np.concatenate([near, far])
    fpr = FPR95(pos_label=1)
    fpr.update(torch.tensor(both), torch.tensor(is_far).long())
    return {"auroc": roc_auc_score(is_far, both), "auprOut": average_precision_score(is_far, both), "fpr95": float(fpr.compute())}


def classes():
    (val, val_y), (test, test_y), (other, _) = read("validation"), read("test"), read("other")
    val_y, test_y = val_y.astype(np.int64), test_y.astype(np.int64)
    log_val, log_test = log_mean(val), log_mean(test)
    scaler = TemperatureScaler(lr=0.1, max_iter=500)
    scaler.fit(loader(log_val, val_y), progress=False)
    scaled = torch.log_softmax(scaler(torch.tensor(log_test)).detach(), dim=1).numpy()
    mapie = SplitConformalClassifier(Given(), confidence_level=1 - ALPHA, conformity_score="lac", prefit=True).conformalize(np.exp(log_val), val_y)
    lac = mapie.predict_set(np.exp(log_test))[1][:, :, 0].copy()
    lac[np.arange(len(test_y)), log_test.argmax(axis=1)] = True
    raps = ConformalClsRAPS(ALPHA, torch.nn.Identity(), randomized=False, penalty=0.01, regularization_rank=1, enable_ts=False)
    raps.fit(loader(log_val, val_y))
    raps_sets = raps(torch.tensor(log_test)).detach().numpy() > 0
    criteria = {
        "entropy": lambda z: (lambda p: -(p * np.log(np.maximum(p, 1e-300))).sum(axis=1))(softmax(z, axis=2).mean(axis=0)),
        "mutual-information": lambda z: MutualInformationCriterion()(torch.tensor(softmax(z, axis=2)).transpose(0, 1)).numpy(),
        "energy": lambda z: EnergyCriterion()(torch.tensor(z).transpose(0, 1)).numpy(),
        "max-logit": lambda z: MaxLogitCriterion()(torch.tensor(z).transpose(0, 1)).numpy(),
    }
    aurc, augrc = AURC(), AUGRC()
    for metric in (aurc, augrc):
        metric.update(torch.tensor(np.exp(log_test)), torch.tensor(test_y))
    return {
        "calibration": scaler.temperature[0].item(),
        "before": scores(log_test, test_y),
        "after": scores(scaled, test_y),
        "thr": coverage(lac, test_y),
        "raps": coverage(raps_sets, test_y),
        **{name: detection(of(test), of(other)) for name, of in criteria.items()},
        **distances(np.fromfile(folder / "train-targets.f64")),
        "selective": {"aurc": float(aurc.compute()), "augrc": float(augrc.compute())},
    }


class Means(RegressorMixin, BaseEstimator):
    """Means as inputs."""

    def fit(self, x, y):
        return self

    def __sklearn_is_fitted__(self):
        return True

    def predict(self, x):
        return x[:, 0]


def gaussian(mean, std, y):
    inside = lambda level: np.mean(np.abs(y - mean) <= norm.ppf((1 + level) / 2) * std)
    return {"nll": -norm.logpdf(y, mean, std).mean(), "coverage_90": inside(0.9), "coverage_95": inside(0.95)}


def intervals(val_y, test_y, test_mean, scale_val, val_mean, scale_test):
    """MAPIE's split intervals of deviations in units of the scale."""
    mapie = SplitConformalRegressor(Means(), confidence_level=1 - ALPHA, prefit=True)
    mapie.conformalize(np.zeros((len(val_y), 1)), (val_y - val_mean) / scale_val)
    low, high = mapie.predict_interval(np.zeros((1, 1)))[1][0, :, 0]
    found = (test_y - test_mean) / scale_test
    return {"coverage": np.mean((found >= low) & (found <= high)), "meanSize": np.mean((high - low) * scale_test)}


def values():
    def total(name):
        (means, y), (variances, _) = read(name), read(name, 1)
        return means[:, :, 0].mean(axis=0), np.sqrt(variances[:, :, 0].mean(axis=0) + means[:, :, 0].var(axis=0)), y, means[:, :, 0].var(axis=0, ddof=1)

    (val_mean, val_std, val_y, _), (mean, std, y, near), (*_, far) = total("validation"), total("test"), total("other")
    scale = np.exp(minimize_scalar(lambda s: -norm.logpdf(val_y, val_mean, val_std * np.exp(s)).mean(), bounds=(-3, 3), method="bounded", options={"xatol": 1e-10}).x)
    order = np.argsort(std**2, kind="stable")
    share = np.arange(1, len(y) + 1) / len(y)
    sums = np.cumsum(((y - mean) ** 2)[order]) / len(y)
    area = lambda values: np.trapezoid(values, share) / (1 - share[0])
    return {
        "calibration": scale,
        "before": gaussian(mean, std, y),
        "after": gaussian(mean, scale * std, y),
        "split": intervals(val_y, y, mean, 1, val_mean, np.ones(len(y))),
        "sigma-scaled": intervals(val_y, y, mean, val_std, val_mean, std),
        "variance": detection(near, far),
        **distances(np.zeros(len(np.fromfile(folder / "train-targets.f64")))),
        "selective": {"aurc": area(sums / share), "augrc": area(sums)},
    }


peer = classes() if tutti["task"] == "classification" else values()
print("| figure | Tutti | peer |\n| --- | --- | --- |")
for name, value in peer.items():
    for key, found in value.items() if isinstance(value, dict) else [("", value)]:
        own = tutti[name][key] if key else tutti[name]
        print(f"| {name} {key} | {own:.5f} | {found:.5f} |")
