"""Records requests as tritonclient.http sends them, with the values that they hold, and an answer of the binary tensor extension
(https://docs.nvidia.com/deeplearning/triton-inference-server/user-guide/docs/protocol/extension_binary_data.html) that tritonclient.http reads:

    python3 make_requests.py
"""

import base64
import json
import pathlib

import ml_dtypes
import numpy as np
from tritonclient.http import InferenceServerClient, InferInput, InferRequestedOutput, InferResult
from tritonclient.utils import np_to_triton_dtype, serialize_byte_tensor

folder = pathlib.Path(__file__).parent
generator = np.random.default_rng(7)


def request(name, arrays, outputs=None, binary=True, request_id=""):
    """A request with one input for each array. `values` are those that the arrays hold, after rounding to their type; null stands for NaN."""
    inputs = []
    for key, array in arrays.items():
        own = InferInput(key, list(array.shape), np_to_triton_dtype(array.dtype))
        inputs.append(own.set_data_from_numpy(array, binary_data=binary))
    wanted = outputs and [InferRequestedOutput(key, binary_data=flag) for key, flag in outputs.items()]
    body, length = InferenceServerClient.generate_request_body(inputs, outputs=wanted, request_id=request_id)
    return {
        "name": name,
        "body": base64.b64encode(body).decode(),
        "jsonBytes": length,
        "inputs": [
            {"name": key, "datatype": np_to_triton_dtype(array.dtype), "shape": list(array.shape), "values": plain(array)}
            for key, array in arrays.items()
        ],
    }


def plain(array):
    if array.dtype == bool:
        return [bool(value) for value in array.flatten()]
    if array.dtype == np.object_:
        return [value.decode() if isinstance(value, bytes) else value for value in array.flatten()]
    return [None if np.isnan(value) else value for value in array.flatten().astype(np.float64).tolist()]


def numbers(dtype):
    if np.issubdtype(dtype, np.integer):
        bounds = np.iinfo(dtype)
        drawn = generator.integers(bounds.min, bounds.max, size=(3, 2), dtype=dtype, endpoint=True)
        drawn[0] = bounds.min, bounds.max
        return drawn
    drawn = (generator.standard_normal((3, 2)) * 100).astype(dtype)
    # The least normal and the least subnormal number of the type, where it has 16 bits.
    if np.dtype(dtype).itemsize == 2:
        info = ml_dtypes.finfo(dtype)
        drawn[0] = info.tiny, -info.smallest_subnormal
    return drawn


types = [np.uint8, np.uint16, np.uint32, np.uint64, np.int8, np.int16, np.int32, np.int64]
types += [np.float16, np.float32, np.float64, ml_dtypes.bfloat16]
houses = {
    "size": np.array([[1.5], [np.nan], [-3e-7]]),
    "sold": np.array([[True], [False], [True]]),
    "town": np.array([["Bern"], ["Zürich".encode()], [""]], dtype=np.object_),
}

requests = [request(np_to_triton_dtype(np.dtype(own)), {"features": numbers(own)}) for own in types]
requests.append(request("columns", houses, outputs={"mean": True, "members": False}, request_id="a"))
requests.append(request("JSON", {"features": numbers(np.float32)}, outputs={"mean": False}, binary=False))

answer = {
    "mean": generator.standard_normal((2, 3)),
    "label": np.array([2, 0], dtype=np.int32),
    "class": np.array(["Zürich", ""], dtype=np.object_),
    "set": np.array([[True, False, True], [False, False, True]]),
    "members": generator.standard_normal((2, 1, 3)).astype(np.float32),
}


def parts(array):
    return serialize_byte_tensor(array).item() if array.dtype == np.object_ else array.tobytes()


infos = [
    {
        "name": key,
        "datatype": np_to_triton_dtype(array.dtype),
        "shape": list(array.shape),
        "parameters": {"binary_data_size": len(parts(array))},
    }
    for key, array in answer.items()
]
header = json.dumps({"model_name": "houses", "id": "a", "outputs": infos}).encode()
binary = b"".join(parts(array) for array in answer.values())
read = InferResult.from_response_body(header + binary, header_length=len(header))
for key, array in answer.items():
    expected = array if array.dtype != np.object_ else np.array([value.encode() for value in array], dtype=np.object_)
    assert (read.as_numpy(key) == expected).all(), key

recorded = {
    "requests": requests,
    "answer": {
        "json": json.loads(header),
        "binary": base64.b64encode(binary).decode(),
        "outputs": [
            {"name": key, "datatype": np_to_triton_dtype(array.dtype), "shape": list(array.shape), "values": plain(array)}
            for key, array in answer.items()
        ],
    },
}
(folder / "requests.json").write_text(json.dumps(recorded, indent=1, ensure_ascii=False) + "\n")
