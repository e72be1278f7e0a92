import type { RunConfig } from '../../core/protocol/run/config.ts';
import { type MemberCount, memberCountOf } from '../../core/protocol/run/strategies/ranks-and-members.ts';
import { holdsOut } from '../../core/protocol/run/data-config.ts';
import { Generator } from '../../core/random/generator.ts';
import { chunksOfGroups, foldsOfRows, requireOneDivision, takeRows } from './assign-rows.ts';
import { createSplits, type Dataset, type Splits, subset } from './dataset.ts';

/** Which samples of the training split each rank holds out. */
export interface HoldOut {
  /** Rows of the training split that some rank holds out, in the order of the validation split; shape `[V]`. */
  readonly rows: Int32Array;
  /** The P ranks that hold out each of them, ascending; shape `[V, P]`. */
  readonly heldOutBy: Int32Array;
  /** Rows that a rank trains on, as many for each rank: ascending, and after them those that it has twice. */
  trainingRows(rank: number): Int32Array;
}

interface Held {
  /** Chunks of the same size. */
  chunks: number;
  /** Samples of a chunk; of groups, the most. */
  size: number;
  /** The ranks that hold out a chunk, ascending. */
  ranksOf: (chunk: number) => number[];
}

/** What is divided. */
type Divided = Pick<Dataset, 'name' | 'length' | 'groups' | 'strata' | 'spans'>;

/**
 * Divides N training samples at random (the same on all ranks) into chunks, which ranks hold out. The rest is in every
 * rank's training samples.
 *
 * - `data.holdOut` h: M chunks of N·h/2 samples; member i holds out the chunks i and i + 1 mod M, so that two members
 *   hold out each chunk (Fredsgaard and Schmidt, 2025, "On joint regularization and calibration in deep ensembles",
 *   TMLR).
 * - `data.foldPerRank`: k folds of N/k samples, rounded down; member i holds out fold i mod k.
 *
 * Groups lie in one chunk as a whole; chunks have the strata in the same proportions. Chunks of windows of a series
 * follow each other in time, and no rank trains on a window that shares a step with one that it holds out (as purged
 * cross-validation: López de Prado, 2018, "Advances in financial machine learning", section 7.4). Where ranks then have
 * different numbers of samples, those with fewer have some of them twice.
 *
 * @returns null if the configuration asks for neither
 * @throws RangeError if a chunk has no sample, or a rank none to train on; Error if samples have several of groups,
 * strata and spans
 */
export function holdOutOf(
  config: Pick<RunConfig, 'data' | 'members' | 'strategy' | 'seed'>,
  train: Divided,
): HoldOut | null {
  const { data, seed } = config;
  if (!holdsOut(data)) return null;
  const members = memberCountOf(config);
  const { length } = train;
  const held = data.foldPerRank ? foldsOf(data.folds, members, length) : overlapping(data.holdOut, members, length);
  const holders = Array.from({ length: held.chunks }, (_, chunk) => held.ranksOf(chunk));
  requireSamples(held, holders, length);
  const chunks = chunksOf(train, held, data.foldPerRank, new Generator(seed, 'hold-out'));
  requireChunks(train, held, chunks);
  const rows = trainingRowsOf(train, chunks, holders);
  const most = Math.max(...rows.map((own) => own.length));
  return {
    rows: Int32Array.from(chunks.flatMap((chunk) => [...chunk])),
    heldOutBy: Int32Array.from(chunks.flatMap((chunk, i) => Array.from(chunk, () => holders[i]).flat())),
    trainingRows: (rank) => lengthened(rows[rank], most),
  };
}

/** The rows of each chunk. */
function chunksOf(train: Divided, { chunks, size }: Held, areFolds: boolean, generator: Generator): Int32Array[] {
  const { name, length, groups = null, strata = null, spans } = train;
  requireOneDivision(`"${name}"`, { groups, strata });
  const all = Int32Array.from({ length }, (_, row) => row);
  if (spans !== undefined) return blocksInTime(train, spans, { chunks, size });
  if (groups !== null) {
    const division = { groups, strata: null };
    if (areFolds) return foldsOfRows(all, chunks, division, generator);
    return chunksOfGroups(all, { count: chunks, size }, groups, generator);
  }
  if (strata !== null) {
    const division = { strata, groups: null };
    const held = takeRows(all, chunks * size, division, generator);
    return foldsOfRows(held, chunks, division, generator);
  }
  const order = generator.permutation(length);
  return Array.from({ length: chunks }, (_, chunk) => order.slice(chunk * size, (chunk + 1) * size));
}

