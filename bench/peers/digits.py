"""bench/projects/digits as a PyTorch program: `digits.py <members>`, with one process and thread per member."""

import sys

import torch
import torch.multiprocessing as processes
from torch import nn
from torch.nn import functional

SAMPLES = 10_000
BATCH = 64
EPOCHS = 2


def make_model():
    return nn.Sequential(
        nn.Conv2d(1, 10, 5),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Conv2d(10, 20, 5),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Flatten(),
        nn.Linear(320, 50),
        nn.ReLU(),
        nn.Linear(50, 10),
    )


def member(rank):
    torch.set_num_threads(1)
    torch.manual_seed(42)
    images = torch.randint(0, 256, (SAMPLES, 1, 28, 28), dtype=torch.uint8)
    labels = torch.arange(SAMPLES) % 10
    torch.manual_seed(42 + rank)
    model = make_model()
    optimizer = torch.optim.SGD(model.parameters(), 0.01, momentum=0.5)
    for _ in range(EPOCHS):
        for indices in torch.randperm(SAMPLES).split(BATCH):
            optimizer.zero_grad()
            loss = functional.cross_entropy(model(images[indices] / 255), labels[indices])
            loss.backward()
            optimizer.step()
    torch.save(model.state_dict(), f"{sys.argv[2]}.{rank}")


if __name__ == "__main__":
    processes.spawn(member, nprocs=int(sys.argv[1]))
