import { useRouter } from 'vue-router';
import type { RunNotes, RunRow } from '../../../core/protocol/pages/rpc.ts';
import { useHub } from '../../client/use-hub.ts';
import { useRunsStore } from '../../stores/runs.ts';
import { useToastsStore } from '../../stores/toasts.ts';

/** What can be done to a run of the table. Each says what happened, and how to take it back. */
export function useRunActions(): {
  update(row: RunRow, changes: RunNotes): Promise<void>;
  archive(row: RunRow): Promise<void>;
  remove(row: RunRow): Promise<void>;
  again(row: RunRow): void;
  open(row: RunRow): void;
} {
  const hub = useHub();
  const router = useRouter();
  const runs = useRunsStore();
  const toasts = useToastsStore();

  const update = (row: RunRow, changes: RunNotes): Promise<void> => toasts.attempt(() => runs.update(row.id, changes));

  async function archive(row: RunRow): Promise<void> {
    const isArchived = !row.isArchived;
    await update(row, { isArchived });
    toasts.tell(isArchived ? `${row.name} is archived.` : `${row.name} is back among the runs.`, () =>
      update(row, { isArchived: !isArchived }),
    );
  }

  async function remove(row: RunRow): Promise<void> {
    await toasts.attempt(async () => {
      await hub.deleteRun(row.id);
      toasts.tell(`${row.name} is deleted, with its checkpoints.`, () => hub.undoDelete(row.id));
    });
  }

  return {
    update,
    archive,
    remove,
    again: ({ id }) => void router.push({ name: 'configure', query: { from: id } }),
    open: ({ id }) => void router.push({ name: 'run', params: { id } }),
  };
}
