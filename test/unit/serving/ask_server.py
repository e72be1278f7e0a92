"""Asks the server at the address `argv[1]` for predictions, as a user of tritonclient.http does, and prints what it gets as JSON."""

import json
import sys

import numpy as np
from tritonclient.http import InferenceServerClient, InferInput, InferRequestedOutput
from tritonclient.utils import InferenceServerException

client = InferenceServerClient(sys.argv[1])
values = np.array([[1, 2], [3, 4]], dtype=np.float32)


def ask(outputs=None, binary=True, shape=(2, 2)):
    features = InferInput("features", list(shape), "FP32").set_data_from_numpy(values.reshape(shape), binary_data=binary)
    found = client.infer("houses", [features], outputs=outputs, request_id="q")
    return [found.get_response()["id"], found.as_numpy("mean").tolist(), "parameters" in found.get_output("mean")]


def refusal():
    try:
        ask(shape=(4, 1))
    except InferenceServerException as error:
        return [error.status(), error.message()]


print(
    json.dumps(
        {
            "ready": [client.is_server_live(), client.is_server_ready(), client.is_model_ready("houses")],
            "extensions": client.get_server_metadata()["extensions"],
            "inputs": client.get_model_metadata("houses")["inputs"],
            "usual": ask(),
            "text": ask(binary=False, outputs=[InferRequestedOutput("mean", binary_data=False)]),
            "mixed": ask(outputs=[InferRequestedOutput("mean", binary_data=False)]),
            "refusal": refusal(),
        }
    )
)
