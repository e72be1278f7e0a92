"""PyTorch's optimizers and schedules for a run's configuration. PyTorch lacks Lion and LAMB, which are written from their papers."""

import math

import torch


def optimizer(case, weights):
    """One parameter group per trained weight, so that each can have separate settings."""
    config = case["optimizer"]
    decay = config.get("weightDecay", 0)
    groups = [{"params": [weight]} for weight in weights]
    if config["kind"] == "rmsprop":
        options = {"alpha": config["rho"], "centered": config["centered"], "momentum": config["momentum"]}
        return torch.optim.RMSprop(groups, config["learningRate"], eps=1e-8, weight_decay=decay, **options)
    if config["kind"] in WRITTEN:
        defaults = {"lr": config["learningRate"], "betas": (config["beta1"], config["beta2"]), "weight_decay": decay}
        return WRITTEN[config["kind"]](groups, defaults)
    if config["kind"] == "sgd":
        momentum, nesterov = config.get("momentum", 0), config.get("nesterov", False)
        return torch.optim.SGD(groups, config["learningRate"], momentum, weight_decay=decay, nesterov=nesterov)
    kind = {"adam": torch.optim.Adam, "adamw": torch.optim.AdamW}[config["kind"]]
    return kind(groups, config["learningRate"], weight_decay=decay)


class Lion(torch.optim.Optimizer):
    """Chen et al. (2023), "Symbolic discovery of optimization algorithms", algorithm 2."""

    # The smallest |c| of all updates, relative to the largest of its tensor: where it is near 0, the sign depends on rounding.
    margin = float("inf")

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            weight, (beta1, beta2), rate = group["params"][0], group["betas"], group["lr"]
            if weight.grad is None:
                continue
            mean = self.state[weight].setdefault("mean", torch.zeros_like(weight))
            mixed = beta1 * mean + (1 - beta1) * weight.grad
            sizes = mixed.abs()[mixed != 0]
            if len(sizes) > 0:
                Lion.margin = min(Lion.margin, (sizes.min() / sizes.max()).item())
            weight.sub_(rate * (mixed.sign() + group["weight_decay"] * weight))
            mean.mul_(beta2).add_(weight.grad, alpha=1 - beta2)


class Lamb(torch.optim.Optimizer):
    """You et al. (2020), "Large batch optimization for deep learning", algorithm 2, with φ(z) = z."""

    EPSILON = 1e-6

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            weight, (beta1, beta2), rate = group["params"][0], group["betas"], group["lr"]
            if weight.grad is None:
                continue
            state = self.state[weight]
            if not state:
                state.update(step=0, mean=torch.zeros_like(weight), square=torch.zeros_like(weight))
            state["step"] += 1
            state["mean"].mul_(beta1).add_(weight.grad, alpha=1 - beta1)
            state["square"].mul_(beta2).add_(weight.grad**2, alpha=1 - beta2)
            mean = state["mean"] / (1 - beta1 ** state["step"])
            square = state["square"] / (1 - beta2 ** state["step"])
            direction = mean / (square.sqrt() + self.EPSILON) + group["weight_decay"] * weight
            norms = weight.norm(), direction.norm()
            ratio = norms[0] / norms[1] if norms[0] > 0 and norms[1] > 0 else 1
            weight.sub_(rate * ratio * direction)


WRITTEN = {"lion": Lion, "lamb": Lamb}


def clip(config, gradients):
    """Limits each element, then the norm of all gradients. None stays None."""
    present = [gradient.detach().clone() for gradient in gradients if gradient is not None]
    weights = [torch.zeros_like(gradient).requires_grad_() for gradient in present]
    for weight, gradient in zip(weights, present):
        weight.grad = gradient
    if config.get("clipValue", 0) > 0:
        torch.nn.utils.clip_grad_value_(weights, config["clipValue"])
    if config.get("clipNorm", 0) > 0:
        torch.nn.utils.clip_grad_norm_(weights, config["clipNorm"])
    clipped = iter(weight.grad for weight in weights)
    return [None if gradient is None else next(clipped) for gradient in gradients]


def by_group(config, names, rate):
    """The learning rate and the weight decay of each trained weight. A factor of 0 freezes it: its gradient counts as None."""
    rates, decays = [], []
    for name in names:
        group = next((own for own in config.get("groups", []) if own["weights"] in name), {})
        rates.append(rate * group.get("rateFactor", 1))
        decays.append(group.get("weightDecay", config.get("weightDecay", 0)))
    return rates, decays


def update(steps_of, gradients, settings, rates=None, decays=None):
    """One update. A weight without a gradient stays unchanged. `rates` and `decays` apply to single weights."""
    for i, (group, gradient) in enumerate(zip(steps_of.param_groups, gradients)):
        group["lr"] = settings["rate"] if rates is None else rates[i]
        if decays is not None:
            group["weight_decay"] = decays[i]
        if "momentum" in settings and "betas" in group:
            group["betas"] = (settings["momentum"], group["betas"][1])
        elif "momentum" in settings:
            group["momentum"] = settings["momentum"]
        group["params"][0].grad = gradient
    steps_of.step()


def schedule(case):
    """The learning rate (and momentum) of every step."""
    config, base, steps = case.get("schedule", {"kind": "constant"}), case["optimizer"]["learningRate"], case["maxSteps"]
    if config["kind"] == "one-cycle":
        return one_cycle(config, base, steps)
    if config["kind"] == "cosine":
        return cosine(config["warmupSteps"], base, base * config["floorFraction"], steps)
    return [{"rate": base}] * steps


def cosine(warmup, base, floor, steps):
    """A linear warm-up to the base rate, then half a cosine down to the floor over the remaining steps."""
    rising = [base * (step + 1) / warmup for step in range(warmup)]
    left = steps - warmup
    falling = [floor + (base - floor) * (1 + math.cos(math.pi * step / left)) / 2 for step in range(left)]
    return [{"rate": rate} for rate in rising + falling]


def one_cycle(config, base, steps):
    dummy = torch.optim.SGD([torch.zeros(1)], base, momentum=0.9)
    cycle = torch.optim.lr_scheduler.OneCycleLR(
        dummy,
        max_lr=base,
        total_steps=steps,
        pct_start=config["risingFraction"],
        div_factor=config["startDivisor"],
        final_div_factor=config["finalDivisor"],
    )
    settings = []
    for _ in range(steps):
        settings.append({"rate": dummy.param_groups[0]["lr"], "momentum": dummy.param_groups[0]["momentum"]})
        dummy.step()
        if len(settings) < steps:
            cycle.step()
    return settings
