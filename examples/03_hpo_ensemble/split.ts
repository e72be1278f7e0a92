import { createSplits, type Dataset, type Splits, subset } from 'tutti-ensembles';

/**
 * Splits a table as the published experiment does: a permutation by the split's number, then the first 80 % to train on
 * and the rest to validate. So results can be compared split by split.
 */
export function publishedSplit(table: Dataset, split: number): Splits {
  const order = torchPermutation(table.length, split);
  const trained = Math.floor(0.8 * table.length);
  return createSplits({
    train: subset(table, order.subarray(0, trained)),
    validation: subset(table, order.subarray(trained)),
  });
}

/**
 * The permutation of 0 to length - 1 that PyTorch's
 * `torch.randperm(length, generator=torch.Generator().manual_seed(seed))` draws on a CPU: Fisher and Yates' shuffle
 * with the remainders of 32-bit numbers of MT19937 (PyTorch 2.15, aten/src/ATen/native/TensorFactories.cpp).
 */
export function torchPermutation(length: number, seed: number): Int32Array {
  const draw = mersenneTwister(seed);
  const order = Int32Array.from({ length }, (_, index) => index);
  for (let index = 0; index < length - 1; index++) {
    const other = index + (draw() % (length - index));
    [order[index], order[other]] = [order[other], order[index]];
  }
  return order;
}

const stateLength = 624;

/** Unsigned 32-bit numbers of MT19937. Source: Matsumoto and Nishimura, "Mersenne twister", ACM TOMACS 8 (1998). */
function mersenneTwister(seed: number): () => number {
  const state = new Uint32Array(stateLength);
  state[0] = seed;
  for (let i = 1; i < stateLength; i++) state[i] = Math.imul(1812433253, state[i - 1] ^ (state[i - 1] >>> 30)) + i;
  let next = stateLength;
  return () => {
    if (next === stateLength) {
      twist(state);
      next = 0;
    }
    let y = state[next++];
    y ^= y >>> 11;
    y ^= (y << 7) & 0x9d2c5680;
    y ^= (y << 15) & 0xefc60000;
    return (y ^ (y >>> 18)) >>> 0;
  };
}

function twist(state: Uint32Array): void {
  for (let i = 0; i < stateLength; i++) {
    const y = (state[i] & 0x80000000) | (state[(i + 1) % stateLength] & 0x7fffffff);
    state[i] = state[(i + 397) % stateLength] ^ (y >>> 1) ^ (y & 1 ? 0x9908b0df : 0);
  }
}
