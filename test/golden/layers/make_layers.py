"""
Records values and gradients of layers in PyTorch, float64, as JSON beside this file:

    python test/golden/layers/make_layers.py

Inputs are not stored: input k of a case is spread(size, seed + k), the gradient that flows back is spread(size, seed + 99); `spread` in
test/unit/backends/kernels/fill.ts is the same generator. Options have TensorFlow.js's names; arrays are channels-last, as there. PyTorch has no
`same` padding with strides: it is applied here, the larger half at the end, as TensorFlow defines it.
"""
import json
import math
import pathlib
import random

import torch
import torch.nn.functional as F

torch.set_default_dtype(torch.float64)
torch.set_num_threads(1)
CHANNELS = [1, 2, 3, 4, 5, 8]


def spread(size, seed):
    state, values = seed & 0xFFFFFFFF, []
    for _ in range(size):
        state = (state * 1664525 + 1013904223) & 0xFFFFFFFF
        values.append((state >> 8) / 2**23 - 1)
    return values


def channels_first(x):
    return x.movedim(-1, 1)


def channels_last(x):
    return x.movedim(1, -1)


def per_axis(option, rank, default):
    if option is None:
        return [default] * rank if isinstance(default, int) else list(default)
    return [option] * rank if isinstance(option, int) else list(option)


def padding_of(x, window, strides, dilations, padding):
    """Pairs for F.pad, for x `[B, C, ...]`: the last axis first."""
    pairs = []
    for size, k, s, d in zip(x.shape[2:], window, strides, dilations):
        span = (k - 1) * d + 1
        total = 0
        if padding == "same":
            total = max((math.ceil(size / s) - 1) * s + span - size, 0)
            before = total // 2
        else:
            before = total = span - 1 if padding == "causal" else 0
        pairs = [before, total - before, *pairs]
    return pairs


ACTIVATIONS = {
    "linear": lambda x: x,
    "relu": F.relu,
    "relu6": F.relu6,
    "elu": F.elu,
    "selu": F.selu,
    "sigmoid": torch.sigmoid,
    "hardSigmoid": lambda x: torch.clamp(0.2 * x + 0.5, 0, 1),
    "tanh": torch.tanh,
    "softplus": F.softplus,
    "softsign": F.softsign,
    "swish": F.silu,
    "mish": F.mish,
    "gelu": F.gelu,
    "softmax": lambda x: F.softmax(x, -1),
}


def finish(y, bias, options):
    y = channels_last(y)
    if bias is not None:
        y = y + bias
    return ACTIVATIONS[options.get("activation", "linear")](y)


def convolution(rank, depthwise=False):
    def apply(options, x, kernel, bias=None):
        strides = per_axis(options.get("strides"), rank, 1)
        dilations = per_axis(options.get("dilationRate"), rank, 1)
        window = kernel.shape[:rank]
        x = channels_first(x)
        x = F.pad(x, padding_of(x, window, strides, dilations, options.get("padding", "valid")))
        function = [F.conv1d, F.conv2d, F.conv3d][rank - 1]
        if depthwise:
            height, width, channels, multiplier = kernel.shape
            weight = kernel.permute(2, 3, 0, 1).reshape(channels * multiplier, 1, height, width).contiguous()
            return finish(function(x, weight, stride=strides, dilation=dilations, groups=channels), bias, options)
        weight = kernel.movedim((-1, -2), (0, 1)).contiguous()
        return finish(function(x, weight, stride=strides, dilation=dilations), bias, options)

    return apply


def separable(options, x, depthwise, pointwise, bias=None):
    inner = {**options, "activation": "linear"}
    y = convolution(2, depthwise=True)(inner, x, depthwise)
    return convolution(2)({"activation": options.get("activation", "linear")}, y, pointwise, bias)


