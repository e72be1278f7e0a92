import { defineStore } from 'pinia';
import { computed, shallowRef } from 'vue';
import type { RunNotes, RunRow } from '../../core/protocol/pages/run-views.ts';
import { useHubClient } from '../client/use-hub.ts';
import { messageOf } from '../../core/text/errors.ts';

/** All runs, live: the hub sends the whole list whenever it changes. */
export const useRunsStore = defineStore('runs', () => {
  const client = useHubClient();
  /** Null until the first list arrives. */
  const rows = shallowRef<RunRow[] | null>(null);
  const error = shallowRef<string | null>(null);

  const byId = computed(() => new Map((rows.value ?? []).map((row) => [row.id, row])));
  const active = computed(() => (rows.value ?? []).filter(({ status }) => status === 'running'));

  async function refresh(): Promise<void> {
    try {
      rows.value = await client.hub.runs();
      error.value = null;
    } catch (reason) {
      error.value = messageOf(reason);
    }
  }

  /** Shows the change at once; the hub's next list confirms or reverts it. */
  async function update(id: string, changes: RunNotes): Promise<void> {
    rows.value = (rows.value ?? []).map((row) => (row.id === id ? { ...row, ...changes } : row));
    try {
      await client.hub.updateRun(id, changes);
    } finally {
      await refresh();
    }
  }

  client.on('runsChanged', (list) => {
    rows.value = list;
    error.value = null;
  });
  client.on('returned', () => void refresh());
  void refresh();

  return { rows, error, byId, active, refresh, update };
});
