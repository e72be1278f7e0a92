import type { LayerPlan } from '../../layered/layered-pass.ts';
import type { Variable } from '../../tensorflow/tf.ts';
import { FlatLayout, type Segment } from '../data-parallel/flat-layout.ts';

/**
 * Some of a model's trained weights as one flat array, padded to a multiple of N, of which each of N ranks owns an
 * equal slice.
 */
export interface Unit {
  /** Indices among the model's variables. */
  indices: readonly number[];
  variables: readonly Variable[];
  layout: FlatLayout;
  /** Padded. */
  length: number;
  sliceLength: number;
  /** First element of the unit's slice among a rank's slices of all units, one after the other. */
  offset: number;
}

/** All weights as one unit. */
export function asOneUnit(variables: readonly Variable[], worldSize: number): Unit[] {
  return unitsOf([variables.map((_, i) => i)], variables, worldSize);
}

/**
 * Units of at least `bucketBytes` (the last may be smaller), beginning with the weights whose gradients the backward
 * pass completes first (Li et al., 2020, section 3.2.3).
 */
export function inBuckets(
  variables: readonly Variable[],
  { firstUse }: LayerPlan,
  bucketBytes: number,
  worldSize: number,
): Unit[] {
  const order = variables.map((_, i) => i).sort((a, b) => firstUse[b] - firstUse[a] || b - a);
  const buckets: number[][] = [];
  let bytes = Infinity;
  for (const index of order) {
    if (bytes >= bucketBytes) {
      buckets.push([]);
      bytes = 0;
    }
    buckets[buckets.length - 1].push(index);
    bytes += 4 * variables[index].size;
  }
  return unitsOf(buckets, variables, worldSize);
}

/** One unit for each layer with trained weights. */
export function byLayer(variables: readonly Variable[], { firstUse }: LayerPlan, worldSize: number): Unit[] {
  const layers = [...new Set(firstUse)].sort((a, b) => a - b);
  const indices = layers.map((layer) => firstUse.flatMap((use, i) => (use === layer ? [i] : [])));
  return unitsOf(indices, variables, worldSize);
}

/** The tensors, or parts of them, in one rank's slices. @param position of the rank in the group */
export function segmentsOf(units: readonly Unit[], position: number): Segment[] {
  return units.flatMap(({ layout, sliceLength, offset, indices }) =>
    layout.segments(position * sliceLength, (position + 1) * sliceLength).map(({ tensor, start, end, first }) => ({
      tensor: indices[tensor],
      start: start + offset,
      end: end + offset,
      first,
    })),
  );
}

/** S, the length of a rank's slices of all units. */
export function sliceLengthOf(units: readonly Unit[]): number {
  return units.reduce((sum, { sliceLength }) => sum + sliceLength, 0);
}

function unitsOf(all: readonly (readonly number[])[], variables: readonly Variable[], worldSize: number): Unit[] {
  let offset = 0;
  return all.map((indices) => {
    const own = indices.map((index) => variables[index]);
    const layout = new FlatLayout(own);
    const sliceLength = Math.ceil(layout.length / worldSize);
    const unit = { indices, variables: own, layout, length: sliceLength * worldSize, sliceLength, offset };
    offset += sliceLength;
    return unit;
  });
}
