"""One rank of the cluster suite with mpi4py, started by mpirun. Rank 0 prints a line for each case."""

import numpy
from mpi4py import MPI

from collective_cases import time_cases

world = MPI.COMM_WORLD


def call_of(operation, size):
    array = numpy.zeros(size // 4, dtype=numpy.float32)
    gathered = numpy.zeros(world.Get_size() * array.size, dtype=numpy.float32)
    if operation == "all-gather":
        return lambda: world.Allgather(array, gathered)
    return lambda: world.Allreduce(MPI.IN_PLACE, array)


time_cases(world.Get_rank(), call_of)
