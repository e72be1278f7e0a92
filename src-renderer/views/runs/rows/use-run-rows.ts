import { useThrottleFn } from '@vueuse/core';
import { type ComputedRef, onScopeDispose, type Ref, watch } from 'vue';
import type { RunQuery, RunRow, SweepGroup } from '../../../../core/protocol/pages/run-list.ts';
import type { FieldValue } from '../../../../core/protocol/pages/runs/run-fields.ts';
import { useHubClient } from '../../../client/use-hub.ts';
import { useRunsStore } from '../../../stores/runs.ts';
import { RowBlocks } from './row-blocks.ts';

/**
 * While runs change all the time, the order of the rows is read again this often. The rows themselves change at once.
 */
export const reorderMs = 1000;

export interface RunRows {
  /** Number of runs that match; null until the first answer. */
  total: Readonly<Ref<number | null>>;
  error: Readonly<Ref<string | null>>;
  /** The row at this place of the list; undefined until it is read. */
  rowAt: (index: number) => RunRow | undefined;
  /** The values of the query's fields of a run. */
  valuesOf: (id: string) => readonly (FieldValue | null)[] | undefined;
  /** The sweep that the row of one of its runs stands for. */
  groupOf: (row: RunRow) => SweepGroup | undefined;
  /** Reads the rows in view, both ends included, unless they were read. */
  show: (first: number, last: number) => void;
  reload: () => void;
}

/**
 * The rows of a filtered and sorted list of runs, live. Only blocks in view are read; with a query of null nothing is.
 */
export function useRunRows(query: ComputedRef<RunQuery | null>): RunRows {
  const client = useHubClient();
  const blocks = new RowBlocks(client.hub, () => query.value);
  useRowChanges(
    () => [blocks],
    () => blocks.reload(),
  );
  watch(query, (now, before) => {
    if (JSON.stringify(now) !== JSON.stringify(before)) blocks.restart();
  });
  blocks.reload();
  return {
    total: blocks.total,
    error: blocks.error,
    rowAt: (index) => blocks.rowAt(index),
    valuesOf: (id) => blocks.valuesOf(id),
    groupOf: ({ sweep }) => (sweep === null ? undefined : blocks.groups.value.get(sweep.id)),
    show: (first, last) => blocks.show(first, last),
    reload: () => blocks.reload(),
  };
}

/** Applies changes of runs to blocks of rows at once, and reads the order again at most every {@link reorderMs}. */
export function useRowChanges(blocks: () => Iterable<RowBlocks>, reload: () => void): void {
  const client = useHubClient();
  const reorder = useThrottleFn(reload, reorderMs, true);
  const change = (changed: (row: RunRow) => RunRow): void => {
    for (const each of blocks()) each.change(changed);
  };
  const { off } = useRunsStore().onEdited((edit) => {
    if (edit === null) reload();
    else change((row) => (row.id === edit.id ? { ...row, ...edit.changes } : row));
  });
  const ends = [
    client.on('runsChanged', ({ changed }) => {
      const byId = new Map(changed.map((row) => [row.id, row]));
      change((row) => byId.get(row.id) ?? row);
      void reorder();
    }),
    client.on('returned', reload),
    off,
  ];
  onScopeDispose(() => ends.forEach((end) => end()));
}