def transposed(rank):
    def apply(options, x, kernel, bias=None):
        strides = per_axis(options.get("strides"), rank, 1)
        window = kernel.shape[:rank]
        weight = kernel.movedim((-1, -2), (0, 1)).contiguous()
        # Everything that x's values reach, before TensorFlow's padding cuts it.
        function = [F.conv_transpose2d, F.conv_transpose3d][rank - 2]
        y = function(channels_first(x), weight, stride=strides)
        for axis, (size, k, s) in enumerate(zip(x.shape[1:-1], window, strides)):
            valid = options.get("padding", "valid") == "valid"
            wanted = size * s + (max(k - s, 0) if valid else 0)
            before = 0 if valid else max(k - s, 0) // 2
            missing = max(before + wanted - y.shape[axis + 2], 0)
            y = F.pad(y, [0, 0] * (rank - 1 - axis) + [0, missing]).narrow(axis + 2, before, wanted)
        return finish(y, bias, options)

    return apply


def pool(kind, rank):
    def apply(options, x):
        window = per_axis(options.get("poolSize"), rank, 2)
        strides = per_axis(options.get("strides"), rank, window)
        x = channels_first(x)
        pairs = padding_of(x, window, strides, [1] * rank, options.get("padding", "valid"))
        if kind == "max":
            function = [F.max_pool1d, F.max_pool2d, F.max_pool3d][rank - 1]
            return channels_last(function(F.pad(x, pairs, value=-math.inf), window, strides))
        function = [F.avg_pool1d, F.avg_pool2d, F.avg_pool3d][rank - 1]
        share = function(F.pad(torch.ones_like(x), pairs), window, strides)
        return channels_last(function(F.pad(x, pairs), window, strides) / share)

    return apply


def batch_normalization(options, x, gamma, beta, mean=None, variance=None):
    axis = options.get("axis", -1)
    x = x.movedim(axis, 1)
    y = F.batch_norm(
        x,
        None if mean is None else mean.detach(),
        None if variance is None else variance.detach(),
        gamma,
        beta,
        training=mean is None,
        eps=options.get("epsilon", 1e-3),
    )
    return y.movedim(1, axis)


def layer_normalization(options, x, gamma, beta):
    return F.layer_norm(x, gamma.shape, gamma, beta, eps=options.get("epsilon", 1e-3))


def dense(options, x, kernel, bias=None):
    y = F.linear(x, kernel.T, bias)
    return ACTIVATIONS[options.get("activation", "linear")](y)


def rnn_module(module, options, x, kernel, recurrent, bias=None):
    """A module of PyTorch with these weights. Its call keeps their gradients."""
    if options.get("goBackwards"):
        x = x.flip(1)
    names = ["weight_ih_l0", "weight_hh_l0"]
    weights = {"weight_ih_l0": kernel.T, "weight_hh_l0": recurrent.T}
    if bias is not None:
        weights |= {"bias_ih_l0": bias, "bias_hh_l0": torch.zeros_like(bias)}
    y, _ = torch.func.functional_call(module, weights, (x,))
    return y if options.get("returnSequences") else y[:, -1]


def simple_rnn(options, x, *weights):
    module = torch.nn.RNN(x.shape[2], options["units"], batch_first=True, bias=len(weights) == 3)
    return rnn_module(module, options, x, *weights)


def lstm(options, x, *weights):
    if options.get("recurrentActivation") == "sigmoid":
        module = torch.nn.LSTM(x.shape[2], options["units"], batch_first=True, bias=len(weights) == 3)
        return rnn_module(module, options, x, *weights)
    return by_steps(options, x, weights, lstm_step, states=2)


def gru(options, x, *weights):
    """torch.nn.GRU resets after the product. TensorFlow.js has the original form, which resets before it."""
    return by_steps(options, x, weights, gru_step, states=1)


def by_steps(options, x, weights, step, states):
    gate = ACTIVATIONS[options.get("recurrentActivation", "hardSigmoid")]
    state = [torch.zeros(x.shape[0], options["units"])] * states
    outputs = []
    for t in range(x.shape[1]):
        state = step(gate, x[:, -1 - t if options.get("goBackwards") else t], state, *weights)
        outputs.append(state[0])
    return torch.stack(outputs, 1) if options.get("returnSequences") else outputs[-1]


def lstm_step(gate, x, state, kernel, recurrent, bias=0.0):
    h, c = state
    i, f, g, o = (x @ kernel + h @ recurrent + bias).chunk(4, -1)
    c = gate(f) * c + gate(i) * torch.tanh(g)
    return [gate(o) * torch.tanh(c), c]


