"""Records SciPy's normal distribution, logarithms of expected improvements, Sobol points and Wilcoxon's p-values.

Packages: scipy 1.17.1, numpy 2.4.6, mpmath 1.3.0. Usage: python3 make_statistics.py
"""

import json
import warnings
from pathlib import Path

import mpmath
import numpy as np
from scipy import special, stats

mpmath.mp.dps = 60
rng = np.random.default_rng(7)


def log_improvement(x):
    x = mpmath.mpf(float(x))
    return float(mpmath.log(mpmath.npdf(x) + x * mpmath.ncdf(x)))


points = np.concatenate([np.linspace(-9, 9, 73), [-37.5, -30, -20, 20, 0.66, 0.663, -0.663, 5.65, 5.66, -5.66]])
far = np.concatenate([points, [-1e3, -1e5]])
probabilities = np.concatenate([10.0 ** -np.arange(1, 300, 13), np.linspace(0.001, 0.999, 51), [1 - 1e-6, 1 - 1e-12]])
improvements = [-1e4, -1e3, -300, -210, -190, -100, -40, -25.5, -25, -10, -3, -1.01, -0.99, -0.5, 0, 0.5, 2, 10]
draws = []
for size in [2, 3, 5, 8, 12, 13, 14, 20, 30, 50, 51, 80]:
    for kind in range(3):
        values = rng.normal(0.3, 1, size)
        if kind == 1:
            values = np.round(values, 0)
        if kind == 2:
            values = np.round(values, 1)
        if not np.any(values) and size > 13:
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            p = float(stats.wilcoxon(values, alternative="greater", zero_method="zsplit").pvalue)
        draws.append({"differences": values.tolist(), "pValue": p})
recorded = {
    "normal": [[float(x), float(special.ndtr(x))] for x in points],
    "logNormal": [[float(x), float(special.log_ndtr(x))] for x in far],
    "quantile": [[float(p), float(special.ndtri(p))] for p in probabilities],
    "logImprovement": [[float(x), log_improvement(x)] for x in improvements],
    # The first 16 points in all dimensions, and some later ones in 2^32nds.
    "sobol": {
        "first": [[int(v * 2**32) for v in row] for row in stats.qmc.Sobol(128, scramble=False, bits=32).random(16)],
        "last": [int(v * 2**32) for v in stats.qmc.Sobol(128, scramble=False, bits=32).random(4096)[-1]],
    },
    "wilcoxon": draws,
}
Path(__file__).with_name("statistics.json").write_text(json.dumps(recorded) + "\n")
