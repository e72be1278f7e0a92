import { createEventHook } from '@vueuse/core';
import { defineStore } from 'pinia';
import { computed, shallowRef } from 'vue';
import type { RunOverview } from '../../core/protocol/pages/run-list.ts';
import type { RunNotes } from '../../core/protocol/pages/run-views.ts';
import { useHubClient } from '../client/use-hub.ts';
import { messageOf } from '../../core/text/errors.ts';

/** The list of runs as a whole, live. Its rows are read where they are shown (`views/runs/use-run-rows.ts`). */
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
