"""The MLP 3072-512-512-10 with Adam and batch 128 per rank, in PyTorch's data-parallel training: `data_parallel.py <ranks> <steps>`.

One process and one thread per rank, with gradients averaged over gloo. Prints the steps per second of the slowest rank, without its first
steps.
"""

import sys
import tempfile
import time

import torch
import torch.distributed as dist
import torch.multiprocessing as processes
from torch import nn
from torch.nn.parallel import DistributedDataParallel

FIRST_STEPS = 10


def member(rank, ranks, address, steps):
    torch.set_num_threads(1)
    model = nn.Sequential(
        nn.Linear(3072, 512), nn.ReLU(), nn.Linear(512, 512), nn.ReLU(), nn.Linear(512, 10)
    )
    if ranks > 1:
        dist.init_process_group("gloo", init_method=address, rank=rank, world_size=ranks)
        model = DistributedDataParallel(model)
    optimizer = torch.optim.Adam(model.parameters(), 0.001)
    x, y = torch.rand(128, 3072), torch.arange(128) % 10
    for step in range(FIRST_STEPS + steps):
        if step == FIRST_STEPS:
            start = time.perf_counter()
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(x), y).backward()
        optimizer.step()
    rate = torch.tensor(steps / (time.perf_counter() - start))
    if ranks > 1:
        dist.all_reduce(rate, op=dist.ReduceOp.MIN)
    if rank == 0:
        print(rate.item(), flush=True)


def main():
    ranks, steps = int(sys.argv[1]), int(sys.argv[2])
    if ranks == 1:
        member(0, 1, None, steps)
        return
    with tempfile.TemporaryDirectory() as folder:
        processes.spawn(member, (ranks, f"file://{folder}/rendezvous", steps), nprocs=ranks)


if __name__ == "__main__":
    main()
