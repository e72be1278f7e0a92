import { defineStore, getActivePinia } from 'pinia';
import { computed, onScopeDispose, shallowRef } from 'vue';
import type { RunRow } from '../../core/protocol/pages/run-list.ts';
import type { RankView } from '../../core/protocol/pages/run-views.ts';
import type { HubApi } from '../../core/protocol/pages/hub-methods.ts';
import type { RunUpdate } from '../../core/protocol/pages/run-updates.ts';
import { useHubClient } from '../client/use-hub.ts';
import { messageOf } from '../../core/text/errors.ts';
import { applyUpdates, emptyRunState, needsReading, readRun, replaceState, type RunState } from './run-state.ts';

/**
 * One run, live while a component uses it: its view, and its metrics by column. Where the hub thinned a metric's
 * points, `isThinned` says so; the hub's `series` gives all points of a range of steps.
 */
export function useRunStore(id: string): RunStore {
  const store = defineRunStore(id)();
  const pinia = getActivePinia();
  store.hold();
  onScopeDispose(() => {
    if (store.release() > 0) return;
    store.$dispose();
    // Otherwise pinia keeps the columns, tens of megabytes, for the next store of this name.
    delete pinia?.state.value[store.$id];
  });
  return store;
}

export type RunStore = ReturnType<ReturnType<typeof defineRunStore>>;

function defineRunStore(id: string) {
  return defineStore(`run/${id}`, () => {
    const state = emptyRunState();
    return {
      id,
      ...state,
      ranks: computed<RankView[]>(() => state.view.value?.ranks ?? []),
      events: computed(() => state.view.value?.events ?? []),
      status: computed(() => state.view.value?.record.status ?? null),
      ...followRun(id, state),
    };
  });
}

/** Reads a run into its state and applies the hub's updates, from the first `hold` to the last `release`. */
function followRun(id: string, state: RunState) {
  const client = useHubClient();
  const isLoading = shallowRef(false);
  const error = shallowRef<string | null>(null);
  /** Updates that arrive while the run is read: they are applied afterwards. */
  let waiting: RunUpdate[] | null = null;
  /** Counts the readings, so that an earlier one that ends late is ignored. */
  let reading = 0;

  async function refresh(): Promise<void> {
    const turn = ++reading;
    waiting = [];
    isLoading.value = true;
    const failure = await readInto(state, client.hub, id, () => turn === reading);
    if (turn !== reading) return;
    error.value = failure;
    isLoading.value = false;
    const missed = waiting;
    waiting = null;
    take(missed);
  }

  function take(updates: readonly RunUpdate[]): void {
    if (waiting !== null) return void waiting.push(...updates);
    const before = state.view.value;
    applyUpdates(state, updates);
    if (needsReading(state, before)) void refresh();
  }

  const unsubscribe = [
    client.on('runUpdates', (runId, updates) => runId === id && take(updates)),
    client.on('runsChanged', ({ changed }) => replaceRow(state, changed)),
    client.on('returned', () => void refresh()),
  ];
  function end(): void {
    for (const stop of unsubscribe) stop();
    reading += 1;
    // A hub that cannot be reached has no subscribers any more.
    client.hub.unwatch(id).catch(() => undefined);
  }
  return { isLoading, error, refresh, ...holders(() => void refresh(), end) };
}

/** A run's row in the list of runs has its name, tags and note, which users change. */
function replaceRow({ view }: RunState, changed: readonly RunRow[]): void {
  const row = changed.find(({ id }) => id === view.value?.row.id);
  if (row !== undefined && view.value !== null) view.value = { ...view.value, row };
}

/**
 * Reads a run and replaces the state, unless a later reading has begun.
 * @returns why it cannot be read; null where it was read
 */
async function readInto(state: RunState, hub: HubApi, id: string, isCurrent: () => boolean): Promise<string | null> {
  try {
    const found = await readRun(hub, id);
    if (isCurrent()) replaceState(state, found);
    return null;
  } catch (reason) {
    return messageOf(reason);
  }
}

/** Counts holders: the first to come begins, the last to go ends. */
function holders(begin: () => void, end: () => void) {
  let count = 0;
  return {
    hold(): void {
      count += 1;
      if (count === 1) begin();
    },
    /** @returns how many are left */
    release(): number {
      count -= 1;
      if (count === 0) end();
      return count;
    },
  };
}
