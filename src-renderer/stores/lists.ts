import { createEventHook } from '@vueuse/core';
import { defineStore } from 'pinia';
import { computed, shallowRef } from 'vue';
import type { RunOverview } from '../../core/protocol/pages/run-list.ts';
import type { RunNotes } from '../../core/protocol/pages/run-views.ts';
import { useHubClient } from '../client/use-hub.ts';
import { messageOf } from '../../core/text/errors.ts';
import type { StudySummary } from '../../core/protocol/pages/study-views.ts';

/** The list of runs as a whole, live. Its rows are read where they are shown (`views/runs/table/row-blocks.ts`). */
export const useRunsStore = defineStore('runs', () => {
  const client = useHubClient();
  /** Null until the first answer. */
  const overview = shallowRef<RunOverview | null>(null);
  const error = shallowRef<string | null>(null);
  const running = computed(() => (overview.value?.active ?? []).filter(({ status }) => status === 'running'));
  /** A change of this page that the hub has not confirmed yet; null once it has refused one. */
  const edited = createEventHook<{ id: string; changes: RunNotes } | null>();

  async function refresh(): Promise<void> {
    try {
      overview.value = await client.hub.runOverview();
      error.value = null;
    } catch (reason) {
      error.value = messageOf(reason);
    }
  }

  /** Shows the change at once; the hub's next update confirms or reverts it. */
  async function update(id: string, changes: RunNotes): Promise<void> {
    void edited.trigger({ id, changes });
    try {
      await client.hub.updateRun(id, changes);
    } catch (reason) {
      void edited.trigger(null);
      throw reason;
    }
  }

  client.on('runsChanged', (change) => {
    if (change.overview !== null) overview.value = change.overview;
    error.value = null;
  });
  client.on('returned', () => void refresh());
  void refresh();

  return { overview, error, running, refresh, update, onEdited: edited.on };
});

/** The list of studies, live. */
export const useStudiesStore = defineStore('studies', () => {
  const client = useHubClient();
  /** By id; null until the first answer. */
  const byId = shallowRef<ReadonlyMap<string, StudySummary> | null>(null);
  const error = shallowRef<string | null>(null);
  /** The newest first; null until the first answer. */
  const all = computed(
    () =>
      byId.value &&
      [...byId.value.values()].toSorted(
        (left, right) => Date.parse(right.createdAt) - Date.parse(left.createdAt) || (left.id < right.id ? -1 : 1),
      ),
  );

  async function refresh(): Promise<void> {
    try {
      byId.value = new Map((await client.hub.studies()).map((study) => [study.id, study]));
      error.value = null;
    } catch (reason) {
      error.value = messageOf(reason);
    }
  }

  client.on('studiesChanged', ({ changed, removed }) => {
    // The first answer contains the change.
    if (byId.value === null) return;
    const next = new Map(byId.value);
    for (const study of changed) next.set(study.id, study);
    for (const id of removed) next.delete(id);
    byId.value = next;
  });
  client.on('returned', () => void refresh());
  void refresh();

  return { all, error, refresh };
});
