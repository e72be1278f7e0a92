import type { ChartSeries } from '../../../charts/types.ts';
import type { MetricColumns } from '../../../stores/metric-columns.ts';
import { type TimeAnchor, timeMsAt } from '../live/run-times.ts';

/** Input of the x axes of a run's charts. */
export interface AxisBase {
  /** Null if unknown: then epochs are whole numbers. */
  stepsPerEpoch: number | null;
  startMs: number;
  /** Called for points without times. */
  anchors(): readonly TimeAnchor[];
}

/** A metric's points as a line of a chart has them, with its columns for all x axes. */
export type LineColumns = Pick<ChartSeries, 'x' | 'y' | 'length' | 'stepsPerPoint' | 'version'>;

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
    const isTimed = length > 0 && time[length - 1] > 0;
    return {
      x: { step, epoch, time: isTimed ? time : null },
      y: value,
      length,
      stepsPerPoint: source.isThinned ? source.stepsPerPoint : undefined,
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
