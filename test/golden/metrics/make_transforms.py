"""Records probability integral transforms of drawn mixtures of Gaussians by SciPy, as transforms.json beside this file.

Inputs are multiples of 1/64, which float32 and decimals hold exactly. `pit` is the mean of the members' `scipy.stats.norm.cdf` at the target, and
`coverage` the share of targets between the mixture's quantiles (1 - p)/2 and (1 + p)/2, which `scipy.optimize.brentq` finds: it does not use the
transform. `ks` is SciPy's Kolmogorov-Smirnov statistic of the transform against the uniform distribution.
"""

import json
import pathlib

import numpy as np
import scipy
from scipy.optimize import brentq
from scipy.stats import kstest, norm

random = np.random.default_rng(2007)
LEVELS = [0.1, 0.5, 0.8, 0.9, 0.95]


def in_steps(values):
    return np.round(np.asarray(values, dtype=np.float64) * 64) / 64


def quantile(probability, means, deviations):
    below = lambda x: norm.cdf(x, means, deviations).mean() - probability
    reach = 12 * deviations.max()
    return brentq(below, means.min() - reach, means.max() + reach, xtol=1e-13)


def case(name, members, samples, noise):
    means = in_steps(random.normal(0, 2, (1, samples)) + random.normal(0, 0.7, (members, samples)))
    variances = np.maximum(in_steps(random.uniform(0.25, 2, (members, samples))), 1 / 64)
    chosen = random.integers(members, size=samples)
    at = (chosen, np.arange(samples))
    targets = in_steps(means[at] + noise * np.sqrt(variances[at]) * random.normal(size=samples))
    deviations = np.sqrt(variances)
    pit = norm.cdf(targets, means, deviations).mean(axis=0)
    coverage = {}
    for level in LEVELS:
        low = [quantile((1 - level) / 2, means[:, n], deviations[:, n]) for n in range(samples)]
        high = [quantile((1 + level) / 2, means[:, n], deviations[:, n]) for n in range(samples)]
        coverage[level] = float(np.mean((targets >= low) & (targets <= high)))
    return {
        "name": name,
        "members": members,
        "means": means.ravel().tolist(),
        "variances": variances.ravel().tolist(),
        "targets": targets.tolist(),
        "pit": pit.tolist(),
        "coverage": [[level, share] for level, share in coverage.items()],
        "ks": float(kstest(pit, "uniform").statistic),
    }


cases = [
    case("one member", 1, 40, 1),
    case("five calibrated members", 5, 60, 1),
    case("three members that are too certain", 3, 60, 3),
    case("sixteen members that are too uncertain", 16, 40, 0.3),
]
recorded = {"versions": {"scipy": scipy.__version__, "numpy": np.__version__}, "cases": cases}
pathlib.Path(__file__).with_name("transforms.json").write_text(json.dumps(recorded) + "\n")
