"""Records how the reference implementation of HDET trains four ranks on a quadratic loss, as hdet.json beside this file.

    python make_hdet.py <folder>/src/one_cycle.py

The argument is the file in the paper's repository that defines `OneCycleAutoLR`. The loss is 0.5 (w - target)^T H (w - target); ranks
average their gradients in each step, and train by plain SGD. For each rank and step: the learning rate used, the loss before the update,
and the weights after the update and any averaging. From step `auto_lr_warmup_steps` on, ranks have different rates: `multiplier_of_rank` is
the place of a rank's rate among them, `mean_lr` their mean.
"""

import importlib.util
import json
import sys
import tempfile
from pathlib import Path

import torch
import torch.distributed as dist
import torch.multiprocessing as processes

WORLD, SIZE = 4, 8
OPTIONS = {
    "max_lr": 0.2,
    "total_steps": 61,
    "ensemble_lr_spread_ratio": 0.3,
    "model_sync_interval": 5,
    "auto_lr_warmup_steps": 20,
    "enable_auto_lr": True,
    "div_factor": 100.0,
    "final_div_factor": 10.0,
    "loss_scale": 0.05,
    "lr_of_lr": 0.5,
    "momentum_of_lr": 0.9,
}


def problem():
    """A symmetric positive definite H, the target and the first weights."""
    generator = torch.Generator().manual_seed(7)
    root = torch.randn(SIZE, SIZE, generator=generator)
    hessian = root @ root.T / SIZE + 0.1 * torch.eye(SIZE)
    return hessian, torch.randn(SIZE, generator=generator), torch.randn(SIZE, generator=generator)


def load_scheduler(path):
    specification = importlib.util.spec_from_file_location("one_cycle", path)
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module.OneCycleAutoLR


def train_rank(rank, path, folder):
    dist.init_process_group("gloo", init_method=f"file://{folder}/rendezvous", rank=rank, world_size=WORLD)
    hessian, target, start = problem()
    weights = torch.nn.Parameter(start.clone())
    optimizer = torch.optim.SGD([weights], OPTIONS["max_lr"])
    scheduler = load_scheduler(path)(optimizer, cycle_momentum=False, **OPTIONS)
    steps = []
    for _ in range(OPTIONS["total_steps"] - 1):
        rate = float(optimizer.param_groups[0]["lr"])
        offset = weights - target
        loss = 0.5 * offset @ hessian @ offset
        optimizer.zero_grad()
        loss.backward()
        dist.all_reduce(weights.grad)
        weights.grad /= WORLD
        optimizer.step()
        scheduler.step(loss)
        steps.append({"lr": rate, "loss": loss.item(), "w": weights.tolist()})
    Path(folder, f"rank-{rank}.json").write_text(json.dumps({"gamma": scheduler.decay_ratio, "steps": steps}))
    dist.destroy_process_group()


def sync_of(step, ranks):
    """The mean rate from this step on, and each rank's index among the evenly spread rates."""
    rates = [rank[step]["lr"] for rank in ranks]
    mean = sum(rates) / WORLD
    half = (WORLD - 1) / 2
    places = [round((rate / mean - 1) / OPTIONS["ensemble_lr_spread_ratio"] * half + half) for rate in rates]
    return {"first_step": step, "mean_lr": mean, "multiplier_of_rank": places}


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        processes.spawn(train_rank, (sys.argv[1], folder), WORLD)
        recorded = [json.loads(Path(folder, f"rank-{rank}.json").read_text()) for rank in range(WORLD)]
    ranks = [rank["steps"] for rank in recorded]
    hessian, target, start = problem()
    first, last, interval = OPTIONS["auto_lr_warmup_steps"], OPTIONS["total_steps"] - 1, OPTIONS["model_sync_interval"]
    case = {
        "options": OPTIONS,
        "syncs": [sync_of(step, ranks) for step in range(first, last, interval)],
        "world": WORLD,
        "gamma": recorded[0]["gamma"],
        "H": hessian.tolist(),
        "target": target.tolist(),
        "w0": start.tolist(),
        "ranks": ranks,
    }
    source = f"OneCycleAutoLR, the reference implementation, on PyTorch {torch.__version__}, by make_hdet.py"
    Path(__file__).with_name("hdet.json").write_text(json.dumps({"source": source, "cases": [case]}) + "\n")
