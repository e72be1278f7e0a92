"""Predicts with exported ensembles in Python.

    python3 predict.py FOLDER...

A folder has ensemble.onnx with its inputs in onnx.json, and model.py with its weights and inputs in pytorch.json, or one of both. Inputs are
a list of {"name", "shape", "values"}, in which null is a missing value. Prints one line of JSON for each folder: the outputs
of "onnx" and "pytorch", {"shape", "values"} by their names.
"""

import importlib.util
import json
import sys
from pathlib import Path

import numpy
import onnxruntime
import torch

TYPES = {
    "tensor(float)": numpy.float32,
    "tensor(double)": numpy.float64,
    "tensor(int64)": numpy.int64,
    "tensor(uint8)": numpy.uint8,
}


def read_inputs(path):
    return {own["name"]: (own["shape"], own["values"]) for own in json.loads(path.read_text())}


def by_onnx(folder):
    session = onnxruntime.InferenceSession(str(folder / "ensemble.onnx"))
    inputs = read_inputs(folder / "onnx.json")
    feeds = {}
    for info in session.get_inputs():
        shape, values = inputs[info.name]
        if info.type == "tensor(string)":
            feeds[info.name] = numpy.array(values, dtype=object).reshape(shape)
        else:
            known = [numpy.nan if value is None else value for value in values]
            feeds[info.name] = numpy.array(known).astype(TYPES[info.type]).reshape(shape)
    names = [info.name for info in session.get_outputs()]
    return dict(zip(names, session.run(names, feeds)))


def by_pytorch(folder):
    spec = importlib.util.spec_from_file_location("model", folder / "model.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    inputs = [
        torch.tensor(values, dtype=torch.float32).reshape(shape)
        for shape, values in read_inputs(folder / "pytorch.json").values()
    ]
    with torch.no_grad():
        return {name: value.numpy() for name, value in module.load()(*inputs).items()}


for name in sys.argv[1:]:
    folder = Path(name)
    found = {}
    if (folder / "ensemble.onnx").exists():
        found["onnx"] = by_onnx(folder)
    if (folder / "model.py").exists():
        found["pytorch"] = by_pytorch(folder)
    plain = {
        way: {key: {"shape": value.shape, "values": value.flatten().tolist()} for key, value in outputs.items()}
        for way, outputs in found.items()
    }
    print(json.dumps(plain))
