import type { MetricColumns } from '../../../../stores/metric-columns.ts';
import { type TimeAnchor, timeMsAt } from '../run-times.ts';

/** Input of the x axes of a run's charts. */
export interface AxisBase {
  /** Null if unknown: then epochs are whole numbers. */
  stepsPerEpoch: number | null;
  startMs: number;
  /** Called for points without times. */
  anchors(): readonly TimeAnchor[];
}

/** A metric's points with the columns of all x axes; only the first `length` elements count. */
export interface LineColumns {
  step: Int32Array;
  /** Completed epochs, fractional. */
  epoch: Float64Array;
  /** Seconds since the run's start; null if only the start is known. */
  time: Float64Array | null;
  value: Float64Array;
  length: number;
  /** Mean distance of the points that were measured, in steps, where these are only some of them; else undefined. */
  stepsPerPoint?: number | undefined;
  /** Changes when existing points change, but not when points are appended. */
  version: number;
}

interface Kept {
  source: MetricColumns;
  epoch: Float64Array;
  time: Float64Array;
}

/** Computes the axes of metrics as their points arrive, and caches them. */
export class LineColumnsCache {
  readonly #kept = new Map<string, Kept>();
  readonly #base: AxisBase;

  constructor(base: AxisBase) {
    this.#base = base;
  }

  columnsOf(source: MetricColumns): LineColumns {
    const known = this.#kept.get(source.name);
    const before = known?.source.version === source.version ? known : null;
    const kept = allocate(source, before);
    this.#fill(kept, before?.source.length ?? 0);
    this.#kept.set(source.name, kept);
    const { epoch, time } = kept;
    const { step, value, length, version } = source;
    const stepsPerPoint = source.isThinned ? source.stepsPerPoint : undefined;
    return {
      step,
      epoch,
      time: length > 0 && time[length - 1] > 0 ? time : null,
      value,
      length,
      stepsPerPoint,
      version,
    };
  }

  #fill({ source, epoch, time }: Kept, from: number): void {
    const { stepsPerEpoch, startMs } = this.#base;
    const lacksTimes = from < source.length && Number.isNaN(source.timeMs[from]);
    const anchors = lacksTimes ? this.#base.anchors() : [];
    let latest = from === 0 ? 0 : time[from - 1];
    for (let index = from; index < source.length; index++) {
      const step = source.step[index];
      epoch[index] = stepsPerEpoch === null ? source.epoch[index] + 1 : step / stepsPerEpoch;
      const timeMs = Number.isNaN(source.timeMs[index]) ? timeMsAt(step, anchors) : source.timeMs[index];
      // Estimates and clocks differ slightly, but an axis must not go backwards.
      latest = Math.max(latest, (timeMs - startMs) / 1000);
      time[index] = latest;
    }
  }
}

function allocate(source: MetricColumns, before: Kept | null): Kept {
  const none = new Float64Array();
  return {
    source,
    epoch: withCapacity(before?.epoch ?? none, source),
    time: withCapacity(before?.time ?? none, source),
  };
}

function withCapacity(column: Float64Array, { step }: MetricColumns): Float64Array {
  if (column.length >= step.length) return column;
  const grown = new Float64Array(step.length);
  grown.set(column);
  return grown;
}
