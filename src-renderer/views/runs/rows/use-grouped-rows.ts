import { type ComputedRef, type Ref, shallowRef, watch } from 'vue';
import type { RunQuery } from '../../../../core/protocol/pages/run-list.ts';
import type { GroupKey } from '../../../../core/protocol/pages/runs/run-fields.ts';
import type { RunGroup, RunGroups } from '../../../../core/protocol/pages/runs/run-groups.ts';
import { messageOf } from '../../../../core/text/errors.ts';
import { useHubClient } from '../../../client/use-hub.ts';
import { countRows, groupText, type PlacedGroup, placeAt, rowsBetween } from './group-places.ts';
import { RowBlocks } from './row-blocks.ts';
import type { TableItem } from './table-item.ts';
import { useRowChanges } from './use-run-rows.ts';

/** The query of a list, and what its runs are grouped by. */
export interface Grouping {
  query: RunQuery;
  by: GroupKey;
}

export interface GroupedRows {
  /** Null until the first answer. */
  groups: Readonly<Ref<RunGroups | null>>;
  error: Readonly<Ref<string | null>>;
  count: () => number;
  /** Undefined until it is read. */
  itemAt: (index: number) => TableItem | undefined;
  show: (first: number, last: number) => void;
  reload: () => void;
}

/**
 * The groups of a list of runs, live, with the runs of those that are open. Only runs in view are read.
 * @param grouping null: the list has no groups, and nothing is read
 * @param open the groups that are open ({@link groupText})
 */
export function useGroupedRows(
  grouping: ComputedRef<Grouping | null>,
  open: ComputedRef<ReadonlySet<string>>,
): GroupedRows {
  const { hub } = useHubClient();
  const groups = shallowRef<RunGroups | null>(null);
  const error = shallowRef<string | null>(null);
  /** The runs of groups that were opened, by the group. */
  let opened = new Map<string, RowBlocks>();
  let view = { first: 0, last: 0 };
  let turn = 0;

  function blocksOf({ value }: RunGroup): RowBlocks {
    const key = groupText(value);
    const known = opened.get(key);
    if (known !== undefined) return known;
    const blocks = new RowBlocks(hub, () => {
      const { value: now } = grouping;
      return now === null ? null : { ...now.query, isGrouped: false, group: { by: now.by, value } };
    });
    opened.set(key, blocks);
    return blocks;
  }
  const isOpen = ({ value }: RunGroup): boolean => open.value.has(groupText(value));
  const placed = (): PlacedGroup[] =>
    (groups.value?.groups ?? []).map((group) => ({
      rows: isOpen(group) ? (blocksOf(group).total.value ?? group.runs) : 0,
    }));

  function show(first: number, last: number): void {
    view = { first, last };
    for (const range of rowsBetween(placed(), first, last)) {
      const group = groups.value?.groups[range.group];
      if (group !== undefined) blocksOf(group).show(range.first, range.last);
    }
  }

  async function read(): Promise<void> {
    const own = ++turn;
    const { value: now } = grouping;
    if (now === null) return;
    const { offset: _offset, limit: _limit, isGrouped: _isGrouped, group: _group, fields, ...query } = now.query;
    try {
      const answer = await hub.runGroups({ query, by: now.by, fields: fields ?? [] });
      if (own !== turn) return;
      groups.value = answer;
      error.value = null;
      for (const blocks of opened.values()) blocks.reload();
      show(view.first, view.last);
    } catch (reason) {
      if (own === turn) error.value = messageOf(reason);
    }
  }

  function itemAt(index: number): TableItem | undefined {
    const place = placeAt(placed(), index);
    const group = place === null ? undefined : groups.value?.groups[place.group];
    if (place === null || group === undefined) return undefined;
    if (place.row === null) return { kind: 'group', group, isOpen: isOpen(group) };
    const blocks = blocksOf(group);
    const row = blocks.rowAt(place.row);
    return row === undefined ? undefined : { kind: 'run', row, sweep: undefined, values: blocks.valuesOf(row.id) };
  }

  const reload = (): void => void read();
  watch(
    () => grouping.value?.by,
    () => {
      groups.value = null;
      opened = new Map();
    },
    { flush: 'sync' },
  );
  watch(
    () => JSON.stringify(grouping.value),
    () => {
      for (const blocks of opened.values()) blocks.restart();
      reload();
    },
    { immediate: true },
  );
  watch(open, () => show(view.first, view.last));
  useRowChanges(() => opened.values(), reload);
  return { groups, error, count: () => countRows(placed()), itemAt, show, reload };
}
