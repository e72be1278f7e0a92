import { type ComputedRef, onScopeDispose, watch } from 'vue';
import type { RunView } from '../../../../core/protocol/pages/run-views.ts';
import { useHub, useHubClient } from '../../../client/use-hub.ts';
import { repeatWhileVisible } from '../../../composables/repeat-while-visible.ts';
import { type Loaded, useLoaded } from '../../../composables/use-loaded.ts';
import { type Compared, readSubjects } from './compared-subject.ts';

/** What is compared. It is read again when one of its runs starts, ends, or gets its first metrics. */
export function useComparedSubjects(ids: ComputedRef<string[]>): Loaded<Compared> {
  const hub = useHub();
  const loaded = useLoaded(() => readSubjects(hub, ids.value));
  const runsOf = (): RunView[] => (loaded.data.value?.subjects ?? []).flatMap(({ runs }) => runs);
  watch(
    () => ids.value.join(),
    () => void loaded.reload(),
  );
  const end = useHubClient().on('runsChanged', ({ changed, isPartial }) => {
    const statuses = new Map(runsOf().map(({ row }) => [row.id, row.status]));
    const isChanged = changed.some(({ id, status, sweep }) =>
      statuses.has(id) ? statuses.get(id) !== status : sweep !== null && ids.value.includes(sweep.id),
    );
    if (isPartial || isChanged) void loaded.reload();
  });
  onScopeDispose(end);
  repeatWhileVisible(async () => {
    const lacksMetrics = runsOf().some(({ row, metrics }) => row.status === 'running' && metrics.length === 0);
    if (lacksMetrics) await loaded.reload();
  });
  return loaded;
}