/** Chunks of windows that follow each other, at the same distance from one chunk to the next. */
function blocksInTime(
  { name, length, groups, strata }: Divided,
  spans: Int32Array,
  { chunks, size }: Pick<Held, 'chunks' | 'size'>,
): Int32Array[] {
  if (groups !== undefined || strata !== undefined) {
    throw new Error(
      `The samples of "${name}" are windows of a series, which are held out in blocks of time. Leave out their ` +
        'groups and strata, or the spans.',
    );
  }
  const inTime = Int32Array.from({ length }, (_, row) => row).sort((a, b) => spans[2 * a] - spans[2 * b] || a - b);
  return Array.from({ length: chunks }, (_, chunk) => {
    const first = Math.floor((chunk * length) / chunks);
    return inTime.slice(first, first + size);
  });
}

/** The rows that each rank trains on, ascending. @throws RangeError if a rank has none */
function trainingRowsOf({ name, length, spans }: Divided, chunks: Int32Array[], holders: number[][]): Int32Array[] {
  const ranks = Math.max(...holders.flat()) + 1;
  return Array.from({ length: ranks }, (_, rank) => {
    const own = chunks.filter((_, chunk) => holders[chunk].includes(rank));
    const isHeld = new Uint8Array(length);
    for (const chunk of own) for (const row of chunk) isHeld[row] = 1;
    const steps = spans && stepsOf(spans, isHeld);
    const rows = Int32Array.from({ length }, (_, row) => row).filter(
      (row) => isHeld[row] === 0 && !steps?.isCovered(spans?.[2 * row] ?? 0, spans?.[2 * row + 1] ?? 0),
    );
    if (rows.length > 0) return rows;
    throw new RangeError(
      `Rank ${rank} has no sample of "${name}" left to train on: it holds out those in ` +
        `${own.length === 1 ? 'one chunk' : `${own.length} chunks`}, and the others belong to them. Hold out a ` +
        'smaller share, or use other folds.',
    );
  });
}

/** The steps of a series that held-out windows cover. */
function stepsOf(spans: Int32Array, isHeld: Uint8Array) {
  const covered = isHeld.reduce<[number, number][]>((all, held, row) => {
    if (held === 1) all.push([spans[2 * row], spans[2 * row + 1]]);
    return all;
  }, []);
  const origin = spans.reduce((least, step) => Math.min(least, step), Infinity);
  const end = spans.reduce((last, step) => Math.max(last, step), -Infinity);
  // Step s of the series counts how many covered steps come before it.
  const before = new Int32Array(end - origin + 1);
  for (const [first, next] of covered) for (let step = first; step < next; step++) before[step - origin + 1] = 1;
  for (let step = 1; step < before.length; step++) before[step] += before[step - 1];
  return { isCovered: (first: number, next: number): boolean => before[next - origin] > before[first - origin] };
}

/** Rows, and as many of them again, evenly spread, as they are fewer than `length`. */
function lengthened(rows: Int32Array, length: number): Int32Array {
  const missing = length - rows.length;
  const again = Int32Array.from({ length: missing }, (_, i) => rows[Math.floor((i * rows.length) / missing)]);
  return missing === 0 ? rows : Int32Array.from([...rows, ...again]);
}

function overlapping(share: number, members: MemberCount, length: number): Held {
  // Rounding must not ask for more samples than there are.
  const size = Math.min(Math.round((length * share) / 2), Math.floor(length / members));
  const before = (chunk: number): number => (chunk + members - 1) % members;
  return { chunks: members, size, ranksOf: (chunk) => [chunk, before(chunk)].toSorted((a, b) => a - b) };
}

function foldsOf(folds: number, members: MemberCount, length: number): Held {
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

/** @throws RangeError if groups are too large for some chunk to have one */
function requireChunks({ name, groups }: Divided, { size }: Held, chunks: readonly Int32Array[]): void {
  if (chunks.every((chunk) => chunk.length > 0)) return;
  throw new RangeError(
    `The samples of "${name}" lie in ${new Set(groups).size} groups, which stay together: they do not give ` +
      `${chunks.length} chunks, one or more groups in each, of about ${size} samples. Hold out a larger share, or ` +
      'use fewer folds or members.',
  );
}

/**
 * The splits with what ranks hold out as the validation split.
 * @throws Error if the project also gives a validation split
 */
export function withHoldOut(splits: Splits, holdOut: HoldOut | null): Splits {
  if (holdOut === null) return splits;
  const { train, validation } = splits;
  if (validation !== undefined) {
    throw new Error(
      `The ranks validate on samples of "${train.name}" that they hold out, but data() also returns the validation ` +
        `split "${validation.name}". Return no validation split where config.data.holdOut is above 0 or ` +
        'config.data.foldPerRank is set, or turn these options off.',
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
