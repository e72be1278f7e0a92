import type { SamplerKind } from '../../protocol/strategy-rules.ts';
import { Generator } from '../random/generator.ts';

export interface SamplerOptions {
  kind: SamplerKind;
  /** Samples of the data set (N). */
  length: number;
  /** Samples a batch (B). */
  batchSize: number;
  /** Leave out an epoch's last batch where it is smaller. */
  dropLast: boolean;
  /** This rank's own seed. */
  seed: number;
  /** The seed that all ranks share. */
  sharedSeed: number;
  rank: number;
  worldSize: number;
}

/** The order in which one rank sees samples: a pure function of (seed, epoch), so that a resume needs no state. */
export interface Sampler {
  readonly batchesPerEpoch: number;
  /** Sample indices of one zero-based epoch, batch by batch, each of shape [B] (the last may be smaller). */
  batches(epoch: number): Iterable<Int32Array>;
}

/** @throws RangeError when an option is out of range or leaves the rank without a batch. */
export function createSampler(options: SamplerOptions): Sampler {
  checkOptions(options);
  const { batchSize, dropLast } = options;
  const samples = samplesPerEpoch(options);
  const batchesPerEpoch = dropLast ? Math.floor(samples / batchSize) : Math.ceil(samples / batchSize);
  if (batchesPerEpoch === 0) {
    throw new RangeError(
      `Sampler "${options.kind}" leaves rank ${options.rank} without a batch: ${samples} of ${options.length} samples ` +
        `an epoch, batchSize ${batchSize}, dropLast ${dropLast}. Lower batchSize, turn dropLast off or add samples.`,
    );
  }
  return Object.freeze({
    batchesPerEpoch,
    *batches(epoch: number) {
      const order = orderOf(options, epoch);
      for (let batch = 0; batch < batchesPerEpoch; batch++) {
        yield order.subarray(batch * batchSize, (batch + 1) * batchSize);
      }
    },
  });
}

/**
 * One rank's share of an order, as PyTorch's `DistributedSampler` deals it: elements rank, rank + W, rank + 2W, ... for
 * world size W. Padded, the order is wrapped around until W divides it; otherwise the tail that does not divide is dropped.
 */
export function shard(order: Int32Array, rank: number, worldSize: number, padded: boolean): Int32Array {
  const count = shardLength(order.length, worldSize, padded);
  return Int32Array.from({ length: count }, (_, i) => order[(rank + i * worldSize) % order.length]);
}

function shardLength(length: number, worldSize: number, padded: boolean): number {
  return padded ? Math.ceil(length / worldSize) : Math.floor(length / worldSize);
}

function samplesPerEpoch({ kind, length, worldSize }: SamplerOptions): number {
  return isSharded(kind) ? shardLength(length, worldSize, kind === 'sharded') : length;
}

function orderOf({ kind, length, seed, sharedSeed, rank, worldSize }: SamplerOptions, epoch: number): Int32Array {
  if (kind === 'sequential') return Int32Array.from({ length }, (_, index) => index);
  const order = shuffledOrder(length, kind === 'shuffled' ? seed : sharedSeed, epoch);
  return isSharded(kind) ? shard(order, rank, worldSize, kind === 'sharded') : order;
}

function isSharded(kind: SamplerKind): boolean {
  return kind === 'sharded' || kind === 'sharded-drop';
}

/** An epoch is a stream of its own: neighbouring seeds never share an order, as seed + epoch would let them. */
function shuffledOrder(length: number, seed: number, epoch: number): Int32Array {
  return new Generator(seed, `sampler/epoch-${epoch}`).permutation(length);
}

function checkOptions({ length, batchSize, rank, worldSize }: SamplerOptions): void {
  for (const [name, value] of Object.entries({ length, batchSize, worldSize })) {
    if (!(Number.isInteger(value) && value >= 1)) {
      throw new RangeError(`Sampler: ${name} is ${value}; it must be a whole number of at least 1.`);
    }
  }
  if (!(Number.isInteger(rank) && rank >= 0 && rank < worldSize)) {
    throw new RangeError(
      `Sampler: rank is ${rank}; with a world size of ${worldSize} it must be 0 to ${worldSize - 1}.`,
    );
  }
}
