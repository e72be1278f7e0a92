"""Records NumPy arrays of all types, in both byte orders and both memory orders.

    python3 make_arrays.py        (numpy 2.4)
"""

import json
import pathlib

import numpy as np

here = pathlib.Path(__file__).parent
values = np.array([[0, 1, -2.5, 100.25], [3, -4, 65504, 0.1], [7, 8, -9, 6e-8]])
whole = np.array([[0, 1, 2, 100], [3, 4, 120, 5], [7, 8, 9, 6]])

arrays = {}
for kind in ["f2", "f4", "f8"]:
    for order in "<>":
        arrays[f"{'little' if order == '<' else 'big'}_{kind}"] = values.astype(order + kind)
for kind in ["i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8"]:
    arrays[f"little_{kind}"] = whole.astype("<" + kind)
    arrays[f"big_{kind}"] = whole.astype(">" + kind)
arrays["negative"] = np.array([-128, -1, 127], dtype=np.int64)
arrays["boolean"] = whole > 5
arrays["fortran"] = np.asfortranarray(np.arange(24, dtype=np.float32).reshape(2, 3, 4))
arrays["scalar"] = np.float32(2.5)
arrays["empty"] = np.zeros((0, 3), dtype=np.float32)

np.savez(here / "stored.npz", **arrays)
np.savez_compressed(here / "deflated.npz", **arrays)
np.save(here / "fortran.npy", arrays["fortran"])
np.save(here / "objects.npy", np.array([{}, 1], dtype=object), allow_pickle=True)
np.save(here / "wide.npy", np.array([2**40], dtype=np.int64))
expected = {
    name: {"shape": list(array.shape), "values": np.asarray(array, dtype=np.float64).ravel(order="C").tolist()}
    for name, array in arrays.items()
}
(here / "expected.json").write_text(json.dumps(expected) + "\n")
