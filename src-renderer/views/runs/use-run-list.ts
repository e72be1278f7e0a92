import { computed, type ComputedRef } from 'vue';
import { z } from 'zod';
import type { RunGroup } from '../../../core/protocol/pages/runs/run-groups.ts';
import { groupText, type TableItem } from './rows/row-blocks.ts';
import { useGroupedRows } from './rows/use-grouped-rows.ts';
import { useRunRows } from './rows/use-run-rows.ts';
import { queryOf, type RunFilter } from './run-filter.ts';

export interface RunList {
  /** Rows of the table; null until the first answer. */
  total: ComputedRef<number | null>;
  /** Groups of the list; null where it has none. */
  groups: ComputedRef<{ shown: number; total: number } | null>;
  error: ComputedRef<string | null>;
  itemAt: (index: number) => TableItem | undefined;
  show: (first: number, last: number) => void;
  reload: () => void;
  /** The open groups after one was opened or closed, for the filter. */
  toggled: (group: RunGroup) => string;
}

const openSchema = z.array(z.string());

/** The rows of the table: runs, or groups of them. @param fields values that each row shows */
export function useRunList(filter: ComputedRef<RunFilter>, fields: ComputedRef<string[]>): RunList {
  const isGrouped = computed(() => filter.value.group !== '');
  const query = computed(() => queryOf(filter.value, fields.value));
  const rows = useRunRows(computed(() => (isGrouped.value ? null : query.value)));
  const open = computed(() => new Set(readOpen(filter.value.open)));
  const grouped = useGroupedRows(
    computed(() => {
      const { group } = filter.value;
      return group === '' ? null : { query: query.value, by: group };
    }),
    open,
  );

  function itemAt(index: number): TableItem | undefined {
    if (isGrouped.value) return grouped.itemAt(index);
    const row = rows.rowAt(index);
    return row && { kind: 'run', row, sweep: rows.groupOf(row), values: rows.valuesOf(row.id) };
  }
  return {
    total: computed(() => {
      if (!isGrouped.value) return rows.total.value;
      return grouped.groups.value === null ? null : grouped.count();
    }),
    groups: computed(() => {
      const { value } = grouped.groups;
      return !isGrouped.value || value === null ? null : { shown: value.groups.length, total: value.total };
    }),
    error: computed(() => (isGrouped.value ? grouped.error.value : rows.error.value)),
    itemAt,
    show: (first, last) => (isGrouped.value ? grouped.show(first, last) : rows.show(first, last)),
    reload: () => (isGrouped.value ? grouped.reload() : rows.reload()),
    toggled: ({ value }) => {
      const next = new Set(open.value);
      if (!next.delete(groupText(value))) next.add(groupText(value));
      return next.size === 0 ? '' : JSON.stringify([...next]);
    },
  };
}

/** What the address says may have been typed by hand. */
function readOpen(text: string): string[] {
  if (text === '') return [];
  try {
    return openSchema.safeParse(JSON.parse(text)).data ?? [];
  } catch {
    return [];
  }
}
