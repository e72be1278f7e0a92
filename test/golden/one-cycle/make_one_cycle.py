"""Records the results of `torch.optim.lr_scheduler.OneCycleLR` as one-cycle.json: `python3 make_one_cycle.py`."""

import json
from pathlib import Path

import torch

CASES = [
    {"max_lr": 0.1, "total_steps": 100},
    {"max_lr": 0.5, "total_steps": 37, "anneal_strategy": "linear"},
    {"max_lr": 0.2, "total_steps": 61, "three_phase": True, "div_factor": 10, "final_div_factor": 100},
    {"max_lr": 1.0, "total_steps": 50, "pct_start": 0.45, "base_momentum": 0.7, "max_momentum": 0.9},
    {"max_lr": 0.01, "total_steps": 10, "three_phase": True, "anneal_strategy": "linear", "pct_start": 0.4},
    {"max_lr": 0.3, "total_steps": 3, "final_div_factor": 1},
]


def rates_of(options):
    steps_of = torch.optim.SGD([torch.zeros(1)], 0.1, momentum=0.9)
    schedule = torch.optim.lr_scheduler.OneCycleLR(steps_of, **options)
    rates, momenta = [], []
    for step in range(options["total_steps"]):
        rates.append(steps_of.param_groups[0]["lr"])
        momenta.append(steps_of.param_groups[0]["momentum"])
        steps_of.step()
        if step + 1 < options["total_steps"]:
            schedule.step()
    return {"options": options, "lr": rates, "momentum": momenta}


golden = {"source": f"PyTorch {torch.__version__}, make_one_cycle.py", "cases": [rates_of(options) for options in CASES]}
Path(__file__).with_name("one-cycle.json").write_text(json.dumps(golden) + "\n")
