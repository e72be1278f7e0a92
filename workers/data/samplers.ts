import type { SamplerKind } from '../../core/protocol/run/strategies/strategy-rules.ts';
import { Generator } from '../../core/random/generator.ts';

export interface SamplerOptions {
  kind: SamplerKind;
  /** Samples of the data set (N). */
  length: number;
  /** Samples per batch (B). */
  batchSize: number;
  /** Whether to skip an epoch's last batch if it is smaller. */
  dropLast: boolean;
  /** The seed of this rank alone. */
  seed: number;
  /** The seed that all ranks share. */
  sharedSeed: number;
  rank: number;
  worldSize: number;
  /** Whether the rank's samples are a bootstrap sample: N of them, drawn with replacement. */
  bagging?: boolean;
  /** The rows that the rank trains on, of which there are then `length`; all by default. */
  rows?: Int32Array | undefined;
  /**
   * The group of each sample of the data set: a bootstrap sample then consists of whole groups, but for the last one.
   */
  groups?: Int32Array | undefined;
}

/** The order of one rank's samples: a pure function of (seed, epoch), so that a resume needs no state. */
export interface Sampler {
  readonly batchesPerEpoch: number;
  /**
   * Sample indices of one epoch (counted from 0), batch by batch, each of shape [B]. The last batch may be smaller. In
   * an uneven split it may be empty, so that all ranks have the same number of batches.
   */
  batches(epoch: number): Iterable<Int32Array>;
}

/** @throws RangeError when an option is out of range or leaves the rank without a batch. */
export function createSampler(options: SamplerOptions): Sampler {
  checkOptions(options);
  const { batchSize, dropLast } = options;
  const samples = samplesPerEpoch(options, dropLast);
  const batchesPerEpoch = dropLast ? Math.floor(samples / batchSize) : Math.ceil(samples / batchSize);
  if (batchesPerEpoch === 0) {
    throw new RangeError(
      `Sampler "${options.kind}" leaves rank ${options.rank} without a batch: ${samples} of ${options.length} ` +
        `samples an epoch, batchSize ${batchSize}, dropLast ${dropLast}. Lower batchSize, turn dropLast off or add ` +
        'samples.',
    );
  }
  const drawn = options.bagging ? bootstrap(options) : null;
  const { rows } = options;
  const rowsOf = (places: Int32Array) => (rows === undefined ? places : places.map((place) => rows[place]));
  return Object.freeze({
    batchesPerEpoch,
    *batches(epoch: number) {
      const places = orderOf(options, epoch);
      const order = rowsOf(drawn === null ? places : places.map((place) => drawn[place]));
      for (let batch = 0; batch < batchesPerEpoch; batch++) {
        yield order.subarray(batch * batchSize, (batch + 1) * batchSize);
      }
    },
  });
}

/**
 * N places drawn with replacement, the same in all epochs (Breiman, 1996, "Bagging predictors"). Groups are drawn as a
 * whole, as the cluster bootstrap does (Davison and Hinkley, 1997, "Bootstrap methods and their application", section
 * 3.8), until there are N; the last one is cut.
 */
function bootstrap({ length, seed, groups, rows }: SamplerOptions): Int32Array {
  const generator = new Generator(seed, 'bagging');
  if (groups === undefined) return Int32Array.from({ length }, () => generator.integer(length));
  const places = Array.from({ length }, (_, place) => place);
  const together = [...Map.groupBy(places, (place) => groups[rows?.[place] ?? place]).values()];
  const drawn: number[] = [];
  while (drawn.length < length) drawn.push(...together[generator.integer(together.length)]);
  return Int32Array.from(drawn.slice(0, length));
}

/** How to treat the remainder of samples that cannot be divided evenly among the ranks. */
export type Remainder = 'padded' | 'dropped' | 'uneven';

/**
 * One rank's share of an order, as in PyTorch's `DistributedSampler`: elements rank, rank + W, rank + 2W, ... for world
 * size W. `padded` repeats elements from the start until W divides the length, `dropped` leaves out the remainder, and
 * with `uneven` the first ranks have one element more.
 */
export function shard(order: Int32Array, rank: number, worldSize: number, remainder: Remainder): Int32Array {
  const count = shardLength(order.length, rank, worldSize, remainder);
  return Int32Array.from({ length: count }, (_, i) => order[(rank + i * worldSize) % order.length]);
}

function shardLength(length: number, rank: number, worldSize: number, remainder: Remainder): number {
  switch (remainder) {
    case 'padded':
      return Math.ceil(length / worldSize);
    case 'dropped':
      return Math.floor(length / worldSize);
    case 'uneven':
      return Math.ceil((length - rank) / worldSize);
  }
}

/**
 * The samples that determine the number of batches. In an uneven split: the largest share or, with `dropLast`, the
 * smallest.
 */
function samplesPerEpoch({ kind, length, worldSize }: SamplerOptions, dropLast: boolean): number {
  const remainder = remainderOf(kind);
  if (remainder === null) return length;
  return shardLength(length, dropLast ? worldSize - 1 : 0, worldSize, remainder);
}

function orderOf({ kind, length, seed, sharedSeed, rank, worldSize }: SamplerOptions, epoch: number): Int32Array {
  if (kind === 'sequential') return Int32Array.from({ length }, (_, index) => index);
  const order = shuffledOrder(length, kind === 'shuffled' ? seed : sharedSeed, epoch);
  const remainder = remainderOf(kind);
  return remainder === null ? order : shard(order, rank, worldSize, remainder);
}

/** Null if ranks do not split the samples. */
function remainderOf(kind: SamplerKind): Remainder | null {
  switch (kind) {
    case 'sharded':
      return 'padded';
    case 'sharded-drop':
      return 'dropped';
    case 'sharded-uneven':
      return 'uneven';
    default:
      return null;
  }
}

/** Each epoch has a separate random stream: with seed + epoch, neighbouring seeds would share orders. */
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
