"""Computes calibration, conformal, detection and selective figures with TorchUncertainty 0.13 and MAPIE 1.6 on the members' logits that
bench/postprocessing/record.ts wrote, and prints them beside Tutti's as a table in Markdown:

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
from scipy.special import log_softmax, logsumexp, softmax
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.metrics import average_precision_score, roc_auc_score
from torch.utils.data import DataLoader, TensorDataset
from torch_uncertainty.metrics.classification import AUGRC, AURC, FPR95, BrierScore, CalibrationError
from torch_uncertainty.ood_criteria import EnergyCriterion, MutualInformationCriterion
from torch_uncertainty.post_processing import ConformalClsRAPS, TemperatureScaler

warnings.filterwarnings("ignore")
logging.disable(logging.WARNING)
torch.set_default_dtype(torch.float64)
folder = pathlib.Path(sys.argv[1])
tutti = json.loads((folder / "tutti.json").read_text())
ALPHA = 0.1


def read(name):
    targets = np.fromfile(folder / f"{name}-targets.i32", dtype=np.int32).astype(np.int64)
    logits = np.fromfile(folder / f"{name}-logits.f32", dtype=np.float32).astype(np.float64)
    return logits.reshape(tutti["members"], len(targets), -1), targets


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


(val, val_y), (test, test_y), (other, _) = read("validation"), read("test"), read("other")
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
}
aurc, augrc = AURC(), AUGRC()
for metric in (aurc, augrc):
    metric.update(torch.tensor(np.exp(log_test)), torch.tensor(test_y))
peer = {
    "temperature": scaler.temperature[0].item(),
    "before": scores(log_test, test_y),
    "after": scores(scaled, test_y),
    "thr": coverage(lac, test_y),
    "raps": coverage(raps_sets, test_y),
    **{name: detection(of(test), of(other)) for name, of in criteria.items()},
    "selective": {"aurc": float(aurc.compute()), "augrc": float(augrc.compute())},
}
print("| figure | Tutti | peer |\n| --- | --- | --- |")
for name, value in peer.items():
    for key, found in value.items() if isinstance(value, dict) else [("", value)]:
        own = tutti[name][key] if key else tutti[name]
        print(f"| {name} {key} | {own:.5f} | {found:.5f} |")
