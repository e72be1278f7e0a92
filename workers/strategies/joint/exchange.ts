import type { StrategyConfig } from '../../../core/protocol/run/config.ts';
import type { ProcessGroup } from '../../collectives/process-group.ts';
import { sumInOrder } from './product.ts';

export type JointConfig = Extract<StrategyConfig, { kind: 'joint' }>;

export interface SummedLogits {
  /** Σ_m z_m, shape `[B, K]`: the same bits on every rank. */
  sum: Float32Array;
  /** Bytes of arrays that this rank sent and received. */
  bytes: number;
}

/**
 * Sums the logits `[B, K]` of all M members.
 *
 * - `gather`: every rank receives all logits and sums them: (1 + M)·B·K floats per rank.
 * - `reduce` and `pipelined`: an all-reduce: 2·B·K floats per rank, for any number of members.
 * - `tree`: ranks sum in pairs, pairs of pairs and so on, and the first broadcasts the sum: 2·B·K floats for most ranks,
 *   (1 + log2 M)·B·K for the first, and no rank sums more than log2 M arrays.
 *
 * The first two sum in rank order, so their results agree bit for bit; a tree's sums are rounded in another order.
 */
export async function sumLogits(
  group: ProcessGroup,
  mode: JointConfig['mode'],
  logits: Float32Array,
): Promise<SummedLogits> {
  if (mode === 'tree') return await sumAlongTree(group, logits);
  if (mode === 'gather') {
    const all = await group.allGather(logits);
    return { sum: sumInOrder(all), bytes: logits.byteLength * (1 + all.length) };
  }
  const sum = await group.allReduce(logits, 'sum');
  return { sum, bytes: logits.byteLength + sum.byteLength };
}

/** At distance 1, 2, 4, ... every second of the remaining ranks sends its sum to the one before it. */
async function sumAlongTree(group: ProcessGroup, logits: Float32Array): Promise<SummedLogits> {
  const position = group.ranks.indexOf(group.rank);
  let sum = logits;
  let bytes = logits.byteLength;
  for (let distance = 1; distance < group.worldSize; distance *= 2) {
    const sends = position % (2 * distance) === distance;
    const received = await group.shift(sum, distance, sends);
    if (received === null || position % (2 * distance) !== 0) continue;
    sum = sumInOrder([sum, received]);
    bytes += received.byteLength;
  }
  const total = await group.broadcast(sum, group.ranks[0]);
  return { sum: total, bytes: position === 0 ? bytes : bytes + total.byteLength };
}
