"""Records distances of drawn samples to training samples, as distances.json beside this file.

Values are multiples of 1/64, which float32 and decimals hold exactly. Covariances are those of scikit-learn's LedoitWolf of the deviations from the
classes' means, each divided by its standard deviation; distances to the k-th nearest samples those of its NearestNeighbors.
"""

import json
import pathlib
from importlib.metadata import version

import numpy as np
from sklearn.covariance import LedoitWolf
from sklearn.neighbors import NearestNeighbors

random = np.random.default_rng(2032)


def draw(samples, size, spread):
    mixing = np.random.default_rng(size).normal(0, 1, (size, size))
    values = np.maximum(spread * random.normal(0, 1, (samples, size)) @ mixing, -1)
    if size > 3:
        # A unit that is never active.
        values[:, 2] = 0
    return np.round(values * 64) / 64


def mahalanobis(train, labels, fresh):
    classes = np.unique(labels)
    means = np.stack([train[labels == k].mean(axis=0) for k in classes])
    residuals = train - means[np.searchsorted(classes, labels)]
    scale = residuals.std(axis=0)
    scale[scale == 0] = 1
    fitted = LedoitWolf(assume_centered=True).fit(residuals / scale)
    each = np.stack([fitted.mahalanobis((fresh - mean) / scale) for mean in means])
    return np.sqrt(each.min(axis=0)).tolist()


def nearest(bank, fresh):
    return NearestNeighbors(n_neighbors=10).fit(bank).kneighbors(fresh)[0][:, -1].tolist()


def unit(values):
    return values / np.maximum(np.linalg.norm(values, axis=1, keepdims=True), 1e-30)


def case(samples, size, classes):
    train, fresh = draw(samples, size, 1), draw(9, size, 2)
    labels = random.integers(0, classes, samples) * 2
    scale = train.std(axis=0)
    scale[scale == 0] = 1
    return {
        "name": f"N={samples} D={size} K={classes}",
        "size": size,
        "train": train.flatten().tolist(),
        "labels": labels.tolist(),
        "fresh": fresh.flatten().tolist(),
        "classMeans": mahalanobis(train, labels, fresh),
        "oneMean": mahalanobis(train, np.zeros(samples), fresh),
        "knn": nearest(unit(train), unit(fresh)),
        "input-knn": nearest(train / scale, fresh / scale),
    }


cases = [case(*sizes) for sizes in [(60, 5, 3), (30, 12, 2), (15, 20, 1), (40, 1, 2)]]
text = ",\n".join(json.dumps(own, separators=(",", ":")) for own in cases)
versions = {name: version(name) for name in ["numpy", "scikit-learn"]}
pathlib.Path(__file__).with_name("distances.json").write_text(f'{{"versions": {json.dumps(versions)},\n"cases": [\n{text}\n]}}\n')
