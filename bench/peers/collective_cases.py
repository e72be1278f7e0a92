"""The cases of bench/collectives/cases.ts, and how their calls are timed, for collectives.py and mpi_collectives.py."""

import json
import time

# Name, operation, bytes, repeats.
CASES = [
    ("all-gather 8 KB", "all-gather", 8192, 2000),
    ("all-reduce 1 MB", "all-reduce", 2**20, 100),
    ("all-reduce 40 MB", "all-reduce", 40 * 2**20, 8),
]


def time_cases(rank, call_of):
    """Makes the calls of all cases; rank 0 prints a line {"name", "durationsMs"} for each. `call_of` takes operation and bytes."""
    for name, operation, size, repeats in CASES:
        call = call_of(operation, size)
        for _ in range(repeats // 4):
            call()
        durations_ms = []
        for _ in range(repeats):
            start = time.perf_counter()
            call()
            durations_ms.append((time.perf_counter() - start) * 1000)
        if rank == 0:
            print(json.dumps({"name": name, "durationsMs": durations_ms}), flush=True)
