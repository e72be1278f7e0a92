import { type RouteLocationRaw, useRouter } from 'vue-router';
import type { RunRow, SweepGroup } from '../../../core/protocol/pages/run-list.ts';
import type { RunNotes } from '../../../core/protocol/pages/run-views.ts';
import { useHub } from '../../client/use-hub.ts';
import { useRunsStore } from '../../stores/runs.ts';
import { useToastsStore } from '../../stores/toasts.ts';

/** The actions on a run in the table. A toast reports what happened and offers to undo it. */
export function useRowActions(): {
  update(row: RunRow, changes: RunNotes): Promise<void>;
  archive(row: RunRow): Promise<void>;
  remove(row: RunRow): Promise<void>;
  again(row: RunRow): void;
  open(row: RunRow, sweep?: SweepGroup): void;
} {
  const hub = useHub();
  const router = useRouter();
  const runs = useRunsStore();
  const toasts = useToastsStore();

  const update = (row: RunRow, changes: RunNotes): Promise<void> => toasts.attempt(() => runs.update(row.id, changes));

  async function archive(row: RunRow): Promise<void> {
    const isArchived = !row.isArchived;
    await update(row, { isArchived });
    toasts.tell(isArchived ? `${row.name} was archived.` : `${row.name} was restored from the archive.`, () =>
      update(row, { isArchived: !isArchived }),
    );
  }

  async function remove(row: RunRow): Promise<void> {
    await toasts.attempt(async () => {
      await hub.deleteRun(row.id);
      toasts.tell(`${row.name} and its checkpoints were deleted.`, () => hub.undoDelete(row.id));
    });
  }

  return {
    update,
    archive,
    remove,
    again: ({ id }) => void router.push({ name: 'configure', query: { from: id } }),
    open: (row, sweep) => void router.push(pageOf(row, sweep)),
  };
}

/** The page behind a row: of its run, or of the sweep that it stands for. */
export function pageOf({ id }: Pick<RunRow, 'id'>, sweep?: Pick<SweepGroup, 'id'>): RouteLocationRaw {
  return sweep === undefined ? { name: 'run', params: { id } } : { name: 'compare', query: { runs: sweep.id } };
}
