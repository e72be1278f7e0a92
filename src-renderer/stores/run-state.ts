import { type ShallowReactive, shallowReactive, shallowRef, type ShallowRef } from 'vue';
import type { DeviceLoadColumns, LoadSample } from '../../core/protocol/machine/devices.ts';
import type { RankView, RunView } from '../../core/protocol/pages/run-views.ts';
import type { MetricPoints } from '../../core/protocol/wire/points.ts';
import type { HubApi } from '../../core/protocol/pages/hub-methods.ts';
import { attemptsBegun, type EvaluatedSet, ownSummary, type RunEvent } from '../../core/protocol/run/record.ts';
import type { RunUpdate } from '../../core/protocol/pages/run-updates.ts';
import { appendPoints, columnsOf, type MetricColumns } from './metric-columns.ts';

/** How many points the page reads of one run, over all metrics: some 60 MB. */
const pointBudget = 2_500_000;
const maximumPointsPerMetric = 200_000;
const minimumPointsPerMetric = 1000;

/** What the page holds of one run. */
export interface RunState {
  /** Null until the run has been read. */
  view: ShallowRef<RunView | null>;
  /** By metric name; an entry is replaced when its metric has new points. */
  columns: ShallowReactive<Map<string, MetricColumns>>;
  /** By device. */
  deviceLoads: ShallowRef<ReadonlyMap<string, DeviceLoadColumns>>;
  /** Grows with every checkpoint that is written while the page is open. */
  checkpointsSaved: ShallowRef<number>;
}

/** What the hub answers when a run is read. */
interface ReadRun {
  view: RunView;
  series: MetricPoints[];
  loads: DeviceLoadColumns[];
}

export function emptyRunState(): RunState {
  return {
    view: shallowRef(null),
    columns: shallowReactive(new Map()),
    deviceLoads: shallowRef(new Map()),
    checkpointsSaved: shallowRef(0),
  };
}

/** Subscribes to a run's updates and reads it. Updates may arrive before this resolves. */
export async function readRun(hub: HubApi, id: string): Promise<ReadRun> {
  await hub.watch(id);
  const view = await hub.run(id);
  const share = Math.floor(pointBudget / Math.max(1, view.metrics.length));
  const maximumPoints = Math.min(maximumPointsPerMetric, Math.max(minimumPointsPerMetric, share));
  const { series } = await hub.series(id, { names: [], maximumPoints, fromStep: null, toStep: null });
  return { view, series, loads: await hub.deviceLoads(id) };
}

/** Replaces the state by what was read. The columns get new versions. */
export function replaceState({ view, columns, deviceLoads }: RunState, found: ReadRun): void {
  view.value = found.view;
  deviceLoads.value = new Map(found.loads.map((one) => [one.device, one]));
  const names = new Set(found.series.map(({ name }) => name));
  for (const name of columns.keys()) if (!names.has(name)) columns.delete(name);
  for (const one of found.series) columns.set(one.name, columnsOf(one, (columns.get(one.name)?.version ?? 0) + 1));
}

/** Applies updates to a state that was read; before that they are ignored, as reading includes them. */
export function applyUpdates(state: RunState, updates: readonly RunUpdate[]): void {
  let view = state.view.value;
  if (view === null) return;
  for (const update of updates) {
    if (update.type === 'points') {
      for (const [name, changed] of appendPoints(state.columns, update.batch)) state.columns.set(name, changed);
    } else if (update.type === 'device-loads') {
      state.deviceLoads.value = withLoads(state.deviceLoads.value, update);
    } else {
      if (update.type === 'checkpoint') state.checkpointsSaved.value += 1;
      view = applyUpdate(view, update);
    }
  }
  state.view.value = view;
}

/**
 * Whether the run must be read again after updates. A run that trains for hours must not fill the page's memory: the
 * hub thins its points. A resumed run computes some steps again: once it trains, the points that were read are out of
 * date.
 */
export function needsReading({ view, columns }: RunState, before: RunView | null): boolean {
  if (view.value === null || before === null) return false;
  const heldPoints = [...columns.values()].reduce((sum, { length }) => sum + length, 0);
  // A run that has ended may have saved its first state since it was read.
  const hasEnded = before.record.status === 'running' && view.value.record.status !== 'running';
  if (hasEnded && !before.holdsState) return true;
  // Whether it can be controlled from here.
  if (before.record.remote?.link !== view.value.record.remote?.link) return true;
  return heldPoints > 2 * pointBudget || attemptsBegun(view.value.record) !== attemptsBegun(before.record);
}

/** Updates that change a run's view; points and device loads are kept beside it. */
type ViewUpdate = Exclude<RunUpdate, { type: 'points' | 'device-loads' }>;

/** The view of a run after one update. */
function applyUpdate(view: RunView, update: ViewUpdate): RunView {
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
 * The loads of devices with one more sample. A sample that is not newer than a device's last one is ignored: it was
 * also read from disk. There is one sample a second, so copying the columns is cheap.
 */
function withLoads(
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
