"""Records values and gradients of networks with inner members, in float64.

BatchEnsemble: `BatchLinear` and `BatchConv2d` of torch-uncertainty. MIMO: the order of `MIMOBatchFormat` of torch-uncertainty, then a network of two
linear layers whose loss is the mean of the members' cross-entropies. Means: what a task's outputs predict on average over members, from
`torch.distributions` and probabilities.

Run in this folder: python3 make_inner_members.py
"""

import json
import random

import torch
import torch.nn.functional as F
from torch_uncertainty.layers import BatchConv2d, BatchLinear
from torch_uncertainty.transforms.batch import MIMOBatchFormat

torch.set_default_dtype(torch.float64)
torch.manual_seed(31)
draw = random.Random(31)


def entry(tensor):
    return {"shape": list(tensor.shape), "data": [float(f"{v:.9g}") for v in tensor.detach().flatten().tolist()]}


def rounded(*shape):
    """Values that the file holds exactly."""
    return torch.round(torch.randn(*shape) * 1e6) / 1e6


def set_weights(layer, kernel):
    for weight in [kernel, layer.r_group, layer.s_group, layer.bias]:
        if weight is not None:
            weight.data.copy_(rounded(*weight.shape))


def record(kind, options, layer, kernel, to_kernel, x, to_torch, to_tf):
    """Weights in the order of Tutti's layers: kernel, bias, input factors, output factors."""
    set_weights(layer, kernel)
    x = x.requires_grad_()
    y = to_tf(layer(to_torch(x)))
    dy = rounded(*y.shape)
    weights = [kernel] + ([] if layer.bias is None else [layer.bias]) + [layer.r_group, layer.s_group]
    gradients = torch.autograd.grad((y * dy).sum(), [x, *weights])
    change = [to_kernel] + [lambda w: w] * (len(weights) - 1)
    return {
        "kind": kind,
        "options": options,
        "x": entry(x),
        "weights": [entry(f(w)) for f, w in zip(change, weights)],
        "y": entry(y),
        "dy": entry(dy),
        "gradients": [entry(gradients[0])] + [entry(f(g)) for f, g in zip(change, gradients[1:])],
    }


def dense(members, each, inputs, units, bias=True):
    layer = BatchLinear(inputs, units, members, bias=bias)
    options = {"members": members, "units": units, "useBias": bias}
    same = lambda t: t
    return record("dense", options, layer, layer.linear.weight, lambda w: w.T, rounded(members * each, inputs), same, same)


def conv2d(members, each, inputs, filters, bias=True, first=False):
    kernel = [draw.randint(1, 3), draw.randint(1, 3)]
    stride, dilation = draw.choice([(1, 1), (2, 1), (1, 2)])
    size = [(k - 1) * dilation + draw.randint(1, 3) for k in kernel]
    layer = BatchConv2d(inputs, filters, tuple(kernel), members, stride=stride, dilation=dilation, bias=bias)
    options = {"members": members, "filters": filters, "kernelSize": kernel, "strides": stride, "dilationRate": dilation}
    options |= {"useBias": bias, "dataFormat": "channelsFirst" if first else "channelsLast"}
    shape = [inputs, *size] if first else [*size, inputs]
    to_torch = (lambda t: t) if first else (lambda t: t.permute(0, 3, 1, 2))
    to_tf = (lambda t: t) if first else (lambda t: t.permute(0, 2, 3, 1))
    to_kernel = lambda w: w.permute(2, 3, 1, 0)
    return record("conv2d", options, layer, layer.conv.weight, to_kernel, rounded(members * each, *shape), to_torch, to_tf)


layers = [dense(1, 4, 3, 2), dense(4, 3, 5, 3), dense(3, 1, 1, 1), dense(2, 5, 4, 6, bias=False)]
layers += [conv2d(1, 2, 3, 2), conv2d(4, 1, 3, 4), conv2d(2, 3, 1, 1), conv2d(3, 2, 2, 3, bias=False), conv2d(2, 2, 3, 5, first=True)]


