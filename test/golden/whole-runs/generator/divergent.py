"""Hyperparameter-divergent ensemble training: ranks train one model, each with different values of some scalars.

Rank r's value of a scalar is base·ρ, ρ_i = 1 + α·(i − (N−1)/2)/max((N−1)/2, ½). Every T steps all weights become their mean. After the
warm-up such a sync also moves each base, by the ranks' mean losses L since the last sync,

    w = softmax((mean L − L)/σ);   δ = Σ w·value − mean value;   v ← β·v + (1 − β)·δ;   base ← max(floor, base·(1 − γ) + λ·v)

and permutes the multipliers again. γ applies to learning rates: with it, the syncs before the last step bring the base to one-cycle's last
rate.
"""

import math

import torch

from strategies import local_gradients, mean_gradients, setup, steps
from networks import constrain, is_buffer
from streams import permutation


def multipliers(alpha, ranks):
    middle = (ranks - 1) / 2
    return [1 + alpha * (i - middle) / max(middle, 0.5) for i in range(ranks)]


class Scalars:
    """Bases by name. Learning rates and decays have one per parameter group (`learningRate/head`)."""

    def __init__(self, case):
        self.case, self.options = case, case["strategy"]
        groups = ["", *("/" + group["name"] for group in self.options["groups"])]
        self.bases = {}
        for name in self.options["diverge"]:
            is_setting = name in ("learningRate", "weightDecay")
            base = case["optimizer"][name] if is_setting else case["loss"][name]
            self.bases.update({name + group: base for group in (groups if is_setting else [""])})
        self.velocities = dict.fromkeys(self.bases, 0.0)
        self.dealt = {name: list(range(case["members"])) for name in self.bases}
        self.decay, self.syncs = None, 0

    def begin_step(self, rate):
        """The base is the schedule's until rates adapt."""
        for name in self.bases:
            if name.startswith("learningRate") and self.decay is None:
                self.bases[name] = rate

    def value(self, name, rank):
        return self.bases[name] * multipliers(self.options["spread"], self.case["members"])[self.dealt[name][rank]]

    def of_weights(self, name, rank, weights):
        """The value for each trained weight, or None if all ranks have the configured one."""
        if name not in self.bases:
            return None
        heads = [group for group in self.options["groups"]]
        group_of = lambda weight: next(("/" + own["name"] for own in heads if own["weights"] in weight), "")
        return [self.value(name + group_of(weight), rank) for weight in weights if not is_buffer(weight)]

    def adapt(self, losses, done, rate):
        floor, ranks = self.floor(), range(self.case["members"])
        if self.decay is None:
            left = math.ceil((self.case["maxSteps"] - done) / self.options["averageEverySteps"])
            given = self.options.get("decay")
            self.decay = given if given is not None else 1 - (floor / rate) ** (1 / left)
        weights = torch.softmax(-torch.tensor(losses, dtype=torch.float64) / self.options["lossScale"], 0).tolist()
        self.syncs += 1
        for name, base in self.bases.items():
            values = [self.value(name, rank) for rank in ranks]
            delta = sum(weight * value for weight, value in zip(weights, values)) - sum(values) / len(values)
            inertia = self.options["inertia"]
            self.velocities[name] = inertia * self.velocities[name] + (1 - inertia) * delta
            is_rate = name.startswith("learningRate")
            kept = base * (1 - self.decay) if is_rate else base
            moved = kept + self.options["adaptation"] * self.velocities[name]
            self.bases[name] = max(floor if is_rate else 0, moved)
        for name in self.bases:
            self.dealt[name] = permutation(self.case["seed"], f"hdet/sync-{self.syncs}/{name}", len(ranks))

    def floor(self):
        schedule = self.case.get("schedule", {"kind": "constant"})
        if schedule["kind"] != "one-cycle":
            return 0
        return self.case["optimizer"]["learningRate"] / (schedule["startDivisor"] * schedule["finalDivisor"])


def hdet(case, data, dtype):
    options = case["strategy"]
    ranks, samples, recorder = setup(case, data, dtype, one_model=True)
    scalars = Scalars(case)
    names = list(ranks[0].weights)
    interval = [[] for _ in ranks]
    for step, settings, (_, indices) in steps(case):
        scalars.begin_step(settings["rate"])
        smoothing = [scalars.value("labelSmoothing", r) if "labelSmoothing" in scalars.bases else None for r in range(len(ranks))]
        locals_ = [
            local_gradients(case, rank, samples, own, step, smoothing[r])
            for r, (rank, own) in enumerate(zip(ranks, indices))
        ]
        own_losses = [total / count if count > 0 else None for total, _, count in locals_]
        shared = mean_gradients(case, locals_) if options["gradientSync"] else None
        for r, rank in enumerate(ranks):
            if shared is None and locals_[r][2] == 0:
                continue
            _, gradients = shared if shared is not None else mean_gradients(case, [locals_[r]])
            rates = scalars.of_weights("learningRate", r, names)
            decays = scalars.of_weights("weightDecay", r, names)
            rank.update([None if own is None else own.clone() for own in gradients], settings, rates, decays)
        for kept, loss in zip(interval, own_losses):
            kept.extend([] if loss is None else [loss])
        done = step + 1
        if done % options["averageEverySteps"] == 0:
            average(ranks)
            if options["adapt"] and done >= options["warmupSteps"]:
                scalars.adapt([sum(kept) / len(kept) for kept in interval], done, settings["rate"])
            interval = [[] for _ in ranks]
        everyone = shared[0] if shared is not None else None
        recorder.end_step(step, [everyone if loss is None else loss for loss in own_losses])
    return recorder


def average(ranks):
    with torch.no_grad():
        for weights in zip(*(rank.weights.values() for rank in ranks)):
            mean = torch.stack(weights).mean(0)
            for weight in weights:
                weight.copy_(mean)
    for rank in ranks:
        constrain(rank.case, rank.weights)
