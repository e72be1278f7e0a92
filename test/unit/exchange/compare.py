"""Runs exported models in Python and compares them with expected values.

    python3 compare.py FOLDER...

A folder has model.py with its weights, or model.onnx, and data.safetensors with the inputs x0, x1, ... and expected outputs: `expected`, the
output of the only member, or `output NAME` of the ensemble. Prints one line of JSON for each: the folder and the largest
error, relative to values above 1; or the error message.
"""

import importlib.util
import json
import sys
from pathlib import Path

import numpy
import torch
from safetensors.numpy import load_file


def run_pytorch(folder, inputs):
    spec = importlib.util.spec_from_file_location("model", folder / "model.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    ensemble = module.load()
    inputs = [torch.from_numpy(value) for value in inputs]
    with torch.no_grad():
        outputs = {f"output {name}": value.numpy() for name, value in ensemble(*inputs).items()}
        return {**outputs, "expected": ensemble.members[0](*inputs)[0].numpy()}


def run_onnx(folder, inputs):
    import onnx
    import onnxruntime

    path = str(folder / "model.onnx")
    onnx.checker.check_model(path, full_check=True)
    session = onnxruntime.InferenceSession(path)
    names = [value.name for value in session.get_inputs()]
    return {"expected": session.run(None, dict(zip(names, inputs)))[0]}


for name in sys.argv[1:]:
    folder = Path(name)
    data = load_file(folder / "data.safetensors")
    expected = {key: data.pop(key) for key in list(data) if not key.startswith("x")}
    inputs = [data[key] for key in sorted(data)]
    try:
        found = run_onnx(folder, inputs) if (folder / "model.onnx").exists() else run_pytorch(folder, inputs)
        largest = 0.0
        for key, values in expected.items():
            if found[key].shape != values.shape:
                raise ValueError(f"{key} has shape {found[key].shape}, not {values.shape}")
            errors = numpy.abs(found[key] - values) / numpy.maximum(1, numpy.abs(values))
            largest = max(largest, float(errors.max()))
        print(json.dumps({"folder": name, "error": largest}))
    except Exception as error:
        print(json.dumps({"folder": name, "failure": f"{type(error).__name__}: {error}"}))
