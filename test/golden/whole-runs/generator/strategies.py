"""N ranks in one process, written from the strategies' definitions:

- `independent`: Lakshminarayanan et al. (2017), "Simple and scalable predictive uncertainty estimation using deep ensembles"
- `joint`: Webb (2019), "Distributed joint training of large ensembles with low communication overhead"
- `coupled`: a member's own loss plus λ·KL(member || mean of the members), whose mean takes no gradient
- `data-parallel`, `sharded`: Li et al. (2020), "PyTorch Distributed"; Rajbhandari et al. (2020), "ZeRO", stage 1

Each gives the losses of every step by rank (None where a rank has none) and the weights of every rank after the steps that are asked for.
"""

import torch
from torch.nn import functional
from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn

from networks import DATA_OF, FORWARD, batch_loss, classes_loss, constrain, initial, is_buffer, penalty
from optimizers import by_group, clip, optimizer, schedule, update
from streams import batches, unlabelled_batches


class Rank:
    """A model and its optimizer."""

    def __init__(self, case, seed, dtype):
        self.case = case
        self.weights = {name: value.to(dtype) for name, value in initial(case["network"], seed).items()}
        self.trained = [weight.requires_grad_() for name, weight in self.weights.items() if not is_buffer(name)]
        self.steps_of = optimizer(case, self.trained)
        self.averaged = None
        if "ema" in case:
            # The list's parameters share the memory of the weights.
            self.source = torch.nn.ParameterList([torch.nn.Parameter(weight.data) for weight in self.trained])
            self.averaged = AveragedModel(self.source, multi_avg_fn=get_ema_multi_avg_fn(case["ema"]["decay"]))

    def gradients(self, loss):
        return torch.autograd.grad(loss, self.trained, allow_unused=True)

    def update(self, gradients, settings, rates=None, decays=None):
        """Settings by group are those of the optimizer, unless ranks have their own."""
        config = self.case["optimizer"]
        own = by_group(config, [name for name in self.weights if not is_buffer(name)], settings["rate"])
        frozen = [rate == 0 for rate in own[0]]
        gradients = [None if is_frozen else gradient for gradient, is_frozen in zip(gradients, frozen)]
        update(self.steps_of, clip(config, gradients), settings, rates or own[0], decays or own[1])
        constrain(self.case, self.weights)
        if self.averaged is not None:
            self.averaged.update_parameters(self.source)

    def put_average(self):
        """Puts the averaged weights in place of the trained ones."""
        if self.averaged is not None:
            for weight, average in zip(self.trained, self.averaged.module):
                weight.data.copy_(average.data)

    def forward(self, case, x):
        return FORWARD[case["network"]](self.weights, x)

    def flat(self):
        return torch.cat([weight.detach().flatten().double() for weight in self.weights.values()])


class Samples:
    def __init__(self, data, dtype):
        targets = data["targets"]
        self.features = data["features"].to(dtype)
        self.targets = targets.to(dtype) if targets.is_floating_point() else targets

    def at(self, indices):
        return self.features[indices], self.targets[indices]


class Recorder:
    def __init__(self, case, ranks):
        self.case, self.ranks, self.losses, self.weights = case, ranks, [[] for _ in ranks], {}

    def end_step(self, step, losses):
        for kept, loss in zip(self.losses, losses):
            if loss is not None:
                kept.append(loss.item() if torch.is_tensor(loss) else loss)
        self.keep(step + 1)

    def keep(self, done):
        if done in self.case["recordedSteps"]:
            self.weights[str(done)] = torch.stack([rank.flat() for rank in self.ranks])


def setup(case, data, dtype, one_model=False):
    """With one model, all ranks start with the first one's weights."""
    seeds = [case["seed"] + (0 if one_model else rank) for rank in range(case["members"])]
    ranks = [Rank(case, seed, dtype) for seed in seeds]
    return ranks, Samples(data[DATA_OF[case["network"]]], dtype), Recorder(case, ranks)


def steps(case):
    return zip(range(case["maxSteps"]), schedule(case), batches(case))


def independent(case, data, dtype):
    ranks, samples, recorder = setup(case, data, dtype)
    for step, settings, (_, indices) in steps(case):
        losses = [batch_loss(case, rank.weights, samples.at(own), step) for rank, own in zip(ranks, indices)]
        for rank, loss in zip(ranks, losses):
            rank.update(rank.gradients(loss), settings)
        recorder.end_step(step, losses)
    return recorder


