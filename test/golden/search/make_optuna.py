"""Records Optuna's Parzen estimators, non-dominated ranks, hypervolumes, importances, and a journal file.

Packages: optuna 5.0.0, numpy 2.4.6. Usage: python3 make_optuna.py
"""

import functools
import json
import math
from pathlib import Path

import numpy as np
import optuna
from optuna._hypervolume import compute_hypervolume
from optuna._hypervolume.hssp import _solve_hssp
from optuna.distributions import CategoricalDistribution, FloatDistribution, IntDistribution
from optuna.samplers._tpe.parzen_estimator import _ParzenEstimator, _ParzenEstimatorParameters
from optuna.samplers._tpe.sampler import default_weights
from optuna.study._multi_objective import _fast_non_domination_rank

optuna.logging.set_verbosity(optuna.logging.ERROR)
folder = Path(__file__).parent
rng = np.random.default_rng(3)
# Of equal observations the first and the last get the gaps around them, whichever sort comes first: a stable one makes it definite.
np.argsort = functools.partial(np.argsort, kind="stable")

SPACE = {
    "rate": FloatDistribution(1e-5, 30, log=True),
    "momentum": FloatDistribution(-1, 2),
    "layers": IntDistribution(1, 9),
    "units": IntDistribution(16, 64, log=True),
    "dropout": FloatDistribution(0, 0.5, step=0.1),
    "width": IntDistribution(10, 50, step=4),
    "kind": CategoricalDistribution(["a", "b", "c"]),
}


def draw():
    return {
        "rate": float(np.exp(rng.uniform(math.log(1e-5), math.log(30)))),
        "momentum": float(rng.uniform(-1, 2)),
        "layers": int(rng.integers(1, 10)),
        "units": int(rng.integers(16, 65)),
        "dropout": round(0.1 * int(rng.integers(0, 6)), 1),
        "width": int(10 + 4 * rng.integers(0, 11)),
        "kind": "abc"[int(rng.integers(0, 3))],
    }


def internal(assignments):
    return {
        name: np.array([distribution.to_internal_repr(values[name]) for values in assignments])
        for name, distribution in SPACE.items()
    }


def estimators():
    parameters = _ParzenEstimatorParameters(1.0, True, False, default_weights, True)
    cases = []
    for count in [0, 1, 2, 3, 24, 40, 120]:
        observed, asked = [draw() for _ in range(count)], [draw() for _ in range(6)]
        estimator = _ParzenEstimator(internal(observed), SPACE, parameters)
        cases.append(
            {"observed": observed, "asked": asked, "logDensities": estimator.log_pdf(internal(asked)).tolist()}
        )
    return cases


def fronts():
    cases = []
    for rows, objectives in [(1, 2), (12, 2), (40, 2), (30, 3), (25, 4), (12, 5)]:
        for rounded in [False, True]:
            losses = rng.normal(size=(rows, objectives))
            if rounded:
                losses = np.round(losses * 2) / 2
            ranks = _fast_non_domination_rank(losses)
            reference = losses.max(axis=0) + 0.5
            front = np.unique(losses[ranks == 0], axis=0)
            size = max(1, len(front) // 2)
            chosen = _solve_hssp(front, np.arange(len(front)), size, reference)
            cases.append(
                {
                    "losses": losses.tolist(),
                    "ranks": ranks.tolist(),
                    "reference": reference.tolist(),
                    "hypervolume": float(compute_hypervolume(losses, reference)),
                    "front": front.tolist(),
                    "size": size,
                    "chosen": [int(row) for row in chosen],
                }
            )
    return cases


def importances():
    def objective(values):
        return (
            math.log10(values["rate"] / 0.01) ** 2
            + 0.3 * (values["layers"] - 4) ** 2
            + {"a": 0, "b": 0.5, "c": 2}[values["kind"]]
            + values.get("extra", 0)
        )

    cases = []
    for count, direction in [(30, "minimize"), (100, "maximize"), (400, "minimize")]:
        study = optuna.create_study(direction=direction)
        trials = []
        for _ in range(count):
            values, distributions = draw(), dict(SPACE)
            if values["kind"] == "a":
                values["extra"] = float(rng.uniform(0, 3))
                distributions["extra"] = FloatDistribution(0, 3)
            value = objective(values) * (1 if direction == "minimize" else -1)
            study.add_trial(optuna.trial.create_trial(params=values, distributions=distributions, value=value))
            trials.append({"values": values, "objective": value})
        for quantiles in [(0.1, 1.0), (0.25, 0.5)]:
            evaluator = optuna.importance.PedAnovaImportanceEvaluator(
                target_quantile=quantiles[0], region_quantile=quantiles[1]
            )
            found = evaluator.evaluate(study)
            cases.append({"direction": direction, "trials": trials, "target": quantiles[0], "region": quantiles[1], "importances": found})
    return cases


def journal():
    path = folder / "journal.jsonl"
    path.unlink(missing_ok=True)
    storage = optuna.storages.JournalStorage(optuna.storages.journal.JournalFileBackend(str(path)))
    study = optuna.create_study(storage=storage, study_name="wine", directions=["minimize"], sampler=optuna.samplers.RandomSampler(seed=1))
    study.enqueue_trial({"rate": 0.5, "kind": "a"})

    def objective(trial):
        rate = trial.suggest_float("rate", 1e-5, 30, log=True)
        kind = trial.suggest_categorical("kind", ["a", "b", 3, True])
        layers = trial.suggest_int("layers", 1, 9, step=2)
        if kind == "a":
            trial.suggest_float("dropout", 0, 0.5, step=0.1)
        for step in range(3):
            trial.report(math.nan if trial.number == 2 and step == 1 else rate / (step + 1), step)
        if trial.number == 3:
            raise optuna.TrialPruned
        if trial.number == 4:
            raise ArithmeticError
        return rate + layers

    study.optimize(objective, n_trials=6, catch=ArithmeticError)
    study.ask()
    for file in folder.glob("journal.jsonl.lock*"):
        file.unlink()
    state = ["running", "complete", "pruned", "failed", "waiting"]
    return [
        {
            "state": state[trial.state],
            "values": trial.params,
            "objectives": trial.values,
            "reports": [[step, None if math.isnan(value) else value] for step, value in trial.intermediate_values.items()],
        }
        for trial in study.get_trials()
    ]


recorded = {"estimators": estimators(), "fronts": fronts(), "importances": importances(), "journal": journal()}
(folder / "optuna.json").write_text(json.dumps(recorded) + "\n")
