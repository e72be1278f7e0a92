"""One rank of the cluster suite with mpi4py, started by mpirun. Rank 0 prints a line for each case: {"name", "durationsMs"}."""

import json
import time

import numpy
from mpi4py import MPI

# As in bench/cluster/mpi-rank.ts: name, operation, bytes, repeats.
CASES = [
    ("all-gather 8 KB", "all-gather", 8192, 400),
    ("all-reduce 40 MB", "all-reduce", 40 * 2**20, 8),
]

world = MPI.COMM_WORLD
for name, operation, size, repeats in CASES:
    array = numpy.zeros(size // 4, numpy.float32)
    gathered = numpy.zeros((world.size if operation == "all-gather" else 0) * size // 4, numpy.float32)

    def call():
        if operation == "all-gather":
            world.Allgather(array, gathered)
        else:
            world.Allreduce(MPI.IN_PLACE, array)

    for _ in range(repeats // 4):
        call()
    durations_ms = []
    for _ in range(repeats):
        start = time.perf_counter()
        call()
        durations_ms.append((time.perf_counter() - start) * 1000)
    if world.rank == 0:
        print(json.dumps({"name": name, "durationsMs": durations_ms}), flush=True)
