import { defineStore } from 'pinia';
import { computed, shallowRef } from 'vue';
import type { StudySummary } from '../../core/protocol/pages/study-views.ts';
import { messageOf } from '../../core/text/errors.ts';
import { useHubClient } from '../client/use-hub.ts';

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
