import type { RunEvent, RunRecord } from '../../core/protocol/run/record.ts';
import type { MetricRows } from '../store/metrics/metric-rows.ts';
import { encodeFileVersion, encodeScalars } from './event-file.ts';

/** A metric with its place in TensorBoard, which draws the same tag of several runs (subfolders) in one chart. */
interface Series {
  column: number;
  run: string;
  tag: string;
}

/**
 * Splits metrics into one event file for the ensemble and one for each member, so that the curves of ensemble and
 * members share a chart: `val/ens_nll` becomes `val/nll` of `ensemble`, `val/member_3_nll` becomes `val/nll` of
 * `member-3`. All other metrics keep their names, in `ensemble`.
 * @returns paths in `tensorboard/`, and the content of each file, piece by piece
 */
export function eventFiles(
  record: RunRecord,
  events: readonly RunEvent[],
  rows: MetricRows,
): { path: string; content: () => AsyncGenerator<Buffer> }[] {
  const series = placeMetrics(rows.columns);
  const wallTimeMs = wallClock(record, events, rows.lastStep);
  const startSeconds = Date.parse(record.createdAt) / 1000;
  return [...new Set(series.map(({ run }) => run))].sort().map((run) => ({
    path: `${run}/events.out.tfevents.${String(Math.floor(startSeconds)).padStart(10, '0')}.tutti`,
    async *content() {
      const own = series.filter((other) => other.run === run);
      yield encodeFileVersion(startSeconds);
      for await (const portion of rows) {
        const records = portion.flatMap(({ step, cells }) => {
          const scalars = scalarsOf(own, cells);
          return scalars.length === 0 ? [] : [encodeScalars(wallTimeMs(step) / 1000, step, scalars)];
        });
        yield Buffer.concat(records);
      }
    },
  }));
}

function scalarsOf(series: readonly Series[], cells: readonly (number | null)[]): [tag: string, value: number][] {
  return series.flatMap(({ tag, column }) => {
    const value = cells[column];
    return value === null ? [] : [[tag, value]];
  });
}

function placeMetrics(metrics: readonly string[]): Series[] {
  const names = new Set(metrics);
  return metrics.map((metric, column) => ({ column, ...placeMetric(metric, names) }));
}

function placeMetric(metric: string, names: ReadonlySet<string>): { run: string; tag: string } {
  const member = /^(.*\/)?member_(\d+)_(.+)$/.exec(metric);
  if (member !== null) return { run: `member-${member[2]}`, tag: `${member[1] ?? ''}${member[3]}` };
  const tag = metric.replace(/^(.*\/)?ens_(.+)$/, '$1$2');
  // If another metric already has the short name, two curves would become one.
  return { run: 'ensemble', tag: names.has(tag) ? metric : tag };
}

/**
 * The time of a step, in milliseconds since 1970. The rows have no times, so they are interpolated between the events
 * that have a step, from the run's creation to its end, and never decrease.
 */
function wallClock(record: RunRecord, events: readonly RunEvent[], lastStep: number): (step: number) => number {
  const anchors = [{ step: 0, timeMs: Date.parse(record.createdAt) }];
  const end = record.endedAt === null ? [] : [{ step: lastStep, time: record.endedAt }];
  for (const { step, time } of [...events, ...end]) {
    const { step: earlierStep, timeMs: earlierMs } = anchors[anchors.length - 1];
    const timeMs = Date.parse(time);
    if (step !== null && step > earlierStep && timeMs >= earlierMs) anchors.push({ step, timeMs });
  }
  return (step) => interpolate(anchors, step);
}

function interpolate(anchors: readonly { step: number; timeMs: number }[], step: number): number {
  const after = anchors.findIndex((anchor) => anchor.step >= step);
  if (after === -1) return anchors[anchors.length - 1].timeMs;
  if (after === 0) return anchors[0].timeMs;
  const [from, to] = [anchors[after - 1], anchors[after]];
  return from.timeMs + ((to.timeMs - from.timeMs) * (step - from.step)) / (to.step - from.step);
}
