import { z } from 'zod';
import { packedLength, unpackBfloat16 } from '../../../core/compression/stochastic-rounding.ts';
import type { NamedTensor } from '../../../core/safetensors/safetensors.ts';
import type { RuleOptimizer } from '../../optimizers/optimizer.ts';
import { assignSlot, type SlotStorage } from '../../optimizers/slots/slot-storage.ts';
import type { Segment } from '../data-parallel/flat-layout.ts';
import type { EarlierRanks } from '../strategy.ts';
import { segmentsOf, type Unit } from './units.ts';
import type { WeightSlice } from './weight-slice.ts';

/** What a rank saves of its slice. `optimizerSteps` has one count for each tensor, or part of one, in it. */
export const savedSliceSchema = z.strictObject({ optimizerSteps: z.array(z.int()) });

interface Slice {
  slice: WeightSlice;
  optimizer: RuleOptimizer;
  /** Whether saved states have the slices of the weights, too. */
  keepsWeights: boolean;
}

/**
 * Gives a rank its slice of what another number of ranks has saved: of the optimizer's state and, where no rank has
 * whole weights, of the weights. Each element keeps its value, and each tensor its number of updates. Reads the states
 * of one earlier rank after the other, so that there is one at a time.
 *
 * @param units the weights as the earlier ranks shared them out
 * @throws Error if a state does not fit the model
 */
export async function divideAnew(
  earlierRanks: EarlierRanks,
  units: readonly Unit[],
  { slice, optimizer, keepsWeights }: Slice,
): Promise<void> {
  const own = slice.segments;
  const storages: [string, SlotStorage][] = optimizer.slotKinds.map((kind) => [kind, optimizer.storage]);
  if (keepsWeights) storages.push(['slice', slice.storage]);
  const parts = new Map(storages.map(([kind]) => [kind, own.map(({ start, end }) => new Float32Array(end - start))]));
  const steps = own.map(() => 0);
  for (let rank = 0; rank < earlierRanks.worldSize; rank += 1) {
    const earlier = segmentsOf(units, rank);
    const common = own.flatMap((to, i) => earlier.flatMap((from, j) => overlapOf(from, to, j, i) ?? []));
    if (common.length === 0) continue;
    const { tensors, data } = await earlierRanks.read(rank);
    const { optimizerSteps } = savedSliceSchema.parse(data);
    for (const { from, to } of common) steps[to] = optimizerSteps[from];
    for (const [kind, arrays] of parts) {
      for (const { from, to, at, into, length } of common) {
        const { start, end } = earlier[from];
        const values = valuesOf(tensors, `${kind}.${from}`, end - start, rank);
        arrays[to].set(values.subarray(at, at + length), into);
      }
    }
  }
  for (const [kind, storage] of storages) {
    for (const [i, values] of (parts.get(kind) ?? []).entries()) assignSlot(storage, `${kind}.${i}`, values);
  }
  optimizer.steps = steps;
}

interface Overlap {
  /** Indices of the earlier segment and of this rank's. */
  from: number;
  to: number;
  /** The first common element in the earlier segment, and in this rank's. */
  at: number;
  into: number;
  length: number;
}

function overlapOf(earlier: Segment, own: Segment, from: number, to: number): Overlap | null {
  if (earlier.tensor !== own.tensor) return null;
  const first = Math.max(earlier.first, own.first);
  const last = Math.min(endOf(earlier), endOf(own));
  if (first >= last) return null;
  return { from, to, at: first - earlier.first, into: first - own.first, length: last - first };
}

/** Element of the tensor after the segment's last. */
function endOf({ first, start, end }: Segment): number {
  return first + end - start;
}

function valuesOf(tensors: readonly NamedTensor[], name: string, size: number, rank: number): Float32Array {
  const tensor = tensors.find((saved) => saved.name === name);
  const values = tensor === undefined ? null : decoded(tensor, size);
  if (values?.length === size) return values;
  const found = tensor === undefined ? 'is missing' : `has the shape [${tensor.shape.join(', ')}]`;
  throw new Error(
    `In the state of rank ${rank}, "${name}" ${found}, and this model needs ${size} values: it belongs to another ` +
      'model or optimizer. Resume with the project and options that saved it.',
  );
}

/** Packed bfloat16 lies in integers. */
function decoded({ dtype, data }: NamedTensor, size: number): Float32Array | null {
  if (dtype !== 'I32') return data as Float32Array;
  if (data.length !== packedLength(size)) return null;
  const values = new Float32Array(size);
  unpackBfloat16(data, values);
  return values;
}