def mimo(members, samples, repetitions, share, inputs, hidden, classes):
    form = MIMOBatchFormat(members, rho=share, batch_repeat=repetitions)
    x, labels = rounded(samples, inputs), torch.randint(classes, (samples,))
    rows = samples * repetitions
    # The first member's rows come first.
    order, _ = form((torch.arange(samples), labels))
    order = order.reshape(members, rows)
    kernel, bias = rounded(members * inputs, hidden), rounded(hidden)
    heads, head_bias = rounded(hidden, members * classes), rounded(members * classes)
    weights = [w.requires_grad_() for w in [kernel, bias, heads, head_bias]]

    def outputs(side_by_side):
        y = torch.relu(side_by_side @ kernel + bias) @ heads + head_bias
        return y.reshape(-1, members, classes).transpose(0, 1)

    loss = F.cross_entropy(outputs(torch.cat([x[own] for own in order], dim=-1)).reshape(-1, classes), labels[order].flatten())
    predicted = torch.softmax(outputs(torch.cat([x] * members, dim=-1)), -1)
    return {
        "options": {"members": members, "batchRepetitions": repetitions, "inputRepetition": share},
        "classes": classes,
        "hidden": hidden,
        "order": order.tolist(),
        "x": entry(x),
        "labels": labels.tolist(),
        "weights": [entry(w) for w in weights],
        "loss": loss.item(),
        "gradients": [entry(g) for g in torch.autograd.grad(loss, weights)],
        "members": entry(predicted),
        "mean": entry(predicted.mean(0)),
    }


nets = [mimo(3, 4, 1, 0.0, 2, 5, 3), mimo(2, 6, 3, 0.5, 3, 4, 2), mimo(1, 3, 2, 0.0, 1, 3, 4)]


def ordinal(z):
    """Probabilities of K classes from the logits of P(y > k | y >= k)."""
    onward = torch.sigmoid(z)
    reached = torch.cat([torch.ones_like(onward[..., :1]), torch.cumprod(onward, -1)], -1)
    return reached * torch.cat([1 - onward, torch.ones_like(onward[..., :1])], -1)


def conditional(p):
    """The logits of P(y > k | y >= k) from probabilities of K classes."""
    at_least = torch.flip(torch.cumsum(torch.flip(p, [-1]), -1), [-1])
    return torch.log(at_least[..., 1:]) - torch.log(p[..., :-1])


z, variances = 2 * rounded(4, 3, 2), rounded(4, 3, 2).exp().mul(1e6).round() / 1e6
p = torch.sigmoid(z).mean(0)
mixture = torch.distributions.MixtureSameFamily(
    torch.distributions.Categorical(torch.ones(3, 2, 4)), torch.distributions.Normal(z.permute(1, 2, 0), variances.sqrt().permute(1, 2, 0))
)
means = [
    {"task": "classification", "probabilities": entry(torch.softmax(z, -1).mean(0))},
    {"task": "binary", "outputs": [entry(torch.log(p) - torch.log1p(-p))]},
    {"task": "multi-label", "outputs": [entry(torch.log(p) - torch.log1p(-p))]},
    {"task": "ordinal", "outputs": [entry(conditional(ordinal(z).mean(0)))]},
    {"task": "poisson-regression", "outputs": [entry(torch.log(torch.exp(z).mean(0)))]},
    {"task": "regression", "outputs": [entry(z.mean(0))]},
    {"task": "quantile-regression", "outputs": [entry(z.mean(0))]},
    {"task": "heteroscedastic-regression", "outputs": [entry(mixture.mean), entry(mixture.variance)]},
]

with open("inner-members.json", "w") as file:
    json.dump({"layers": layers, "mimo": nets, "means": {"z": entry(z), "variances": entry(variances), "cases": means}}, file)
    file.write("\n")
