import { tmpdir } from 'node:os';
import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { startBackend } from '../../../../workers/backends/backend.ts';
import { readTensors } from '../../../../workers/member/weights.ts';
import { createOptimizer } from '../../../../workers/optimizers/optimizers.ts';
import { Bfloat16Slots } from '../../../../workers/optimizers/slots/bfloat16-slots.ts';
import { FileSlots } from '../../../../workers/optimizers/slots/file-slots.ts';
import { Packing } from '../../../../workers/optimizers/slots/packing.ts';
import { assignSlot, type SlotStorage, TensorSlots } from '../../../../workers/optimizers/slots/slot-storage.ts';
import { divideAnew } from '../../../../workers/strategies/sharded/divide-anew.ts';
import {
  asOneUnit,
  inBuckets,
  segmentsOf,
  sliceLengthOf,
  type Unit,
} from '../../../../workers/strategies/sharded/units.ts';
import { WeightSlice } from '../../../../workers/strategies/sharded/weight-slice.ts';
import { tf, type Variable } from '../../../../workers/tensorflow/tf.ts';
import { runConfigSchema } from '../../../../core/protocol/run/config.ts';

beforeAll(async () => void (await startBackend('cpu')));

const { optimizer: config } = runConfigSchema.parse({ optimizer: { kind: 'adam', learningRate: 0.1 } });
const folder = tmpdir();

const storages: Record<string, () => SlotStorage> = {
  'float32 tensors': () => new TensorSlots(),
  'packed bfloat16': () => new Bfloat16Slots(3),
  'a file': () => new FileSlots(folder, null),
  'a file of packed bfloat16': () => new FileSlots(folder, new Packing(4)),
};

/** A number for an element of a tensor's slot, exact in bfloat16. */
const valueOf = (kind: number, tensor: number, element: number): number =>
  ((kind * 67 + tensor * 31 + element * 7) % 127) + 1;

interface Rank {
  slice: WeightSlice;
  optimizer: ReturnType<typeof createOptimizer>;
}

function createRank(units: readonly Unit[], position: number, storage: () => SlotStorage): Rank {
  const slice = new WeightSlice(new Float32Array(sliceLengthOf(units)), segmentsOf(units, position), storage());
  return { slice, optimizer: createOptimizer(config, slice, storage()) };
}

/** Slot kinds with their storages; weights have the number -1. */
const partsOf = ({ slice, optimizer }: Rank): [string, number, SlotStorage][] => [
  ...optimizer.slotKinds.map((kind, i): [string, number, SlotStorage] => [kind, i, optimizer.storage]),
  ['slice', -1, slice.storage],
];

function fill(rank: Rank): void {
  rank.optimizer.steps = rank.slice.segments.map(({ tensor }) => 10 + tensor);
  for (const [kind, number, storage] of partsOf(rank)) {
    rank.slice.segments.forEach(({ tensor, start, end, first }, i) => {
      const values = Float32Array.from({ length: end - start }, (_, j) => valueOf(number + 1, tensor, first + j));
      assignSlot(storage, `${kind}.${i}`, values);
    });
  }
}

async function save({ slice, optimizer }: Rank) {
  const { storage } = slice;
  const tensors = await readTensors(new Map([...optimizer.slots, ...storage.tensors]));
  const inFiles = [...(optimizer.files?.read() ?? []), ...(storage.files?.read() ?? [])];
  return { tensors: [...tensors, ...inFiles], data: { optimizerSteps: [...optimizer.steps] } };
}

function expectFilled(rank: Rank): void {
  expect(rank.optimizer.steps).toEqual(rank.slice.segments.map(({ tensor }) => 10 + tensor));
  for (const [kind, number, storage] of partsOf(rank)) {
    rank.slice.segments.forEach(({ tensor, start, end, first }, i) => {
      const slot = storage.open(`${kind}.${i}`);
      const expected = Array.from({ length: end - start }, (_, j) => valueOf(number + 1, tensor, first + j));
      expect([...slot.dataSync()]).toEqual(expected);
      storage.discard(slot);
    });
  }
}

const layouts = {
  'one unit': (variables: Variable[], worldSize: number) => asOneUnit(variables, worldSize),
  buckets: (variables: Variable[], worldSize: number) =>
    inBuckets(variables, { firstUse: variables.map((_, i) => i) } as never, 40, worldSize),
};

describe.each(Object.entries(storages))('slices in %s', (_, storage) => {
  it.each(Object.entries(layouts))('that other ranks take over keep each value and count: %s', async (_, unitsFor) => {
    const draws = fc.record({
      sizes: fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 5 }),
      before: fc.integer({ min: 1, max: 5 }),
      now: fc.integer({ min: 1, max: 5 }),
    });
    await fc.assert(
      fc.asyncProperty(draws, async ({ sizes, before, now }) => {
        const variables = sizes.map((size) => tf.variable(tf.zeros([size])));
        const earlierUnits = unitsFor(variables, before);
        const earlier = Array.from({ length: before }, (_, rank) => createRank(earlierUnits, rank, storage));
        for (const rank of earlier) fill(rank);
        const units = unitsFor(variables, now);
        for (let position = 0; position < now; position += 1) {
          const rank = createRank(units, position, storage);
          const read = (other: number) => save(earlier[other]);
          await divideAnew({ worldSize: before, read }, earlierUnits, { ...rank, keepsWeights: true });
          expectFilled(rank);
        }
      }),
      { numRuns: 15 },
    );
  });
});

describe('a state of another model', () => {
  it('is refused with the name of the array', async () => {
    const one = [tf.variable(tf.zeros([6]))];
    const other = [tf.variable(tf.zeros([10]))];
    const earlier = createRank(asOneUnit(other, 2), 0, storages['float32 tensors']);
    fill(earlier);
    const rank = createRank(asOneUnit(one, 1), 0, storages['float32 tensors']);
    const divided = divideAnew({ worldSize: 2, read: () => save(earlier) }, asOneUnit(one, 2), {
      ...rank,
      keepsWeights: false,
    });
    await expect(divided).rejects.toThrow(
      /In the state of rank 0, ".*\.0" has the shape \[5\], and this model needs 3 values/,
    );
  });
});