def gru_step(gate, x, state, kernel, recurrent, bias=0.0):
    (h,) = state
    units = h.shape[1]
    xz, xr, xh = (x @ kernel + bias).chunk(3, -1)
    z = gate(xz + h @ recurrent[:, :units])
    r = gate(xr + h @ recurrent[:, units : 2 * units])
    candidate = torch.tanh(xh + (r * h) @ recurrent[:, 2 * units :])
    return [z * h + (1 - z) * candidate]


LAYERS = {
    "dense": dense,
    "conv1d": convolution(1),
    "conv2d": convolution(2),
    "conv3d": convolution(3),
    "conv2dTranspose": transposed(2),
    "conv3dTranspose": transposed(3),
    "depthwiseConv2d": convolution(2, depthwise=True),
    "separableConv2d": separable,
    **{f"maxPooling{rank}d": pool("max", rank) for rank in (1, 2, 3)},
    **{f"averagePooling{rank}d": pool("average", rank) for rank in (1, 2, 3)},
    "globalMaxPooling1d": lambda _, x: x.amax(1),
    "globalMaxPooling2d": lambda _, x: x.amax((1, 2)),
    "globalAveragePooling1d": lambda _, x: x.mean(1),
    "globalAveragePooling2d": lambda _, x: x.mean((1, 2)),
    "batchNormalization": batch_normalization,
    "layerNormalization": layer_normalization,
    "simpleRNN": simple_rnn,
    "lstm": lstm,
    "gru": gru,
    "embedding": lambda options, table: F.embedding(torch.tensor(options["ids"]), table),
    "activation": lambda options, x: ACTIVATIONS[options["activation"]](x),
    "softmax": lambda options, x: F.softmax(x, options["axis"]),
    "elu": lambda options, x: F.elu(x, options["alpha"]),
    "leakyReLU": lambda options, x: F.leaky_relu(x, options["alpha"]),
    "thresholdedReLU": lambda options, x: F.threshold(x, options["theta"], 0.0),
    "prelu": lambda _, x, slope: torch.where(x > 0, x, slope * x),
    "upSampling2d": lambda options, x: channels_last(
        F.interpolate(channels_first(x), scale_factor=tuple(map(float, options["size"])), mode="nearest")
    ),
    "zeroPadding2d": lambda options, x: F.pad(x, [0, 0, *options["padding"][1], *options["padding"][0]]),
    # Ops and losses that are no layers, by their names in test/reference.
    "matMul": lambda options, a, b: (a.mT if options["transposeA"] else a) @ (b.mT if options["transposeB"] else b),
    "crossEntropy": lambda options, z: F.cross_entropy(z, torch.tensor(options["labels"])),
    "sigmoidCrossEntropy": lambda options, z: F.binary_cross_entropy_with_logits(
        z, torch.tensor(spread(z.numel(), options["targets"])).reshape(z.shape).abs()
    ),
    "meanSquaredError": lambda options, y: F.mse_loss(
        y, torch.tensor(spread(y.numel(), options["targets"])).reshape(y.shape).abs()
    ),
    "gaussianNll": lambda options, mu, variance: 2
    * F.gaussian_nll_loss(
        mu, torch.tensor(spread(mu.numel(), options["targets"])).reshape(mu.shape).abs(), variance, eps=1e-12
    ),
}


def record(layer, options, shapes, seed, positive=()):
    """`positive`: indices of inputs that are 0.5 + |spread| / 2. Activations get 8 · spread, for their flat parts."""
    inputs = []
    factor = 8 if layer == "activation" else 1
    for k, shape in enumerate(shapes):
        values = factor * torch.tensor(spread(math.prod(shape), seed + k)).reshape(shape)
        inputs.append((0.5 + values.abs() / 2 if k in positive else values).requires_grad_())
    y = LAYERS[layer](options, *inputs)
    dy = torch.tensor(spread(y.numel(), seed + 99)).reshape(y.shape)
    gradients = torch.autograd.grad(y, inputs, dy, allow_unused=True)
    digits = lambda tensor: None if tensor is None else [float(f"{v:.12g}") for v in tensor.flatten().tolist()]
    case = {"layer": layer, "options": options, "shapes": shapes, "seed": seed, "factor": factor}
    if positive:
        case["positive"] = list(positive)
    return {**case, "shape": list(y.shape), "value": digits(y), "gradients": [digits(g) for g in gradients]}


