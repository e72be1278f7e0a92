"""Small networks, their data and losses. Weights are dicts in the order of TensorFlow.js's layers: kernels are `[inputs, outputs]` or
`[height, width, inputs, outputs]`. Inputs and initial weights are multiples of 2⁻¹², which float32 has exactly.
"""

import torch
from torch.nn import functional

GRID = 2**12
# So large that batches of two samples, whose normalized values would be ±1 with a small one, have smooth gradients.
EPSILON, MOMENTUM = 0.1, 0.9


def on_grid(values):
    return (values * GRID).round() / GRID


def uniform(shape, limit, generator):
    return on_grid((torch.rand(shape, generator=generator, dtype=torch.float64) * 2 - 1) * limit)


def initial(network, seed):
    """Uniform in ±1/√inputs, like PyTorch's layers. Normalization starts as the identity."""
    generator = torch.Generator().manual_seed(seed)
    weights = {}
    for name, shape in SHAPES[network].items():
        if name.endswith(("gamma", "variance")):
            weights[name] = torch.ones(shape, dtype=torch.float64)
        elif name.endswith(("beta", "mean")):
            weights[name] = torch.zeros(shape, dtype=torch.float64)
        else:
            inputs = torch.Size(SHAPES[network][name.replace("bias", "kernel")][:-1]).numel()
            weights[name] = uniform(shape, inputs**-0.5, generator)
    return weights


def is_buffer(name):
    return name.startswith("moving")


SHAPES = {
    "mlp": {"hidden/kernel": (4, 6), "hidden/bias": (6,), "out/kernel": (6, 3), "out/bias": (3,)},
    "normalized": {
        "hidden/kernel": (4, 6),
        "gamma": (6,),
        "beta": (6,),
        "moving_mean": (6,),
        "moving_variance": (6,),
        "out/kernel": (6, 3),
        "out/bias": (3,),
    },
    "convolutional": {
        "conv/kernel": (3, 3, 1, 3),
        "conv/bias": (3,),
        "out/kernel": (27, 3),
        "out/bias": (3,),
    },
    "penalised": {"hidden/kernel": (4, 6), "hidden/bias": (6,), "out/kernel": (6, 3), "out/bias": (3,)},
    "heads": {
        "mean_hidden/kernel": (4, 5),
        "mean_hidden/bias": (5,),
        "mean/kernel": (5, 1),
        "mean/bias": (1,),
        "variance_hidden/kernel": (4, 5),
        "variance_hidden/bias": (5,),
        "variance/kernel": (5, 1),
        "variance/bias": (1,),
    },
}


def dense(weights, name, x):
    return x @ weights[f"{name}/kernel"] + weights[f"{name}/bias"]


def mlp(weights, x):
    return dense(weights, "out", torch.tanh(dense(weights, "hidden", x)))


def normalized(weights, x):
    """Batch normalisation of the hidden layer (Ioffe and Szegedy, 2015): biased variances, also in the running statistics."""
    hidden = x @ weights["hidden/kernel"]
    mean, variance = hidden.mean(0), hidden.var(0, unbiased=False)
    with torch.no_grad():
        weights["moving_mean"].lerp_(mean, 1 - MOMENTUM)
        weights["moving_variance"].lerp_(variance, 1 - MOMENTUM)
    normal = (hidden - mean) / (variance + EPSILON).sqrt() * weights["gamma"] + weights["beta"]
    return dense(weights, "out", torch.tanh(normal))


def convolutional(weights, x):
    """A 3x3 convolution of stride 2 over 6x6 pixels; `same` pads one row and one column, at the end."""
    images = functional.pad(x.reshape(-1, 1, 6, 6), (0, 1, 0, 1))
    kernel = weights["conv/kernel"].permute(3, 2, 0, 1)
    maps = torch.tanh(functional.conv2d(images, kernel, weights["conv/bias"], stride=2))
    return dense(weights, "out", maps.permute(0, 2, 3, 1).reshape(len(x), -1))


def heads(weights, x):
    mean = dense(weights, "mean", torch.sigmoid(dense(weights, "mean_hidden", x)))
    variance = functional.softplus(dense(weights, "variance", torch.sigmoid(dense(weights, "variance_hidden", x))))
    return mean, variance


FORWARD = {"mlp": mlp, "penalised": mlp, "normalized": normalized, "convolutional": convolutional, "heads": heads}


def penalty(case, weights):
    """The regularizers' terms in the loss: L2 of one kernel, L1 of the other."""
    if case["network"] != "penalised":
        return 0.0
    return 0.02 * (weights["hidden/kernel"] ** 2).sum() + 0.005 * weights["out/kernel"].abs().sum()


def constrain(case, weights):
    """Constrains columns of a kernel to a norm of at most 0.9 after an update (Srivastava et al., 2014, "Dropout"), with Keras' ε.
    """
    if case["network"] != "penalised":
        return
    with torch.no_grad():
        norms = (weights["hidden/kernel"] ** 2).sum(0, keepdim=True).sqrt()
        weights["hidden/kernel"].mul_(norms.clamp(0, 0.9) / (1e-7 + norms))


def classes_loss(case, logits, labels, smoothing=None):
    """@param smoothing instead of the configured one, where it differs between ranks"""
    config = case.get("loss", {})
    smoothing = config.get("labelSmoothing", 0.0) if smoothing is None else smoothing
    return functional.cross_entropy(logits / config.get("temperature", 1.0), labels, label_smoothing=smoothing)


def batch_loss(case, weights, samples, step, smoothing=None):
    """Mean loss of some samples: cross-entropy, or log σ² + (y − μ)²/σ², where a case may fix σ² at ¼ in some steps."""
    x, y = samples
    outputs = FORWARD[case["network"]](weights, x)
    if case["network"] != "heads":
        return classes_loss(case, outputs, y, smoothing) + penalty(case, weights)
    mean, variance = outputs
    holds = step < case["hold"]["untilStep"] or (case["hold"]["partialBatches"] and len(x) < case["batchSize"])
    if holds:
        variance = torch.full_like(variance, 0.25)
    return (variance.log() + (y[:, None] - mean) ** 2 / variance).mean()


def datasets():
    generator = torch.Generator().manual_seed(7)

    def normal(*shape):
        return on_grid(torch.randn(shape, generator=generator, dtype=torch.float64))

    plane, images, curve = normal(53, 4), normal(53, 36), normal(40, 4)
    noise = on_grid(0.5 * torch.randn(40, generator=generator, dtype=torch.float64))
    quadrants = images.reshape(-1, 2, 3, 2, 3).sum((2, 4)).flatten(1)
    return {
        "plane": {"shape": [4], "features": plane, "targets": (plane[:, :3] + 0.7 * normal(53, 3)).argmax(1)},
        "unlabelled": {"shape": [4], "features": normal(20, 4), "targets": torch.zeros(20, dtype=torch.long)},
        "images": {"shape": [6, 6, 1], "features": images, "targets": quadrants[:, :3].argmax(1)},
        "curve": {
            "shape": [4],
            "features": curve,
            "targets": on_grid(curve[:, 0] * curve[:, 1].sin() + noise * (1 + curve[:, 2].abs())),
        },
    }


DATA_OF = {"mlp": "plane", "penalised": "plane", "normalized": "plane", "convolutional": "images", "heads": "curve"}
