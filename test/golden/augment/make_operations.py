"""Records equalize and sharpness by Pillow, as operations.json: `python3 make_operations.py`.

Pillow rounds the smoothed image and the result to bytes. So sharpness is also recorded by PyTorch in float64, from torchvision's definition
(`_functional_tensor._blurred_degenerate_image`), which Pillow's bytes confirm.
"""

import json
from pathlib import Path

import numpy as np
import PIL
import torch
from PIL import Image, ImageEnhance, ImageOps

random = np.random.default_rng(3)


def picture(array):
    return Image.fromarray(array[..., 0] if array.shape[-1] == 1 else array)


def bytes_of(image):
    return np.asarray(image).flatten().tolist()


def sharpened(array, factor):
    image = torch.tensor(array / 255, dtype=torch.float64).permute(2, 0, 1)[:, None]
    kernel = torch.ones(1, 1, 3, 3, dtype=torch.float64)
    kernel[..., 1, 1] = 5
    smooth = image.clone()
    if min(image.shape[-2:]) > 2:
        smooth[..., 1:-1, 1:-1] = torch.nn.functional.conv2d(image, kernel / kernel.sum())
    result = (factor * image + (1 - factor) * smooth).clamp(0, 1)
    return [float(f"{value:.7f}") for value in result[:, 0].permute(1, 2, 0).flatten().tolist()]


def record(name, array, factor):
    array = array.astype(np.uint8)
    image = picture(array)
    return {
        "name": name,
        "size": list(array.shape),
        "bytes": array.flatten().tolist(),
        "equalized": bytes_of(ImageOps.equalize(image)),
        "factor": factor,
        "sharpened": sharpened(array, factor),
        "sharpenedBytes": bytes_of(ImageEnhance.Sharpness(image).enhance(factor)),
    }


one_constant = random.integers(0, 256, (18, 16, 3))
one_constant[..., 1] = 77
cases = [
    record("red, green and blue", random.integers(0, 256, (18, 17, 3)), 1.27),
    record("narrow range, grey", random.integers(90, 130, (17, 19, 1)), 0.4),
    record("one constant channel", one_constant, 1.9),
    record("two values", random.choice([10, 200], (16, 18, 1)), 0.1),
    record("fewer pixels than values", random.integers(0, 256, (4, 5, 3)), 1.5),
    record("two rows", random.integers(0, 256, (2, 9, 1)), 0.5),
]
golden = {"source": f"Pillow {PIL.__version__}; PyTorch {torch.__version__}, float64", "cases": cases}
Path(__file__).with_name("operations.json").write_text(json.dumps(golden, separators=(",", ":")) + "\n")
