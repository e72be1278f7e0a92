import { defineStore, getActivePinia } from 'pinia';
import { computed, onScopeDispose, shallowReactive, shallowRef } from 'vue';
import type { DeviceLoadColumns } from '../../core/protocol/machine/device-loads.ts';
import type { RankView, RunView } from '../../core/protocol/pages/rpc.ts';
import type { RunRecord } from '../../core/protocol/run/record.ts';
import type { RunUpdate } from '../../core/protocol/pages/run-updates.ts';
import { useHubClient } from '../client/use-hub.ts';
import { messageOf } from '../../core/text/errors.ts';
import { withLoads } from './device-loads.ts';
import { appendPoints, columnsOf, type MetricColumns } from './metric-columns.ts';
import { applyUpdate } from './run-changes.ts';

/** Points the page holds of one run at most, shared by its metrics: some 60 MB. */
const pointBudget = 2_500_000;
const maximumPointsPerMetric = 200_000;

/**
 * One run, live, for as long as some component uses it: what the hub knows of it, and its metrics by column.
 * Metrics whose hub-side columns were thinned say so (`isThinned`); ask the hub's `series` for a range of steps to see all.
 */
export function useRunStore(id: string): RunStore {
  const store = defineRunStore(id)();
  const pinia = getActivePinia();
  store.hold();
  onScopeDispose(() => {
    if (store.release() > 0) return;
    store.$dispose();
    // pinia would keep the columns, tens of megabytes, for a store of the same name.
    delete pinia?.state.value[store.$id];
  });
  return store;
}

export type RunStore = ReturnType<ReturnType<typeof defineRunStore>>;

/** Those that train or have trained; before a resume trains, it changes nothing. */
function attemptsBegun({ attempts }: RunRecord): number {
  const waiting = attempts.at(-1);
  return attempts.length - (waiting?.config !== undefined && waiting.from === undefined ? 1 : 0);
}

function defineRunStore(id: string) {
  return defineStore(`run/${id}`, () => {
    const client = useHubClient();
    const view = shallowRef<RunView | null>(null);
    /** By metric name; an entry is replaced when its metric has new points. */
    const columns = shallowReactive(new Map<string, MetricColumns>());
    /** How busy its devices were, by device. */
    const deviceLoads = shallowRef<ReadonlyMap<string, DeviceLoadColumns>>(new Map());
    /** Grows with every checkpoint that is written while the page is open. */
    const checkpointsSaved = shallowRef(0);
    const isLoading = shallowRef(false);
    const error = shallowRef<string | null>(null);
    /** Updates that arrive while everything is read anew: they are applied afterwards. */
    let waiting: RunUpdate[] | null = null;
    let holders = 0;
    /** Counts the readings, so that an older one that ends late changes nothing. */
    let reading = 0;

    const ranks = computed<RankView[]>(() => view.value?.ranks ?? []);
    const events = computed(() => view.value?.events ?? []);
    const status = computed(() => view.value?.record.status ?? null);

    /** Reads everything anew and follows the run from there. */
    async function refresh(): Promise<void> {
      const turn = ++reading;
      waiting = [];
      isLoading.value = true;
      try {
        await client.hub.watch(id);
        const found = await client.hub.run(id);
        const perMetric = Math.floor(pointBudget / Math.max(1, found.metrics.length));
        const maximumPoints = Math.min(maximumPointsPerMetric, Math.max(1000, perMetric));
        const { series } = await client.hub.series(id, { names: [], maximumPoints, fromStep: null, toStep: null });
        const loads = await client.hub.deviceLoads(id);
        if (turn !== reading) return;
        view.value = found;
        deviceLoads.value = new Map(loads.map((one) => [one.device, one]));
        replaceColumns(series.map((one) => columnsOf(one, (columns.get(one.name)?.version ?? 0) + 1)));
        error.value = null;
      } catch (reason) {
        if (turn === reading) error.value = messageOf(reason);
      }
      if (turn !== reading) return;
      isLoading.value = false;
      const missed = waiting ?? [];
      waiting = null;
      take(missed);
    }

    function replaceColumns(fresh: MetricColumns[]): void {
      const names = new Set(fresh.map(({ name }) => name));
      for (const name of columns.keys()) if (!names.has(name)) columns.delete(name);
      for (const column of fresh) columns.set(column.name, column);
    }

    function heldPoints(): number {
      return [...columns.values()].reduce((sum, { length }) => sum + length, 0);
    }

    function take(updates: RunUpdate[]): void {
      if (waiting !== null) return void waiting.push(...updates);
      const before = view.value;
      if (before === null) return;
      let after = before;
      for (const update of updates) {
        if (update.type === 'points') {
          for (const [name, changed] of appendPoints(columns, update.batch)) columns.set(name, changed);
        } else if (update.type === 'device-loads') {
          deviceLoads.value = withLoads(deviceLoads.value, update);
        } else {
          if (update.type === 'checkpoint') checkpointsSaved.value += 1;
          after = applyUpdate(after, update);
        }
      }
      view.value = after;
      // A run that goes on for hours must not fill the page's memory: the hub thins it anew.
      if (heldPoints() > 2 * pointBudget) void refresh();
      // A resumed run computes some steps again: once it trains, what was read before no longer holds.
      if (attemptsBegun(after.record) !== attemptsBegun(before.record)) void refresh();
    }

    const endings = [
      client.on('runUpdates', (runId, updates) => {
        if (runId === id) take(updates);
      }),
      client.on('returned', () => void refresh()),
    ];

    function hold(): void {
      holders += 1;
      if (holders === 1) void refresh();
    }

    /** @returns how many still hold the run */
    function release(): number {
      holders -= 1;
      if (holders > 0) return holders;
      for (const end of endings) end();
      reading += 1;
      // A hub that cannot be reached has forgotten its watchers.
      client.hub.unwatch(id).catch(() => undefined);
      return 0;
    }

    return {
      id,
      view,
      columns,
      deviceLoads,
      checkpointsSaved,
      ranks,
      events,
      status,
      isLoading,
      error,
      refresh,
      hold,
      release,
    };
  });
}
