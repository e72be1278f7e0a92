import { type RouteLocationRaw, useRouter } from 'vue-router';
import type { RunRow, SweepGroup } from '../../../core/protocol/pages/run-list.ts';
import type { RunNotes } from '../../../core/protocol/pages/run-views.ts';
import { useHub } from '../../client/use-hub.ts';
import { useRunsStore } from '../../stores/lists.ts';
import { useToastsStore } from '../../stores/toasts.ts';
import { type Ref, ref } from 'vue';

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

interface RowKeysOptions {
  count: () => number;
  pageRows: () => number;
  /** Scrolls a row into view. */
  show(index: number): void;
  open(index: number): void;
  toggle(index: number): void;
  /**
   * Selects the rows from the one that was chosen last up to this one. Absent, with `selectAll`, where rows are chosen
   * one by one.
   */
  extend?(index: number): void;
  selectAll?(): void;
}

/**
 * Moves through the rows of a table by keyboard; `active` is the row that Enter and Space act on. With Shift, moving
 * selects.
 */
export function useRowKeys(options: RowKeysOptions): {
  active: Ref<number | null>;
  handle(event: KeyboardEvent): void;
} {
  const active = ref<number | null>(null);

  function handle(event: KeyboardEvent): void {
    // A field or button inside a row handles its own keys.
    if (event.target !== event.currentTarget) return;
    const next = rowAfter(event.key, active.value ?? -1, options);
    if (next !== null) {
      active.value = Math.min(Math.max(next, 0), options.count() - 1);
      options.show(active.value);
      if (event.shiftKey) options.extend?.(active.value);
    } else if (!act(event, active.value, options)) return;
    event.preventDefault();
  }
  return { active, handle };
}

/** What a key does that does not move. @returns whether it does something */
function act({ key, shiftKey, ctrlKey, metaKey }: KeyboardEvent, at: number | null, options: RowKeysOptions): boolean {
  if (key.toLowerCase() === 'a' && (ctrlKey || metaKey) && options.selectAll !== undefined) options.selectAll();
  else if (at === null) return false;
  else if (key === 'Enter') options.open(at);
  else if (key === ' ' && shiftKey && options.extend !== undefined) options.extend(at);
  else if (key === ' ') options.toggle(at);
  else return false;
  return true;
}

/** The row that a key moves to, which may lie outside the table; null for a key that does not move. */
function rowAfter(key: string, at: number, { count, pageRows }: RowKeysOptions): number | null {
  switch (key) {
    case 'ArrowDown':
      return at + 1;
    case 'ArrowUp':
      return at - 1;
    case 'PageDown':
      return at + pageRows();
    case 'PageUp':
      return at - pageRows();
    case 'Home':
      return 0;
    case 'End':
      return count() - 1;
    default:
      return null;
  }
}
