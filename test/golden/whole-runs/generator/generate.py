"""Records runs of 100 steps by PyTorch in float64, one file per family of strategies: `python3 generate.py`.

Each run includes the distance of PyTorch's own float32 from it, as a bound for other float32 implementations.
"""

import json
from pathlib import Path

import torch

import divergent
import strategies
from cases import FAMILIES
from optimizers import Lion
from networks import DATA_OF, datasets, initial

SIMULATIONS = {
    "independent": strategies.independent,
    "joint": strategies.joint,
    "coupled": strategies.coupled,
    "data-parallel": strategies.data_parallel,
    "hdet": divergent.hdet,
}


def rounded(values):
    return [float(f"{value:.9g}") for value in values]


def largest(first, second):
    return max(abs(a - b) for own, other in zip(first, second) for a, b in zip(own, other))


def record(family, case, data):
    Lion.margin = float("inf")
    exact = SIMULATIONS[family](case, data, torch.float64)
    if case["optimizer"]["kind"] == "lion":
        # Closer to 0, float32 may have the other sign: then choose another seed.
        assert Lion.margin > 1e-5, f"{case['name']}: the smallest value of which Lion takes the sign is {Lion.margin} of the largest"
    single = SIMULATIONS[family](case, data, torch.float32)
    distances = [(exact.weights[step] - single.weights[step]).abs().max().item() for step in exact.weights]
    seeds = [case["seed"] + rank for rank in range(case["members"])]
    weights = {step: [rounded(rank.tolist()) for rank in ranks] for step, ranks in exact.weights.items()}
    return {
        **case,
        "initial": [torch.cat([w.flatten() for w in initial(case["network"], seed).values()]).tolist() for seed in seeds],
        "losses": once([rounded(losses) for losses in exact.losses]),
        "weights": {step: once(ranks) for step, ranks in weights.items()},
        "assembled": assembled(family, exact.ranks),
        "float32": {
            "loss": float(f"{largest(exact.losses, single.losses):.2g}"),
            "weight": float(f"{max(distances):.2g}"),
        },
    }


def assembled(family, ranks):
    """The evaluated weights by rank, if they are not the last ones: averages over the steps and, of one model, the first rank's weights and
    statistics or, if ranks diverge, their mean.
    """
    for rank in ranks:
        rank.put_average()
    if family == "hdet":
        divergent.average(ranks)
    if family in ("data-parallel", "hdet"):
        return [rounded(ranks[0].flat().tolist())]
    return None if ranks[0].averaged is None else [rounded(rank.flat().tolist()) for rank in ranks]


def once(ranks):
    """One entry if those of all ranks are equal."""
    return ranks[:1] if all(rank == ranks[0] for rank in ranks) else ranks


def main():
    torch.set_num_threads(1)
    data = datasets()
    folder = Path(__file__).parent.parent / "recorded"
    for family, cases in FAMILIES.items():
        used = {name for case in cases for name in [DATA_OF[case["network"]]]} | ({"unlabelled"} if family == "coupled" else set())
        recorded = {
            "source": f"PyTorch {torch.__version__}, float64, by generator/generate.py",
            "datasets": {
                name: {"shape": of["shape"], "features": of["features"].flatten().tolist(), "targets": of["targets"].tolist()}
                for name, of in data.items()
                if name in used
            },
            "cases": [record(family, case, data) for case in cases],
        }
        path = folder / f"{family}.json"
        path.write_text(json.dumps(recorded, separators=(",", ":")) + "\n")
        for case in recorded["cases"]:
            print(family, "|", case["name"], "|", case["float32"], "loss", case["losses"][0][0], case["losses"][0][-1])


main()
