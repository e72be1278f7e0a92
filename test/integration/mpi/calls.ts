import { createHash } from 'node:crypto';
import type { CollectiveArray, ReduceOperation } from '../../../core/protocol/wire/collectives.ts';
import { Parts } from '../../../workers/collectives/parts.ts';
import type { ProcessGroup } from '../../../workers/collectives/process-group.ts';

/** Collectives whose results ranks compare, by MPI and through the relay. */

type Result = CollectiveArray | null | readonly CollectiveArray[];

/** Neither a multiple of the ranks nor of a vector: in slots, as one message, and in several pieces. */
const lengths = [7, 1001, 30_011, 400_003];
const operations: readonly ReduceOperation[] = ['sum', 'mean', 'min', 'max'];

/** Thirds and their magnitudes have no exact float, so the order of a sum matters. */
const thirds = (rank: number, length: number): Float32Array =>
  Float32Array.from({ length }, (_, i) => ((i % 977) - rank * 1000) / 3 + (i % 13) * 1e5);

const doubles = (rank: number, length: number): Float64Array => Float64Array.from(thirds(rank, length), Math.cbrt);

function reductions(length: number): [string, (group: ProcessGroup) => Promise<Result>][] {
  // Large ones take long to make.
  const used = length > 100_000 ? operations.slice(1, 3) : operations;
  return used.flatMap((operation) => [
    [`float32 ${operation} of ${length}`, (group) => group.allReduce(thirds(group.rank, length), operation)],
    [`float64 ${operation} of ${length}`, (group) => group.allReduce(doubles(group.rank, length), operation)],
  ]);
}

function others(length: number): [string, (group: ProcessGroup) => Promise<Result>][] {
  const ofAll = (group: ProcessGroup): number => length * group.worldSize;
  return [
    [`all-gather of ${length}`, (group) => group.allGather(thirds(group.rank, length))],
    [`integers of ${length}`, (group) => group.allReduce(new Int32Array(length).fill(3 + group.rank), 'sum')],
    [`bfloat16 of ${length}`, (group) => group.allReduce(new Uint16Array(length).fill(0x3f81 + group.rank), 'sum')],
    [`broadcast of ${length}`, (group) => group.broadcast(thirds(group.rank, length), 1)],
    [`shift of ${length}`, (group) => group.shift(doubles(group.rank, length), 1, group.rank !== 1)],
    [`reduce-scatter of ${length}`, (group) => group.reduceScatter(thirds(group.rank, ofAll(group)), 'sum')],
    [`in place, ${length}`, (group) => inPlace(group, length)],
    [`parts of ${length}`, (group) => inParts(group, length)],
  ];
}

async function inPlace(group: ProcessGroup, length: number): Promise<Result> {
  const own = thirds(group.rank, length);
  if ((await group.allReduce(own, 'sum', own)) !== own) throw new Error('The result is not in its place.');
  return own;
}

async function inParts(group: ProcessGroup, length: number): Promise<Result> {
  const whole = thirds(group.rank, length);
  const cut = Math.floor(length / 3);
  const parts = [whole.slice(0, cut), whole.slice(cut)];
  await group.allReduceParts(new Parts(length, () => parts), 'float32', 'mean');
  return parts;
}

async function severalUnderWay(group: ProcessGroup): Promise<Result> {
  const pending = Array.from({ length: 11 }, (_, turn) => group.allGather(Int32Array.of(100 * turn + group.rank)));
  const large = group.allReduce(thirds(group.rank, 100_003), 'max');
  const barrier = group.barrier();
  const gathered = (await Promise.all(pending)).flat();
  await barrier;
  return [...gathered, await large];
}

/**
 * Every rank sends to every other one, before any receives: arrays that travel with their heads, in one piece, and in
 * more than are under way at a time.
 */
async function messages(group: ProcessGroup): Promise<Result> {
  const { rank, ranks } = group;
  const others = ranks.filter((other) => other !== rank);
  const sent = [
    doubles(rank, 7),
    new Uint8Array(0),
    new Uint8Array(201).fill(rank),
    thirds(rank, 16_000),
    thirds(rank, 16_001),
    doubles(rank, 700_002),
  ];
  for (const other of others) for (const array of sent) group.send(array, other, [1, array.length]);
  const received: CollectiveArray[] = [];
  for (const other of others) {
    for (const _ of sent) {
      const { data, shape } = await group.receiveFrom(other);
      received.push(data, Int32Array.from(shape));
    }
  }
  return received;
}

const calls = [
  ['messages', messages] as const,
  ...lengths.flatMap((length) => [...reductions(length), ...others(length)]),
  ['several under way', severalUnderWay] as const,
];

/**
 * Makes all calls one after the other.
 * @returns a line for each: its name, and the SHA-256 of the bits of its result
 */
export async function makeCalls(group: ProcessGroup): Promise<string[]> {
  const lines: string[] = [];
  for (const [name, call] of calls) {
    const result = await call(group);
    const arrays: readonly (CollectiveArray | null)[] = isArrays(result) ? result : [result];
    const hash = createHash('sha256');
    for (const array of arrays) hash.update(array === null ? 'null' : bytesOf(array));
    lines.push(`${name}: ${hash.digest('hex')}`);
  }
  return lines;
}

const isArrays = (result: Result): result is readonly CollectiveArray[] => Array.isArray(result);
const bytesOf = ({ buffer, byteOffset, byteLength }: CollectiveArray): Uint8Array =>
  new Uint8Array(buffer, byteOffset, byteLength);

/** Results that a reader can compute: of ranks 0, 1, 2 ... with arrays [rank, 10 rank]. */
export async function makeSmallCalls(group: ProcessGroup): Promise<Record<string, number[] | null>> {
  const { rank, worldSize } = group;
  const own = Float32Array.of(rank, 10 * rank);
  const gathered = await group.allGather(own);
  const shifted = await group.shift(own, 1, true);
  return {
    sum: [...(await group.allReduce(own, 'sum'))],
    mean: [...(await group.allReduce(own, 'mean'))],
    gathered: gathered.flatMap((array) => [...array]),
    broadcast: [...(await group.broadcast(own, worldSize - 1))],
    scattered: [...(await group.reduceScatter(new Float32Array(worldSize).fill(rank), 'sum'))],
    shifted: shifted === null ? null : [...shifted],
  };
}
