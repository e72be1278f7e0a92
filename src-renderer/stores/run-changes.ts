import type { DeviceLoadColumns, LoadSample } from '../../core/protocol/machine/devices.ts';
import type { RankView, RunView } from '../../core/protocol/pages/run-views.ts';
import { type EvaluatedSet, ownSummary, type RunEvent } from '../../core/protocol/run/record.ts';
import type { RunUpdate } from '../../core/protocol/pages/run-updates.ts';

/** Updates that change a run's view; points and device loads are kept beside it. */
export type ViewUpdate = Exclude<RunUpdate, { type: 'points' | 'device-loads' }>;

/** The view of a run after one update. */
export function applyUpdate(view: RunView, update: ViewUpdate): RunView {
  switch (update.type) {
    case 'record':
    case 'ended':
      return withRecord(view, update.record);
    case 'described':
      return { ...view, totalSteps: update.about.totalSteps, ensembleMonitor: update.about.ensembleMonitor };
    case 'worker': {
      const { state, epoch, step, pid } = update;
      return withRank(view, update.rank, { state, epoch, step, pid });
    }
    case 'progress': {
      const { epoch, step, samplesPerSecond, memoryBytes } = update;
      const totalSteps = Math.max(view.totalSteps ?? 0, update.totalSteps);
      return withRank({ ...view, totalSteps }, update.rank, { epoch, step, samplesPerSecond, memoryBytes });
    }
    case 'event':
      return withEvent(view, update.event);
    case 'warning':
      return view.warnings.includes(update.message) ? view : { ...view, warnings: [...view.warnings, update.message] };
    case 'evaluated':
      return withEvaluatedSet(view, update.set);
    // The view does not list the checkpoints.
    case 'checkpoint':
    default:
      return view;
  }
}

function withRecord(view: RunView, record: RunView['record']): RunView {
  const { status, endedAt, error } = record;
  const best = ownSummary(record)?.best ?? view.row.best;
  const row = { ...view.row, status, endedAt, error: error?.message ?? null, best };
  return { ...view, record, row };
}

/** An event may arrive twice: read from disk, and in an update that was sent meanwhile. */
function withEvent(view: RunView, event: RunEvent): RunView {
  const { time, rank, kind, message } = event;
  const isKnown = view.events.some(
    (known) => known.time === time && known.rank === rank && known.kind === kind && known.message === message,
  );
  return isKnown ? view : { ...view, events: [...view.events, event] };
}

function withEvaluatedSet(view: RunView, found: EvaluatedSet): RunView {
  const others = view.evaluatedSets.filter(({ set, split }) => set !== found.set || split !== found.split);
  return { ...view, evaluatedSets: [...others, found] };
}

function withRank(view: RunView, rank: number, changes: Partial<RankView>): RunView {
  return { ...view, ranks: view.ranks.map((one) => (one.rank === rank ? { ...one, ...changes } : one)) };
}

/**
 * The loads of devices with one more sample. A sample that is not newer than a device's last one is ignored: it was also read from disk.
 * There is one sample a second, so copying the columns is cheap.
 */
export function withLoads(
  columns: ReadonlyMap<string, DeviceLoadColumns>,
  { time, loads }: LoadSample,
): Map<string, DeviceLoadColumns> {
  const atMs = Date.parse(time);
  const grown = new Map(columns);
  for (const { device, load, memoryUsedBytes } of loads) {
    const before = columns.get(device) ?? emptyColumns(device);
    if (before.timeMs.length > 0 && before.timeMs[before.timeMs.length - 1] >= atMs) continue;
    grown.set(device, {
      device,
      timeMs: appended(before.timeMs, atMs),
      load: appended(before.load, load ?? Number.NaN),
      memoryBytes: appended(before.memoryBytes, memoryUsedBytes ?? Number.NaN),
    });
  }
  return grown;
}

function emptyColumns(device: string): DeviceLoadColumns {
  const none = new Float64Array();
  return { device, timeMs: none, load: none, memoryBytes: none };
}

function appended(column: Float64Array, value: number): Float64Array {
  const longer = new Float64Array(column.length + 1);
  longer.set(column);
  longer[column.length] = value;
  return longer;
}
