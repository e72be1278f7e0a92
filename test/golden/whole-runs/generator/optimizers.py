"""PyTorch's optimizers and schedules for a run's configuration."""

import math

import torch


def optimizer(case, weights):
    """One parameter group per trained weight, so that each can have separate settings."""
    config = case["optimizer"]
    decay = config.get("weightDecay", 0)
    groups = [{"params": [weight]} for weight in weights]
    if config["kind"] == "sgd":
        momentum, nesterov = config.get("momentum", 0), config.get("nesterov", False)
        return torch.optim.SGD(groups, config["learningRate"], momentum, weight_decay=decay, nesterov=nesterov)
    kind = {"adam": torch.optim.Adam, "adamw": torch.optim.AdamW}[config["kind"]]
    return kind(groups, config["learningRate"], weight_decay=decay)


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
