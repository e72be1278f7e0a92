import { type DataConfig, holdsOut } from '../../core/protocol/run/training-data/data-config.ts';
import { Generator } from '../../core/random/generator.ts';
import { createSplits, type Dataset, type Splits, subset } from './dataset.ts';

/** Which samples of the training split each rank holds out. */
export interface HoldOut {
  /** Rows of the training split that some rank holds out, in the order of the validation split; shape `[V]`. */
  readonly rows: Int32Array;
  /** The P ranks that hold out each of them, ascending; shape `[V, P]`. */
  readonly heldOutBy: Int32Array;
  /** Rows that a rank trains on, ascending; as many for each rank. */
  trainingRows(rank: number): Int32Array;
}

interface Held {
  /** Chunks of the same size. */
  chunks: number;
  /** Samples of a chunk. */
  size: number;
  /** The ranks that hold out a chunk, ascending. */
  ranksOf: (chunk: number) => number[];
}

/**
 * Divides N training samples at random (the same on all ranks) into chunks, which ranks hold out. The rest is in every rank's training samples.
 *
 * - `data.holdOut` h: M chunks of N·h/2 samples; member i holds out the chunks i and i + 1 mod M, so that two members hold out each chunk
 *   (Fredsgaard and Schmidt, 2025, "On joint regularization and calibration in deep ensembles", TMLR).
 * - `data.foldPerRank`: k folds of N/k samples, rounded down; member i holds out fold i mod k.
 *
 * @returns null if the configuration asks for neither
 * @throws RangeError if a chunk has no sample, or a rank none to train on
 */
export function holdOutOf(
  { data, members, seed }: { data: DataConfig; members: number; seed: number },
  length: number,
): HoldOut | null {
  if (!holdsOut(data)) return null;
  const held = data.foldPerRank ? foldsOf(data.folds, members, length) : overlapping(data.holdOut, members, length);
  const { chunks, size, ranksOf } = held;
  const order = new Generator(seed, 'hold-out').permutation(length);
  const holders = Array.from({ length: chunks }, (_, chunk) => ranksOf(chunk));
  requireSamples(held, holders, length);
  const chunkOf = new Int32Array(length).fill(-1);
  for (let place = 0; place < chunks * size; place++) chunkOf[order[place]] = Math.floor(place / size);
  return {
    rows: order.slice(0, chunks * size),
    heldOutBy: Int32Array.from(holders.flatMap((ranks) => Array.from({ length: size }, () => ranks).flat())),
    trainingRows: (rank) =>
      Int32Array.from({ length }, (_, row) => row).filter(
        (row) => chunkOf[row] < 0 || !holders[chunkOf[row]].includes(rank),
      ),
  };
}

function overlapping(share: number, members: number, length: number): Held {
  // Rounding must not ask for more samples than there are.
  const size = Math.min(Math.round((length * share) / 2), Math.floor(length / members));
  const before = (chunk: number): number => (chunk + members - 1) % members;
  return { chunks: members, size, ranksOf: (chunk) => [chunk, before(chunk)].toSorted((a, b) => a - b) };
}

function foldsOf(folds: number, members: number, length: number): Held {
  const ranks = Array.from({ length: members }, (_, rank) => rank);
  return {
    chunks: folds,
    size: Math.floor(length / folds),
    ranksOf: (fold) => ranks.filter((rank) => rank % folds === fold),
  };
}

function requireSamples({ chunks, size }: Held, holders: readonly number[][], length: number): void {
  const perRank = Math.max(...holders.flat().map((rank) => holders.filter((ranks) => ranks.includes(rank)).length));
  if (size > 0 && perRank * size < length) return;
  throw new RangeError(
    `${length} training samples cannot be held out in ${chunks} chunks of ${size}, ${perRank} by each rank. ` +
      (size === 0 ? 'Hold out a larger share, or use fewer folds.' : 'Hold out a smaller share, or add members.'),
  );
}

/** The splits with what ranks hold out as the validation split. @throws Error if the project also gives a validation split */
export function withHoldOut(splits: Splits, holdOut: HoldOut | null): Splits {
  if (holdOut === null) return splits;
  const { train, validation } = splits;
  if (validation !== undefined) {
    throw new Error(
      `The ranks validate on samples of "${train.name}" that they hold out, but data() also returns the validation split "${validation.name}". ` +
        'Return no validation split where config.data.holdOut is above 0 or config.data.foldPerRank is set, or turn these options off.',
    );
  }
  const held: Dataset = { ...subset(train, holdOut.rows), heldOutBy: holdOut.heldOutBy };
  return createSplits({ ...splits, validation: held });
}

/** Rows of a split that a rank may be judged on: those that it held out; null: all. */
export function rowsHeldOutBy({ heldOutBy, length }: Dataset, rank: number): Int32Array | null {
  if (heldOutBy === undefined) return null;
  const each = heldOutBy.length / length;
  const isHeld = (row: number): boolean => heldOutBy.subarray(row * each, (row + 1) * each).includes(rank);
  return Int32Array.from({ length }, (_, row) => row).filter(isHeld);
}
