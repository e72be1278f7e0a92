"""Records what PyTorch (float64) computes for layers that TensorFlow.js refuses or computes wrongly: values and all gradients.

    python make_tensorflow_layers.py > tensorflow-layers.json

Shapes and options are drawn with a fixed seed. Images are [B, H, W, C], or [B, C, H, W] with channelsFirst, as in Keras. The loss is
sum(y * dy).
"""

import json
import platform
import random

import torch
import torch.nn.functional as F

torch.manual_seed(7)
torch.set_default_dtype(torch.float64)
draw = random.Random(7)
cases = []


def entry(tensor):
    return {"shape": list(tensor.shape), "data": [round(v, 6) for v in tensor.detach().flatten().tolist()]}


def record(kind, options, x, weights, compute, inference=None, buffers=None):
    """compute(x, *weights) is the layer in training mode."""
    x = x.requires_grad_()
    weights = [w.requires_grad_() for w in weights]
    y = compute(x, *weights)
    dy = torch.randn(y.shape)
    gradients = torch.autograd.grad((y * dy).sum(), [x, *weights])
    case = {"kind": kind, "options": options, "x": entry(x), "weights": [entry(w) for w in weights], "y": entry(y)}
    case |= {"dy": entry(dy), "gradients": [entry(g) for g in gradients]}
    if inference is not None:
        case |= {"inference": entry(inference), "buffers": [entry(b) for b in buffers[0]], "moved": [entry(b) for b in buffers[1]]}
    cases.append(case)


def channels():
    return draw.choice([1, 2, 3, 5])


def activate(name, y):
    return {"linear": lambda v: v, "relu": torch.relu, "tanh": torch.tanh}[name](y)


def to_first(x):
    return x.movedim(-1, 1)


def to_last(x):
    return x.movedim(1, -1)


