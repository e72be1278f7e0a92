"""Records the learning rates of `torch.optim.lr_scheduler.ReduceLROnPlateau` after each of a series of scores, as plateau.json:
`python3 make_plateau.py`.
"""

import json
import math
import random
from pathlib import Path

import torch

CASES = [
    {"mode": "min", "factor": 0.1, "patience": 2, "minDelta": 0.0, "cooldown": 0, "floorFraction": 0.0},
    {"mode": "min", "factor": 0.5, "patience": 0, "minDelta": 0.05, "cooldown": 1, "floorFraction": 0.1},
    {"mode": "max", "factor": 0.3, "patience": 1, "minDelta": 0.01, "cooldown": 3, "floorFraction": 0.02},
]
STEPS = 40


def record(case, seed):
    draw = random.Random(seed)
    sign = -1 if case["mode"] == "max" else 1
    scores = [sign * (math.exp(-i / 8) + 0.1 * draw.random()) for i in range(STEPS)]
    optimizer = torch.optim.SGD([torch.zeros(1)], 1.0)
    plateau = torch.optim.lr_scheduler.ReduceLROnPlateau(
        optimizer,
        mode=case["mode"],
        factor=case["factor"],
        patience=case["patience"],
        threshold=case["minDelta"],
        threshold_mode="abs",
        cooldown=case["cooldown"],
        min_lr=case["floorFraction"],
        eps=0,
    )
    rates = []
    for score in scores:
        plateau.step(score)
        rates.append(optimizer.param_groups[0]["lr"])
    return {"options": case, "scores": scores, "rates": rates}


cases = [record(case, seed) for seed, case in enumerate(CASES)]
golden = {"source": f"PyTorch {torch.__version__}", "cases": cases}
Path(__file__).with_name("plateau.json").write_text(json.dumps(golden, indent=1) + "\n")
