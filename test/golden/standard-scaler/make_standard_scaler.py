"""Records scikit-learn's StandardScaler on numerically difficult columns, as standard-scaler.json beside this file.

Columns are float32, as in Tutti. Columns with many rows are given by formulas, from which the test makes the same values.
"""

import json
import pathlib

import numpy as np
import sklearn
from sklearn.preprocessing import StandardScaler


def column(kind: str, rows: int) -> np.ndarray:
    i = np.arange(rows, dtype=np.float64)
    # A pattern of whole numbers that any language reproduces exactly.
    pattern = (i * 7919) % 1009
    return {
        "constant 0.1": np.full(rows, 0.1),
        "constant 1/3": np.full(rows, 1 / 3),
        "constant 1e20": np.full(rows, 1e20),
        "constant -7e-20": np.full(rows, -7e-20),
        "constant 0": np.zeros(rows),
        "pattern": pattern,
        "far from 0": 1e6 + pattern / 16,
        "farther from 0": 16_000_000 + pattern % 2,
        "small values": pattern * 1e-12,
        "two values": (i % 2) * 2 - 1,
        "one outlier": (i == rows - 1) * 1.0,
    }[kind].astype(np.float32)


KINDS = [
    "constant 0.1",
    "constant 1/3",
    "constant 1e20",
    "constant -7e-20",
    "constant 0",
    "pattern",
    "far from 0",
    "farther from 0",
    "small values",
    "two values",
    "one outlier",
]

cases = []
for rows in (1, 2, 3, 10, 1000, 1_000_000):
    for kind in KINDS:
        # float64 of the float32 values. Otherwise the scaler would round its statistics to float32.
        scaler = StandardScaler().fit(column(kind, rows).astype(np.float64)[:, None])
        cases.append({"kind": kind, "rows": rows, "mean": scaler.mean_[0], "scale": scaler.scale_[0]})

versions = {"scikit-learn": sklearn.__version__, "numpy": np.__version__}
lines = ",\n".join(json.dumps(case) for case in cases)
pathlib.Path(__file__).with_name("standard-scaler.json").write_text(
    f'{{"versions": {json.dumps(versions)}, "cases": [\n{lines}\n]}}\n'
)