def joint(case, data, dtype):
    """The loss is that of the softmax of the mean logits, plus the rank's penalties. When pipelined, an update comes one step after its
    gradient, except in the last step before each rendezvous, which is at the end of an epoch here.
    """
    ranks, samples, recorder = setup(case, data, dtype)
    pipelined = case["strategy"]["mode"] == "pipelined"
    late = None
    order = list(steps(case))
    for step, settings, (epoch, indices) in order:
        x, y = samples.at(indices[0])
        loss = classes_loss(case, torch.stack([rank.forward(case, x) for rank in ranks]).mean(0), y)
        penalties = [penalty(case, rank.weights) for rank in ranks]
        gradients = torch.autograd.grad(loss + sum(penalties), [weight for rank in ranks for weight in rank.trained])
        now = (settings, gradients)
        if not pipelined:
            apply_jointly(ranks, *now)
        else:
            if late is not None:
                apply_jointly(ranks, *late)
            late = now
            is_last = step + 1 == len(order) or order[step + 1][2][0] != epoch
            if is_last:
                apply_jointly(ranks, *late)
                late = None
        recorder.end_step(step, [loss + own for own in penalties])
    return recorder


def apply_jointly(ranks, settings, gradients):
    width = len(ranks[0].trained)
    for i, rank in enumerate(ranks):
        rank.update(gradients[i * width : (i + 1) * width], settings)


def coupled(case, data, dtype):
    ranks, samples, recorder = setup(case, data, dtype)
    unlabelled = Samples(data["unlabelled"], dtype)
    order = unlabelled_batches(case, len(unlabelled.features))
    weight = case["strategy"]["couplingWeight"]
    for step, settings, (_, indices) in steps(case):
        x, _ = unlabelled.at(next(order))
        logs = [functional.log_softmax(rank.forward(case, x), -1) for rank in ranks]
        mean = torch.stack([log.exp() for log in logs]).mean(0).detach()
        losses = [
            batch_loss(case, rank.weights, samples.at(own), step)
            + weight * (log.exp() * (log - mean.log())).sum(-1).mean()
            for rank, own, log in zip(ranks, indices, logs)
        ]
        for rank, loss in zip(ranks, losses):
            rank.update(rank.gradients(loss), settings)
        recorder.end_step(step, losses)
    return recorder


def data_parallel(case, data, dtype):
    """One update of all replicas with the mean gradient of all samples. Replicas differ only in running statistics."""
    ranks, samples, recorder = setup(case, data, dtype, one_model=True)
    for step, settings, (_, indices) in steps(case):
        locals_ = [local_gradients(case, rank, samples, own, step) for rank, own in zip(ranks, indices)]
        loss, gradients = mean_gradients(case, locals_)
        for rank in ranks:
            rank.update([None if own is None else own.clone() for own in gradients], settings)
        recorder.end_step(step, [loss] * len(ranks))
    return recorder


def local_gradients(case, rank, samples, indices, step, smoothing=None):
    """Sums over micro-batches of at most `batchSize` samples: Σ n·loss, Σ n·gradient (None if the weight affects no loss) and Σ n."""
    size = case["batchSize"]
    sums, total, count = [None] * len(rank.trained), 0.0, 0
    for start in range(0, len(indices), size):
        part = indices[start : start + size]
        loss = batch_loss(case, rank.weights, samples.at(part), step, smoothing)
        for i, gradient in enumerate(rank.gradients(loss)):
            if gradient is not None:
                share = gradient * len(part)
                sums[i] = share if sums[i] is None else sums[i] + share
        total, count = total + float(loss.detach()) * len(part), count + len(part)
    return total, sums, count


def mean_gradients(case, locals_):
    """Σ_r Σ n·g / Σ n. None if the weight affects no rank's loss."""
    count = sum(own for _, _, own in locals_)
    means = []
    for sums in zip(*(own for _, own, _ in locals_)):
        reached = [own for own in sums if own is not None]
        means.append(None if not reached else exchanged(case, reached) / count)
    return sum(total for total, _, _ in locals_) / count, means


def exchanged(case, gradients):
    """Σ_r. As bfloat16, every rank's part is rounded, and so is the sum. Parts are sent as shares of a batch."""
    if case["strategy"].get("compression") != "bfloat16":
        return sum(gradients)
    dtype, size = gradients[0].dtype, case["batchSize"]
    total = sum((own / size).bfloat16().to(dtype) for own in gradients)
    return total.bfloat16().to(dtype) * size
