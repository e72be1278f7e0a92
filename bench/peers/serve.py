"""Serves an ensemble of networks in PyTorch with FastAPI and uvicorn, as a user would write it: POST /predict with {"data": [[...]]} gives the mean
probabilities and their entropy. The networks are those of bench/serving/write-ensemble.ts.

    python3 bench/peers/serve.py <network>

Prints the port once it listens.
"""

import socket
import sys

import torch
import uvicorn
from fastapi import FastAPI
from pydantic import BaseModel
from torch import nn

torch.set_num_threads(1)


def perceptron(inputs, units, classes):
    return nn.Sequential(nn.Linear(inputs, units), nn.ReLU(), nn.Linear(units, units), nn.ReLU(), nn.Linear(units, classes))


def small_cnn():
    return nn.Sequential(
        nn.Unflatten(1, (1, 28, 28)), nn.Conv2d(1, 32, 3), nn.ReLU(), nn.Conv2d(32, 64, 3, stride=2), nn.ReLU(), nn.Flatten(), nn.Linear(64 * 144, 10)
    )


networks = {
    "small-mlp": (2, lambda: perceptron(8, 64, 10)),
    "mlp": (8, lambda: perceptron(784, 256, 10)),
    "cnn": (4, small_cnn),
}
members, build = networks[sys.argv[1]]
models = [build().eval() for _ in range(members)]
app = FastAPI()


class Request(BaseModel):
    data: list[list[float]]


@app.post("/predict")
async def predict(request: Request):
    with torch.inference_mode():
        samples = torch.tensor(request.data)
        mean = torch.stack([model(samples).softmax(dim=1) for model in models]).mean(dim=0)
        entropy = torch.special.entr(mean).sum(dim=1)
    return {"mean": mean.tolist(), "entropy": entropy.tolist()}


listening = socket.socket()
listening.bind(("127.0.0.1", 0))
print(listening.getsockname()[1], flush=True)
uvicorn.Server(uvicorn.Config(app, log_level="warning", access_log=False)).run(sockets=[listening])
