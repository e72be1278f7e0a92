"""Records how PyTorch (float64) trains small models with L1 and L2 penalties and with constraints, by each strategy.

    python make_regularized.py > regularized.json

Model: tanh(x W0 + b0) W1 + b1, W0 [4, 6] with l1 = 0.01, l2 = 0.02 and maxNorm(0.8), b0 with l1 = 0.03, W1 [6, 3] with l2 = 0.1 and
unitNorm, b1 with nonNeg. Norms are those of columns (axis 0), as in Keras: w * clip(norm) / (1e-7 + norm). SGD with momentum 0.9, rate 0.1.
"""

import json
import platform

import torch

torch.manual_seed(3)
torch.set_default_dtype(torch.float64)
MEMBERS, STEPS, RATE, EPSILON = 3, 10, 0.1, 1e-7

features = torch.randn(12, 4)
labels = (features[:, 0] > 0).long() + (features[:, 1] > 0.3).long()
# A rank's samples in a step. In every third step, the last ranks' batches are smaller or empty.
sizes = [[4, 4, 4], [4, 4, 4], [4, 2, 0]]
batches = []
for step in range(STEPS):
    order = torch.randperm(12).tolist()
    ranks = []
    for size in sizes[step % 3]:
        ranks.append(order[:size])
        order = order[size:]
    batches.append(ranks)


def initial():
    b0 = torch.randn(6) * 0.1
    b0[:2] = 0  # where |b| has no slope
    return [torch.randn(4, 6) * 0.7, b0, torch.randn(6, 3) * 0.5, torch.randn(3) * 0.1]


start = [initial() for _ in range(MEMBERS)]


def fresh(weights):
    return [w.clone().requires_grad_() for w in weights]


def logits(weights, x):
    return torch.tanh(x @ weights[0] + weights[1]) @ weights[2] + weights[3]


def penalty(weights):
    w0, b0, w1, _ = weights
    return 0.01 * w0.abs().sum() + 0.02 * (w0**2).sum() + 0.03 * b0.abs().sum() + 0.1 * (w1**2).sum()


def cross_entropy(z, indices):
    return torch.nn.functional.cross_entropy(z, labels[indices])


def constrain(weights):
    with torch.no_grad():
        w0, _, w1, b1 = weights
        norms = (w0**2).sum(0, keepdim=True).sqrt()
        w0.copy_(w0 * norms.clamp(0, 0.8) / (EPSILON + norms))
        w1.copy_(w1 / (EPSILON + (w1**2).sum(0, keepdim=True).sqrt()))
        b1.clamp_(min=0)


def sgd(weights, rate=RATE):
    return torch.optim.SGD(weights, lr=rate, momentum=0.9)


def update(weights, optimizer, gradients):
    for weight, gradient in zip(weights, gradients):
        weight.grad = gradient
    optimizer.step()
    constrain(weights)


def listed(members, losses):
    flat = [[round(v, 9) for w in m for v in w.detach().flatten().tolist()] for m in members]
    return {"weights": flat, "losses": [[round(v, 9) for v in of] for of in losses]}


def independent():
    """Member r, on the batch that rank 0 has r steps later."""
    members, losses = [fresh(w) for w in start], [[] for _ in start]
    for m, weights in enumerate(members):
        optimizer = sgd(weights)
        for step in range(STEPS):
            indices = batches[(step + m) % STEPS][0]
            loss = cross_entropy(logits(weights, features[indices]), indices) + penalty(weights)
            losses[m].append(loss.item())
            update(weights, optimizer, torch.autograd.grad(loss, weights))
    return listed(members, losses)


def one_model():
    """One model on all ranks' samples."""
    weights, losses = fresh(start[0]), []
    optimizer = sgd(weights)
    for ranks in batches:
        indices = sum(ranks, [])
        loss = cross_entropy(logits(weights, features[indices]), indices) + penalty(weights)
        losses.append(loss.item())
        update(weights, optimizer, torch.autograd.grad(loss, weights))
    return listed([weights], [losses])


def joint(stale):
    """All members on rank 0's batch. With `stale`, the gradients of a step are those of weights without the last update."""
    members, losses = [fresh(w) for w in start], [[] for _ in start]
    optimizers = [sgd(w) for w in members]
    waiting = None

    def apply(all_gradients):
        for weights, optimizer, gradients in zip(members, optimizers, all_gradients):
            update(weights, optimizer, gradients)

    for ranks in batches:
        indices = ranks[0]
        mean = sum(logits(w, features[indices]) for w in members) / MEMBERS
        product = cross_entropy(mean, indices)
        penalties = [penalty(w) for w in members]
        total = product + sum(penalties)
        flat = torch.autograd.grad(total, [v for w in members for v in w])
        gradients = [flat[4 * m : 4 * m + 4] for m in range(MEMBERS)]
        for m in range(MEMBERS):
            losses[m].append((product + penalties[m]).item())
        if not stale:
            apply(gradients)
            continue
        if waiting is not None:
            apply(waiting)
        waiting = gradients
    if waiting is not None:
        apply(waiting)
    return listed(members, losses)


def hdet():
    """Rank r has 0.5, 1 and 1.5 times the rate. In every second step all ranks take the mean, which is constrained again."""
    members, losses = [fresh(start[0]) for _ in range(MEMBERS)], [[] for _ in start]
    optimizers = [sgd(w, RATE * factor) for w, factor in zip(members, [0.5, 1.0, 1.5])]
    for step, ranks in enumerate(batches):
        total, samples = [torch.zeros_like(w) for w in members[0]], sum(len(r) for r in ranks)
        for m, weights in enumerate(members):
            if len(ranks[m]) == 0:
                continue
            loss = cross_entropy(logits(weights, features[ranks[m]]), ranks[m]) + penalty(weights)
            losses[m].append(loss.item())
            for sum_, gradient in zip(total, torch.autograd.grad(loss, weights)):
                sum_ += gradient * len(ranks[m]) / samples
        for weights, optimizer in zip(members, optimizers):
            update(weights, optimizer, [g.clone() for g in total])
        if step % 2 == 1:
            with torch.no_grad():
                means = [sum(w[i] for w in members) / MEMBERS for i in range(4)]
                for weights in members:
                    for weight, mean in zip(weights, means):
                        weight.copy_(mean)
            for weights in members:
                constrain(weights)
    return listed(members, losses)


print(
    json.dumps(
        {
            "versions": {"torch": torch.__version__, "python": platform.python_version()},
            "features": [[round(v, 9) for v in row] for row in features.tolist()],
            "labels": labels.tolist(),
            "batches": batches,
            "start": listed(start, [])["weights"],
            "runs": {
                "independent": independent(),
                "oneModel": one_model(),
                "joint": joint(False),
                "pipelined": joint(True),
                "hdet": hdet(),
            },
        }
    )
)
