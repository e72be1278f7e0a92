"""Records joint training of ten experts on digits by PyTorch in float64: `python3 make_joint_golden.py`, in this folder.

`digits.safetensors` has the first 1000 images of "Optical Recognition of Handwritten Digits" (E. Alpaydin and C. Kaynak, 1998, UCI Machine
Learning Repository, https://doi.org/10.24432/C50P49, CC BY 4.0), as scikit-learn carries them: 8x8 pixels of 0 to 16, and labels.

`joint-<seed>.safetensors` has, of 100 steps on batches of 100 images in their order:


- `losses`: of every step, before its update
- `initial/<weight>`: `[10, ...]`, one row for each expert
- `<k>/weights/…`, `<k>/velocities/…` for k = 50, 55, ..., 95: after k steps, rounded to float32
- `<k>/next/…`, `<k>/loss`: the weights and the loss of one step from these rounded numbers

Rounding errors grow at this rate: PyTorch's own float32 is up to 4e-4 off after 100 steps. So later steps are judged each by itself. The
metadata say how far PyTorch's own float32 is off: `float32FirstSteps`, `float32LaterLoss` and `float32LaterWeight`.
"""

from pathlib import Path

import sklearn
import torch
from safetensors.torch import save_file
from sklearn.datasets import load_digits
from torch.nn import functional

EXPERTS, BATCH, STEPS, RATE, MOMENTUM = 10, 100, 100, 0.5, 0.9
RECORDED = range(50, 100, 5)
SHAPES = {
    "conv1/kernel": (3, 3, 1, 3),
    "conv1/bias": (3,),
    "conv2/kernel": (3, 3, 3, 6),
    "conv2/bias": (6,),
    "fc1/kernel": (6, 10),
    "fc1/bias": (10,),
    "fc2/kernel": (10, 10),
    "fc2/bias": (10,),
}


def data():
    digits = load_digits()
    return torch.tensor(digits.images[:1000], dtype=torch.uint8), torch.tensor(digits.target[:1000])


def initial(seed):
    """Uniform in ±1/√inputs, like PyTorch's default. float32 represents these numbers exactly."""
    generator = torch.Generator().manual_seed(seed)
    weights = {}
    for name, shape in SHAPES.items():
        inputs = torch.Size(SHAPES[name.replace("bias", "kernel")][:-1]).numel()
        draws = torch.rand((EXPERTS, *shape), generator=generator) * 2 - 1
        weights[name] = (draws * inputs**-0.5).float()
    return weights


def logits(weights, expert, x):
    """Two 3x3 convolutions of stride 2, ten units, ten logits. Kernels have TensorFlow.js's layout."""
    own = {name: weight[expert] for name, weight in weights.items()}
    for name in ("conv1", "conv2"):
        kernel = own[f"{name}/kernel"].permute(3, 2, 0, 1)
        x = functional.conv2d(x, kernel, own[f"{name}/bias"], stride=2).relu()
    x = (x.flatten(1) @ own["fc1/kernel"] + own["fc1/bias"]).relu()
    return x @ own["fc2/kernel"] + own["fc2/bias"]


def step(weights, velocities, x, y):
    """The loss of the softmax of the mean logits, and the weights and velocities after one step of SGD with momentum."""
    leaves = {name: weight.clone().requires_grad_() for name, weight in weights.items()}
    mean = torch.stack([logits(leaves, expert, x) for expert in range(EXPERTS)]).mean(0)
    loss = functional.cross_entropy(mean, y)
    loss.backward()
    velocities = {name: MOMENTUM * velocities[name] + leaf.grad for name, leaf in leaves.items()}
    weights = {name: weight - RATE * velocities[name] for name, weight in weights.items()}
    return loss.item(), weights, velocities


def train(seed, dtype, images, labels, record):
    weights = {name: weight.to(dtype) for name, weight in initial(seed).items()}
    velocities = {name: torch.zeros_like(weight) for name, weight in weights.items()}
    losses = []
    for done in range(STEPS):
        start = done * BATCH % len(images)
        batch = (images[start : start + BATCH, None].to(dtype) / 8 - 1, labels[start : start + BATCH])
        if record is not None and done in RECORDED:
            record(done, weights, velocities, batch)
        loss, weights, velocities = step(weights, velocities, *batch)
        losses.append(loss)
    return losses


def golden(seed, images, labels):
    tensors = {f"initial/{name}": weight for name, weight in initial(seed).items()}

    later = {"loss": [], "weight": []}

    def record(done, weights, velocities, batch):
        rounded = [{name: value.float() for name, value in of.items()} for of in (weights, velocities)]
        loss, after, _ = step(*({name: value.double() for name, value in of.items()} for of in rounded), *batch)
        own_loss, own, _ = step(*rounded, batch[0].float(), batch[1])
        later["loss"].append(abs(own_loss - loss))
        later["weight"].extend((own[name] - after[name]).abs().max().item() for name in own)
        tensors[f"{done}/loss"] = torch.tensor([loss], dtype=torch.float64)
        for kind, of in zip(("weights", "velocities", "next"), (*rounded, after)):
            tensors.update({f"{done}/{kind}/{name}": value.float().contiguous() for name, value in of.items()})

    losses = train(seed, torch.float64, images, labels, record)
    tensors["losses"] = torch.tensor(losses, dtype=torch.float64)
    single = train(seed, torch.float32, images, labels, None)
    apart = [abs(a - b) for a, b in zip(losses, single)]
    print(f"seed {seed}: loss {losses[0]:.3f} to {losses[-1]:.3f}; PyTorch's float32 ends {max(apart):.1e} off")
    errors = {"FirstSteps": max(apart[:50]), "LaterLoss": max(later["loss"]), "LaterWeight": max(later["weight"])}
    return tensors, {f"float32{name}": f"{error:.1e}" for name, error in errors.items()}


def main():
    torch.set_num_threads(1)
    images, labels = data()
    source = {"source": f"PyTorch {torch.__version__}, float64; scikit-learn {sklearn.__version__}; make_joint_golden.py"}
    licence = {**source, "licence": "UCI Machine Learning Repository, https://doi.org/10.24432/C50P49, CC BY 4.0"}
    folder = Path(__file__).parent
    save_file({"images": images, "labels": labels.to(torch.uint8)}, folder / "digits.safetensors", licence)
    for seed in range(3):
        tensors, errors = golden(seed, images, labels)
        save_file(tensors, folder / f"joint-{seed}.safetensors", {**source, **errors})


main()