def convolutions(draw):
    """All channel counts in and out, with widths of 1 and odd sizes. Strides and dilations are not combined, because TensorFlow.js
    refuses it.
    """
    for layer, rank, repeats in [
        ("conv1d", 1, 3),
        ("conv2d", 2, 6),
        ("depthwiseConv2d", 2, 3),
        ("separableConv2d", 2, 2),
        ("conv2dTranspose", 2, 3),
        ("conv3d", 3, 1),
        ("conv3dTranspose", 3, 1),
    ]:
        for channels in CHANNELS * repeats:
            window = [draw.choice([1, 1, 2, 3]) for _ in range(rank)]
            transposes = layer.endswith("Transpose")
            dilated = rank < 3 and not transposes and draw.random() < 0.3
            ones = [1] * rank
            strides = ones if dilated else [draw.randint(1, 3)] * rank
            if layer not in ("depthwiseConv2d", "separableConv2d") and not dilated:
                strides = [draw.randint(1, 3 if rank < 3 else 2) for _ in range(rank)]
            dilations = [draw.randint(1, 3)] * rank if dilated else ones
            padding = draw.choice(["same", "valid"] + (["causal"] if rank == 1 and strides == ones else []))
            spans = [(k - 1) * d + 1 for k, d in zip(window, dilations)]
            sizes = [draw.randint(1, 3) if transposes else span + draw.randint(0, 4 - rank) for span in spans]
            filters = draw.choice(CHANNELS if rank < 3 else [1, 2, 3])
            options = {"kernelSize": window, "strides": strides, "padding": padding}
            if dilated:
                options["dilationRate"] = dilations
            if draw.random() < 0.3:
                options["activation"] = draw.choice(["relu", "tanh", "elu", "sigmoid"])
            use_bias = options["useBias"] = draw.random() < 0.6
            batch = draw.choice([1, 1, 2])
            if layer == "depthwiseConv2d":
                multiplier = options["depthMultiplier"] = draw.randint(1, 2)
                kernels, filters = [[*window, channels, multiplier]], channels * multiplier
            elif layer == "separableConv2d":
                multiplier = options["depthMultiplier"] = draw.randint(1, 2)
                kernels = [[*window, channels, multiplier], [1, 1, channels * multiplier, filters]]
            else:
                kernels = [[*window, *((filters, channels) if transposes else (channels, filters))]]
            if layer != "depthwiseConv2d":
                options["filters"] = filters
            yield layer, options, [[batch, *sizes, channels], *kernels, *([[filters]] if use_bias else [])], ()


def pools(draw):
    for rank, repeats in [(1, 1), (2, 3), (3, 2)]:
        for kind in ("maxPooling", "averagePooling"):
            for channels in CHANNELS * repeats:
                window = [draw.randint(1, 3) for _ in range(rank)]
                strides = [draw.randint(1, 3) for _ in range(rank)]
                options = {"poolSize": window, "strides": strides, "padding": draw.choice(["same", "valid"])}
                sizes = [k + draw.randint(0, 5 - rank) for k in window]
                yield f"{kind}{rank}d", options, [[draw.choice([1, 2]), *sizes, channels if rank < 3 else min(channels, 3)]], ()
    for layer, rank in [(f"global{kind}Pooling{r}d", r) for kind in ("Max", "Average") for r in (1, 2)]:
        for channels in (1, 3, 5):
            yield layer, {}, [[2, *[draw.randint(1, 5) for _ in range(rank)], channels]], ()


