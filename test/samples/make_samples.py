"""Cuts these samples out of the full data sets: `python3 make_samples.py <folder>`, with numpy.

The folder holds mnist/, cifar10/ and uci/ with the file names of README.md. The tests that read the samples contain the printed values,
which numpy computed, not Tutti.
"""

import gzip
import struct
import sys
from pathlib import Path

import numpy as np

DIGITS, IMAGES_PER_CLASS, ROWS = 1200, 1, 30
here, whole = Path(__file__).parent, Path(sys.argv[1])


def idx(values):
    """An IDX file of unsigned bytes (LeCun et al., http://yann.lecun.com/exdb/mnist)."""
    return struct.pack(f">BBBB{values.ndim}I", 0, 0, 8, values.ndim, *values.shape) + values.tobytes()


def mnist():
    (here / "mnist").mkdir(exist_ok=True)
    for part, axes in [("images-idx3", 3), ("labels-idx1", 1)]:
        content = gzip.decompress((whole / "mnist" / f"t10k-{part}-ubyte.gz").read_bytes())
        shape = struct.unpack(f">{axes}I", content[4 : 4 + 4 * axes])
        values = np.frombuffer(content, np.uint8, offset=4 + 4 * axes).reshape(shape)[:DIGITS]
        (here / "mnist" / f"t10k-{part}-ubyte.gz").write_bytes(gzip.compress(idx(values), 9, mtime=0))
        if axes == 3:
            print("mnist: ink", values.mean() / 255, "of the upper left quadrant", values[:, :14, :14].mean() / 255)
        else:
            print("mnist: counts", np.bincount(values, minlength=10).tolist())


def cifar10():
    (here / "cifar10").mkdir(exist_ok=True)
    for name in ["data_batch_1.bin", "test_batch.bin"]:
        records = np.frombuffer((whole / "cifar10" / name).read_bytes(), np.uint8).reshape(-1, 3073)
        chosen = np.concatenate([records[records[:, 0] == label][:IMAGES_PER_CLASS] for label in range(10)])
        (here / "cifar10" / name).write_bytes(chosen.tobytes())
        images = chosen[:, 1:].reshape(-1, 3, 32, 32)
        print(f"{name}: labels", chosen[:, 0].tolist())
        print("  channel means", images.mean(axis=(0, 2, 3)).tolist())
        print("  of the upper left quadrant", images[:, :, :16, :16].mean(axis=(0, 2, 3)).tolist())


def uci():
    (here / "uci").mkdir(exist_ok=True)
    for name in ["yacht", "wine", "concrete", "energy", "kin8nm", "power"]:
        text = (whole / "uci" / f"{name}.txt").read_text()
        kept = text if name == "yacht" else "".join(text.splitlines(keepends=True)[:ROWS])
        (here / "uci" / f"{name}.txt").write_text(kept)
        rows = np.array([[float(field) for field in line.split()] for line in kept.splitlines() if line.strip()])
        print(f"{name}: {rows.shape}, last row {rows[-1].tolist()}, column sums {rows.sum(axis=0).tolist()}")


mnist()
cifar10()
uci()
