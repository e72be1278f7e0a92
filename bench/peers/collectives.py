"""One rank of the collectives suite with PyTorch's gloo: `collectives.py <rendezvous file> <rank> <world size>`.

Rank 0 prints a line for each case of bench/collective-rank.ts, a line {"name", "durationsMs"}.
"""

import json
import sys
import time

import torch
from torch import distributed

# As in bench/collective-rank.ts: name, operation, bytes, repeats.
CASES = [
    ("all-gather 8 KB", "all-gather", 8192, 400),
    ("all-reduce 1 MB", "all-reduce", 2**20, 100),
    ("all-reduce 40 MB", "all-reduce", 40 * 2**20, 8),
]


def main(rendezvous, rank, world_size):
    torch.set_num_threads(1)
    distributed.init_process_group("gloo", init_method=f"file://{rendezvous}", rank=rank, world_size=world_size)
    for name, operation, size, repeats in CASES:
        array = torch.zeros(size // 4)
        gathered = [torch.zeros(size // 4) for _ in range(world_size)]

        def call():
            if operation == "all-gather":
                distributed.all_gather(gathered, array)
            else:
                distributed.all_reduce(array)

        for _ in range(repeats // 4):
            call()
        durations_ms = []
        for _ in range(repeats):
            start = time.perf_counter()
            call()
            durations_ms.append((time.perf_counter() - start) * 1000)
        if rank == 0:
            print(json.dumps({"name": name, "durationsMs": durations_ms}), flush=True)
    distributed.barrier()


main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
