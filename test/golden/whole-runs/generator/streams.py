"""Tutti's streams of random integers, which determine the order of samples and the rank of each multiplier.

Philox4x32-10 (Salmon et al., 2011, "Parallel random numbers: as easy as 1, 2, 3") in counter mode: the seed is the key, the FNV-1a hash of
the stream's name is the counter's upper half, the block's index its lower half. Integers are drawn below a bound as Lemire (2019, algorithm
5) does, permutations as Fisher and Yates do.
"""

MASK = 0xFFFFFFFF


def philox(counter, key):
    words, keys = list(counter), list(key)
    for _ in range(10):
        first, second = words[0] * 0xD2511F53, words[2] * 0xCD9E8D57
        words = [
            (second >> 32) ^ words[1] ^ keys[0],
            second & MASK,
            (first >> 32) ^ words[3] ^ keys[1],
            first & MASK,
        ]
        keys = [(keys[0] + 0x9E3779B9) & MASK, (keys[1] + 0xBB67AE85) & MASK]
    return words


def fnv1a(name):
    value = 0xCBF29CE484222325
    for byte in name.encode():
        value = ((value ^ byte) * 0x100000001B3) % 2**64
    return value


def words(seed, stream):
    upper = fnv1a(stream)
    block = 0
    while True:
        yield from philox([block & MASK, block >> 32, upper & MASK, upper >> 32], [seed, 0])
        block += 1


def below(bound, source):
    product = next(source) * bound
    while product & MASK < 2**32 % bound:
        product = next(source) * bound
    return product >> 32


def permutation(seed, stream, length):
    source = words(seed, stream)
    order = list(range(length))
    for last in range(length - 1, 0, -1):
        chosen = below(last + 1, source)
        order[last], order[chosen] = order[chosen], order[last]
    return order


def epoch_orders(case, epoch):
    """Indices of one epoch by rank: a separate order per rank, one for all, or elements r, r + N, r + 2N, ... of it (`sharded-uneven`)."""
    ranks, length, stream = case["members"], case["samples"], f"sampler/epoch-{epoch}"
    if case["sampler"] == "shuffled":
        return [permutation(case["seed"] + rank, stream, length) for rank in range(ranks)]
    order = permutation(case["seed"], stream, length)
    return [order[rank::ranks] if case["sampler"] == "sharded-uneven" else order for rank in range(ranks)]


def batches(case):
    """For each step its epoch and the indices of every rank. A rank with fewer samples has a smaller batch or an empty one."""
    size = case["batchSize"] * case["strategy"].get("accumulate", 1)
    epoch = 0
    while True:
        orders = epoch_orders(case, epoch)
        for start in range(0, max(len(order) for order in orders), size):
            yield epoch, [order[start : start + size] for order in orders]
        epoch += 1


def unlabelled_batches(case, length):
    """The same for all ranks, from a shared seed. Whole batches only."""
    size = case["strategy"]["unlabelledBatchSize"]
    epoch = 0
    while True:
        order = permutation(case["seed"] + case["members"], f"sampler/epoch-{epoch}", length)
        for start in range(0, length - size + 1, size):
            yield order[start : start + size]
        epoch += 1
