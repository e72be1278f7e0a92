/**
 * Metric points, by column: `value[i]` belongs to metric `names[nameIndex[i]]` at `epoch[i]`, `step[i]`. The arrays are a frame's
 * payload, not JSON, so NaN and infinities are preserved.
 */
export interface PointBatch {
  names: string[];
  /** Index into `names`, shape [P]. */
  nameIndex: Int32Array;
  /** Zero-based epoch, shape [P]. */
  epoch: Int32Array;
  /** Steps done so far, shape [P]. */
  step: Int32Array;
  /** shape [P]. */
  value: Float64Array;
  /** Milliseconds since 1970, shape [P]. */
  timeMs: Float64Array;
}