def padded_same(x, kernel, dilation):
    """Channels first, stride 1: the remainder of the padding goes to the end, as in TensorFlow."""
    pads = []
    for size, rate in zip(reversed(kernel), reversed(dilation)):
        total = (size - 1) * rate
        pads += [total // 2, total - total // 2]
    return F.pad(x, pads)


def convolution(rank, dilation, data_format="channelsLast", use_bias=False):
    kernel = [draw.randint(1, 3) if rank < 3 else 2 for _ in range(rank)]
    padding, activation = draw.choice(["same", "valid"]), draw.choice(["linear", "relu", "tanh"])
    inputs, filters = channels(), channels()
    sizes = [(k - 1) * d + draw.randint(1, 3 if rank < 3 else 2) for k, d in zip(kernel, dilation)]
    is_first = data_format == "channelsFirst"
    batch = 2 if rank < 3 else 1
    x = torch.randn(batch, inputs, *sizes) if is_first else torch.randn(batch, *sizes, inputs)
    weights = [torch.randn(*kernel, inputs, filters)] + ([torch.randn(filters)] if use_bias else [])
    apply = {1: F.conv1d, 2: F.conv2d, 3: F.conv3d}[rank]

    def compute(x, w, b=None):
        images = x if is_first else to_first(x)
        if padding == "same":
            images = padded_same(images, kernel, dilation)
        y = activate(activation, apply(images, w.movedim((-1, -2), (0, 1)), b, dilation=dilation))
        return y if is_first else to_last(y)

    options = {"filters": filters, "kernelSize": kernel, "padding": padding, "activation": activation}
    options |= {"dilationRate": dilation, "useBias": use_bias, "dataFormat": data_format}
    record(f"conv{rank}d", options, x, weights, compute)


def causal(stride, dilation, use_bias):
    kernel, inputs, filters = draw.randint(1, 4), channels(), channels()
    x = torch.randn(2, (kernel - 1) * dilation + draw.randint(1, 4), inputs)
    weights = [torch.randn(kernel, inputs, filters)] + ([torch.randn(filters)] if use_bias else [])

    def compute(x, w, b=None):
        sequences = F.pad(to_first(x), [(kernel - 1) * dilation, 0])
        return to_last(F.conv1d(sequences, w.permute(2, 1, 0), b, stride=stride, dilation=dilation))

    options = {"filters": filters, "kernelSize": kernel, "padding": "causal", "useBias": use_bias}
    record("conv1d", options | {"strides": stride, "dilationRate": dilation}, x, weights, compute)


def depthwise(x, w, dilation):
    """x [B, C, H, W], w [KH, KW, C, multiplier]; results are grouped by channel."""
    groups = w.permute(2, 3, 0, 1).reshape(-1, 1, *w.shape[:2])
    return F.conv2d(x, groups, dilation=dilation, groups=x.shape[1])


def dilated_depthwise(use_bias, data_format):
    kernel, dilation, inputs, multiplier = [draw.randint(1, 3), 2], [draw.randint(1, 3), 2], channels(), draw.randint(1, 2)
    sizes = [(k - 1) * d + draw.randint(1, 3) for k, d in zip(kernel, dilation)]
    is_first = data_format == "channelsFirst"
    x = torch.randn(2, inputs, *sizes) if is_first else torch.randn(2, *sizes, inputs)
    weights = [torch.randn(*kernel, inputs, multiplier)] + ([torch.randn(inputs * multiplier)] if use_bias else [])

    def compute(x, w, b=0):
        y = to_last(depthwise(x if is_first else to_first(x), w, dilation)) + b
        return torch.tanh(to_first(y) if is_first else y)

    options = {"kernelSize": kernel, "depthMultiplier": multiplier, "dilationRate": dilation, "useBias": use_bias}
    record("depthwiseConv2d", options | {"dataFormat": data_format, "activation": "tanh"}, x, weights, compute)


def separable(data_format, rate):
    inputs, multiplier, filters = channels(), draw.randint(1, 2), channels()
    is_first = data_format == "channelsFirst"
    x = torch.randn(2, inputs, 6, 5) if is_first else torch.randn(2, 6, 5, inputs)
    weights = [torch.randn(2, 3, inputs, multiplier), torch.randn(1, 1, inputs * multiplier, filters), torch.randn(filters)]

    def compute(x, w, pointwise, b):
        y = to_last(depthwise(x if is_first else to_first(x), w, [rate, rate])) @ pointwise[0, 0] + b
        return to_first(y) if is_first else y

    options = {"filters": filters, "kernelSize": [2, 3], "depthMultiplier": multiplier, "dilationRate": [rate, rate]}
    record("separableConv2d", options | {"dataFormat": data_format}, x, weights, compute)


def transposed3d(stride):
    inputs, filters = channels(), draw.randint(1, 2)
    x, weights = torch.randn(1, 2, 3, 2, inputs), [torch.randn(2, 2, 2, filters, inputs), torch.randn(filters)]

    def compute(x, w, b):
        return to_last(F.conv_transpose3d(to_first(x), w.movedim((-1, -2), (0, 1)), b, stride=stride))

    options = {"filters": filters, "kernelSize": 2, "strides": stride, "padding": "valid"}
    record("conv3dTranspose", options, x, weights, compute)


def batch_normalization(rank, axis, scale, center):
    shape = [3] + [draw.randint(2, 3) for _ in range(rank - 1)]
    columns, epsilon, momentum = shape[axis], 0.01, 0.9
    weights = ([torch.randn(columns)] if scale else []) + ([torch.randn(columns)] if center else [])
    x, mean, variance = torch.randn(shape), torch.randn(columns), torch.rand(columns) + 0.5
    axes = [a for a in range(rank) if a != axis]
    wide = [columns if a == axis else 1 for a in range(rank)]

    def normalize(x, mean, variance, *weights):
        y = (x - mean.reshape(wide)) / (variance.reshape(wide) + epsilon).sqrt()
        left = list(weights)
        if scale:
            y = y * left.pop(0).reshape(wide)
        return y + left.pop(0).reshape(wide) if center else y

    def moments(x):
        return x.mean(axes), x.var(axes, unbiased=False)

    after = moments(x)
    moved = [momentum * b + (1 - momentum) * a for a, b in zip(after, [mean, variance])]
    options = {"axis": axis, "scale": scale, "center": center, "epsilon": epsilon, "momentum": momentum}
    inference = normalize(x, mean, variance, *weights)
    record("batchNormalization", options, x, weights, lambda x, *w: normalize(x, *moments(x), *w), inference, ([mean, variance], moved))


def layer_normalization(shape, axes):
    sizes = [shape[axis] for axis in axes]
    wide = [size if axis in axes else 1 for axis, size in enumerate(shape)]

    def compute(x, gamma, beta):
        mean, variance = x.mean(axes, keepdim=True), x.var(axes, unbiased=False, keepdim=True)
        return (x - mean) / (variance + 0.01).sqrt() * gamma.reshape(wide) + beta.reshape(wide)

    weights = [torch.randn(sizes), torch.randn(sizes)]
    record("layerNormalization", {"axis": axes, "epsilon": 0.01}, torch.randn(shape), weights, compute)


for rank in [1, 2, 2, 2, 3]:
    for data_format in ["channelsLast", "channelsFirst"]:
        for use_bias in [False, True]:
            convolution(rank, [draw.randint(2, 3)] + [2] * (rank - 1), data_format, use_bias)
for stride, dilation in [(1, 1), (1, 2), (1, 3), (2, 1)]:
    causal(stride, dilation, False)
    causal(stride, dilation, True)
for data_format in ["channelsLast", "channelsFirst"]:
    dilated_depthwise(False, data_format)
    dilated_depthwise(True, data_format)
    separable(data_format, 1)
    separable(data_format, 2)
transposed3d(1)
transposed3d(2)
for shape, axis in [([2, 3, 4], 1), ([2, 3, 4], -1), ([2, 3, 2, 4], 2), ([2, 3, 2, 4], -2), ([2, 3, 4], [1, 2])]:
    axes = [axis] if isinstance(axis, int) else axis

    def over(x, axes=axes):
        return (x - x.logsumexp(axes, keepdim=True)).exp()

    record("softmax", {"axis": axis}, torch.randn(shape), [], over)
record("softmax", {}, torch.randn(2, 3, 4), [], lambda x: x.softmax(-1))
for alpha in [0.3, 1.0, 2.5]:
    x = torch.cat([torch.randn(2, 5), torch.tensor([[0.0, 40.0]] * 2)], 1)
    record("elu", {"alpha": alpha}, x, [], lambda x, alpha=alpha: F.elu(x, alpha))
for theta in [0.5, 1.0]:
    record("thresholdedReLU", {"theta": theta}, torch.tensor([[0.5, 1.0, -2.0, 3.0, 0.75]]), [], lambda x, t=theta: F.threshold(x, t, 0.0))
for rank in [2, 3, 4, 5]:
    for axis in range(1, rank):
        batch_normalization(rank, axis, True, True)
        batch_normalization(rank, axis, axis % 2 == 0, axis % 2 == 1)
layer_normalization([2, 3, 2, 2, 3], [4])
layer_normalization([2, 3, 2, 2, 3], [2, 4])
layer_normalization([2, 3, 4], [1, 2])
layer_normalization([2, 3, 2, 3], [1])

print(json.dumps({"versions": {"torch": torch.__version__, "python": platform.python_version()}, "cases": cases}))
