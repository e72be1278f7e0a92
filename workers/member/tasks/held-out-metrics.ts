import type { Dataset } from '../../data/dataset.ts';
import { gatherExtras, gatherRows } from '../../data/fields.ts';
import { rowsHeldOutBy } from '../../data/hold-out.ts';
import type { MemberOutputs } from '../predictions.ts';
import type { MetricsOf } from './task.ts';

/**
 * A task's metrics where members held out different samples: each member is judged on its own, and the ensemble of a
 * sample consists of the members that held it out, as many for every sample. Metrics of an ensemble whose other members
 * are missing are left out.
 */
export function withHeldOut(metricsOf: MetricsOf): MetricsOf {
  return (stack, dataset, options) => {
    if (dataset.heldOutBy === undefined) return metricsOf(stack, dataset, options);
    const metrics = new Map<string, number>();
    const holders = holdersOf(stack, dataset);
    if (holders !== null) {
      for (const [name, value] of metricsOf(holders, dataset, options)) if (!isOfMember(name)) metrics.set(name, value);
    }
    for (const [position, rank] of stack.ranks.entries()) {
      const rows = rowsHeldOutBy(dataset, rank) ?? new Int32Array(0);
      const own = { ...rowsOf(stack, position, rows, dataset.length), ranks: [rank] };
      for (const [name, value] of metricsOf(own, part(dataset, rows), options)) {
        if (isOfMember(name)) metrics.set(name, value);
      }
    }
    return metrics;
  };
}

function isOfMember(name: string): boolean {
  return /^member_\d+_/.test(name);
}

/** @param length samples of the split, each of which may have several positions */
function rowsOf(
  { values, width, samples, ...others }: MemberOutputs,
  position: number,
  rows: Int32Array,
  length: number,
) {
  const size = samples * width;
  const own = values.map((output) => gatherRows(output.subarray(position * size, (position + 1) * size), length, rows));
  return { ...others, width, samples: (rows.length * samples) / length, values: own };
}

/**
 * For each sample the predictions of the P members that held it out, `[P, N, W]`; null if some of them are not there.
 */
function holdersOf(stack: MemberOutputs, { heldOutBy = new Int32Array(0), length }: Dataset): MemberOutputs | null {
  const { ranks, samples } = stack;
  const width = (samples * stack.width) / length;
  const each = heldOutBy.length / length;
  const positions = heldOutBy.map((rank) => ranks.indexOf(rank));
  if (positions.includes(-1)) return null;
  const size = length * width;
  const values = stack.values.map((output) => {
    const chosen = new Float32Array(each * size);
    positions.forEach((position, i) => {
      const [sample, holder] = [Math.floor(i / each), i % each];
      const from = position * size + sample * width;
      chosen.set(output.subarray(from, from + width), holder * size + sample * width);
    });
    return chosen;
  });
  return { ...stack, ranks: Array.from({ length: each }, (_, holder) => holder), values };
}

/** Samples of a split for metrics. Features are only copied for a metric that reads them. */
function part(dataset: Dataset, rows: Int32Array): Dataset {
  const { features: _, heldOutBy: __, length, targets, source, ...others } = dataset;
  const own = {
    ...others,
    length: rows.length,
    targets: gatherRows(targets, length, rows),
    ...gatherExtras(dataset, length, rows),
    get features() {
      return source === undefined ? gatherRows(dataset.features, length, rows) : dataset.features;
    },
  };
  return own;
}
