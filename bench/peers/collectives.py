"""One rank of the collectives suite with PyTorch's gloo: `collectives.py <rendezvous file> <rank> <world size>`. Rank 0 prints a line for each case."""

import sys

import torch
from torch import distributed

from collective_cases import time_cases


def main(rendezvous, rank, world_size):
    torch.set_num_threads(1)
    distributed.init_process_group("gloo", init_method=f"file://{rendezvous}", rank=rank, world_size=world_size)

    def call_of(operation, size):
        array = torch.zeros(size // 4)
        gathered = [torch.zeros(size // 4) for _ in range(world_size)]
        if operation == "all-gather":
            return lambda: distributed.all_gather(gathered, array)
        return lambda: distributed.all_reduce(array)

    time_cases(rank, call_of)
    distributed.barrier()


main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
