import type { StrategyConfig } from '../../../protocol/run-config.ts';
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
 * All members' logits `[B, K]` become their sum.
 *
 * - `gather`: every rank receives everyone's and sums them itself: 1 + M times B·K floats a rank.
 * - `reduce` and `pipelined`: they are summed on the way: 2·B·K floats a rank, however many members there are.
 *
 * Both sum in rank order, so the results agree bit for bit.
 */
export async function sumLogits(
  group: ProcessGroup,
  mode: JointConfig['mode'],
  logits: Float32Array,
): Promise<SummedLogits> {
  if (mode === 'gather') {
    const all = await group.allGather(logits);
    return { sum: sumInOrder(all), bytes: logits.byteLength * (1 + all.length) };
  }
  const sum = await group.allReduce(logits, 'sum');
  return { sum, bytes: logits.byteLength + sum.byteLength };
}