def others(draw):
    for channels in CHANNELS:
        use_bias = draw.random() < 0.7
        units = draw.choice(CHANNELS)
        options = {"units": units, "useBias": use_bias, "activation": draw.choice(["linear", "relu", "gelu", "softmax"])}
        leading = draw.choice([[1], [3], [2, 3]])
        yield "dense", options, [[*leading, channels], [channels, units], *([[units]] if use_bias else [])], ()
        for axis in (-1, 1):
            shape = [draw.randint(2, 4), *[draw.randint(1, 3) for _ in range(draw.randint(0, 2))], channels]
            weights = [[shape[axis]]] * 2
            yield "batchNormalization", {"axis": axis}, [shape, *weights], ()
            yield "batchNormalization", {"axis": axis, "training": False}, [shape, *weights, *weights], (4,)
        shape = [draw.randint(1, 3), draw.randint(1, 3), channels]
        yield "layerNormalization", {}, [shape, [channels], [channels]], ()
        yield "layerNormalization", {"axis": [1, 2]}, [shape, shape[1:], shape[1:]], ()
        for layer, gates in [("simpleRNN", 1), ("lstm", 4), ("gru", 3)]:
            units, use_bias = draw.randint(1, 4), draw.random() < 0.7
            options = {"units": units, "returnSequences": draw.random() < 0.5, "goBackwards": draw.random() < 0.3, "useBias": use_bias}
            if layer != "simpleRNN":
                options["recurrentActivation"] = draw.choice(["sigmoid", "hardSigmoid"])
            width = gates * units
            shapes = [[draw.randint(1, 3), draw.randint(1, 4), channels], [channels, width], [units, width]]
            yield layer, options, [*shapes, *([[width]] if use_bias else [])], ()
        ids = [[draw.randrange(channels) for _ in range(3)] for _ in range(2)]
        yield "embedding", {"inputDim": channels, "outputDim": units, "ids": ids}, [[channels, units]], ()
        for axis in (-1, 1):
            yield "softmax", {"axis": axis}, [[2, 3, channels]], ()
        image = [draw.randint(1, 2), draw.randint(1, 4), draw.randint(1, 4), channels]
        yield "elu", {"alpha": draw.choice([0.5, 1, 1.5])}, [image], ()
        yield "leakyReLU", {"alpha": draw.choice([0.0, 0.25])}, [image], ()
        yield "thresholdedReLU", {"theta": draw.choice([0.0, 0.25, 0.5])}, [image], ()
        yield "prelu", {}, [image, image[1:]], ()
        yield "upSampling2d", {"size": [draw.randint(1, 3), draw.randint(1, 3)]}, [image], ()
        pairs = [[draw.randint(0, 2), draw.randint(0, 2)], [draw.randint(0, 2), draw.randint(0, 2)]]
        yield "zeroPadding2d", {"padding": pairs}, [image], ()
        m, n = draw.choice(CHANNELS), draw.choice(CHANNELS)
        flags = [draw.random() < 0.5, draw.random() < 0.5]
        a, b = [m, channels], [channels, n]
        options = {"transposeA": flags[0], "transposeB": flags[1]}
        leading = draw.choice([[], [2]])
        yield "matMul", options, [leading + (a[::-1] if flags[0] else a), leading + (b[::-1] if flags[1] else b)], ()
        batch = draw.choice([1, 3, 7])
        classes = max(channels, 2)
        yield "crossEntropy", {"labels": [draw.randrange(classes) for _ in range(batch)]}, [[batch, classes]], ()
        yield "sigmoidCrossEntropy", {"targets": 7}, [[batch, channels]], ()
        yield "meanSquaredError", {"targets": 8}, [[batch, channels]], ()
        yield "gaussianNll", {"targets": 9}, [[batch, 1], [batch, 1]], (1,)
    for activation in ACTIVATIONS:
        yield "activation", {"activation": activation}, [[4, 5]], ()
    # Rows that are longer than a vector, with and without a remainder.
    for shape in [[5, 16], [2, 3, 23]]:
        yield "layerNormalization", {"epsilon": 0.01}, [shape, shape[-1:], shape[-1:]], ()
    yield "layerNormalization", {"axis": [1, 2]}, [[3, 5, 7], [5, 7], [5, 7]], ()


for name, cases in [("convolutions", convolutions), ("pools", pools), ("others", others)]:
    recorded = [record(*case[:3], 1000 * n, case[3]) for n, case in enumerate(cases(random.Random(20_26)))]
    head = {"generator": "test/golden/layers/make_layers.py", "torch": torch.__version__.split("+")[0], "dtype": "float64"}
    lines = ",\n".join(json.dumps(case, separators=(",", ":")) for case in recorded)
    text = json.dumps(head)[:-1] + f', "cases": [\n{lines}\n]}}\n'
    path = pathlib.Path(__file__).with_name(f"{name}.json")
    path.write_text(text)
    print(path.name, len(recorded), "cases", len(text) // 1024, "KiB")
