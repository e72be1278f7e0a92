import { computed, type ComputedRef, type Ref, shallowRef, watch } from 'vue';
import type { HubApi } from '../../../../core/protocol/pages/hub-methods.ts';
import type { RunQuery } from '../../../../core/protocol/pages/run-list.ts';
import type { GroupKey } from '../../../../core/protocol/pages/runs/run-fields.ts';
import type { RunGroup, RunGroups } from '../../../../core/protocol/pages/runs/run-groups.ts';
import { messageOf } from '../../../../core/text/errors.ts';
import { useHubClient } from '../../../client/use-hub.ts';
import {
  countRows,
  groupText,
  placeAt,
  type PlacedGroup,
  RowBlocks,
  rowsBetween,
  type TableItem,
  useRowChanges,
  useRunRows,
} from './row-blocks.ts';
import { z } from 'zod';
import { queryOf, type RunFilter } from '../run-filter.ts';

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
function useGroupedRows(grouping: ComputedRef<Grouping | null>, open: ComputedRef<ReadonlySet<string>>): GroupedRows {
  const { hub } = useHubClient();
  const list = new GroupList(
    hub,
    () => grouping.value,
    () => open.value,
  );
  watch(
    () => grouping.value?.by,
    () => list.clear(),
    { flush: 'sync' },
  );
  watch(
    () => JSON.stringify(grouping.value),
    () => list.restart(),
    { immediate: true },
  );
  watch(open, () => list.showAgain());
  useRowChanges(
    () => list.opened,
    () => list.reload(),
  );
  return {
    groups: list.groups,
    error: list.error,
    count: () => list.count(),
    itemAt: (index) => list.itemAt(index),
    show: (first, last) => list.show(first, last),
    reload: () => list.reload(),
  };
}

/** Groups, and blocks of the runs of those that were opened. */
class GroupList {
  readonly groups = shallowRef<RunGroups | null>(null);
  readonly error = shallowRef<string | null>(null);
  readonly #hub: Pick<HubApi, 'runs' | 'runGroups'>;
  readonly #grouping: () => Grouping | null;
  readonly #open: () => ReadonlySet<string>;
  #blocks = new Map<string, RowBlocks>();
  #view = { first: 0, last: 0 };
  /** Counts the readings; the answer to an earlier one is ignored. */
  #turn = 0;

  constructor(
    hub: Pick<HubApi, 'runs' | 'runGroups'>,
    grouping: () => Grouping | null,
    open: () => ReadonlySet<string>,
  ) {
    this.#hub = hub;
    this.#grouping = grouping;
    this.#open = open;
  }

  get opened(): Iterable<RowBlocks> {
    return this.#blocks.values();
  }

  count(): number {
    return countRows(this.#placed());
  }

  itemAt(index: number): TableItem | undefined {
    const place = placeAt(this.#placed(), index);
    const group = place === null ? undefined : this.groups.value?.groups[place.group];
    if (place === null || group === undefined) return undefined;
    if (place.row === null) return { kind: 'group', group, isOpen: this.#isOpen(group) };
    const blocks = this.#blocksOf(group);
    const row = blocks.rowAt(place.row);
    return row === undefined ? undefined : { kind: 'run', row, sweep: undefined, values: blocks.valuesOf(row.id) };
  }

  show(first: number, last: number): void {
    this.#view = { first, last };
    for (const range of rowsBetween(this.#placed(), first, last)) {
      const group = this.groups.value?.groups[range.group];
      if (group !== undefined) this.#blocksOf(group).show(range.first, range.last);
    }
  }

  showAgain(): void {
    this.show(this.#view.first, this.#view.last);
  }

  reload(): void {
    void this.#read();
  }

  /** Reads the groups of another query. Those of the earlier one are shown until the answer. */
  restart(): void {
    for (const blocks of this.#blocks.values()) blocks.restart();
    this.reload();
  }

  /** Drops what was grouped by something else. */
  clear(): void {
    this.groups.value = null;
    this.#blocks = new Map();
  }

  #isOpen({ value }: RunGroup): boolean {
    return this.#open().has(groupText(value));
  }

  #placed(): PlacedGroup[] {
    return (this.groups.value?.groups ?? []).map((group) => ({
      rows: this.#isOpen(group) ? (this.#blocksOf(group).total.value ?? group.runs) : 0,
    }));
  }

  #blocksOf({ value }: RunGroup): RowBlocks {
    const key = groupText(value);
    const known = this.#blocks.get(key);
    if (known !== undefined) return known;
    const blocks = new RowBlocks(this.#hub, () => {
      const now = this.#grouping();
      return now === null ? null : { ...now.query, isGrouped: false, group: { by: now.by, value } };
    });
    this.#blocks.set(key, blocks);
    return blocks;
  }

  async #read(): Promise<void> {
    const own = ++this.#turn;
    const now = this.#grouping();
    if (now === null) return;
    const { offset: _offset, limit: _limit, isGrouped: _isGrouped, group: _group, fields, ...query } = now.query;
    try {
      const answer = await this.#hub.runGroups({ query, by: now.by, fields: fields ?? [] });
      if (own !== this.#turn) return;
      this.groups.value = answer;
      this.error.value = null;
      for (const blocks of this.#blocks.values()) blocks.reload();
      this.showAgain();
    } catch (reason) {
      if (own === this.#turn) this.error.value = messageOf(reason);
    }
  }
}

interface RunList {
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
