"""Records predictions and likelihoods of scikit-learn's Gaussian processes with a Matern 5/2 kernel.

Packages: scikit-learn 1.9.1, numpy 2.4.6. Usage: python3 make_processes.py
"""

import json
from pathlib import Path

import numpy as np
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import ConstantKernel, Matern

rng = np.random.default_rng(5)
cases = []
for size, dimensions, noise in [(1, 1, 0.1), (5, 2, 1e-3), (20, 3, 1e-4), (40, 6, 0.05)]:
    precisions, scale = rng.uniform(0.2, 20, dimensions), float(rng.uniform(0.3, 3))
    points, targets, asked = rng.uniform(size=(size, dimensions)), rng.normal(size=size), rng.uniform(size=(5, dimensions))
    kernel = ConstantKernel(scale, "fixed") * Matern(1 / np.sqrt(precisions), "fixed", nu=2.5)
    process = GaussianProcessRegressor(kernel, alpha=noise, optimizer=None).fit(points, targets)
    means, deviations = process.predict(asked, return_std=True)
    cases.append(
        {
            "precisions": precisions.tolist(),
            "scale": scale,
            "noise": noise,
            "points": points.tolist(),
            "targets": targets.tolist(),
            "asked": asked.tolist(),
            "means": means.tolist(),
            "variances": (deviations**2).tolist(),
            "logLikelihood": float(process.log_marginal_likelihood_value_) + size / 2 * float(np.log(2 * np.pi)),
        }
    )
Path(__file__).with_name("processes.json").write_text(json.dumps(cases) + "\n")
