import { type ComputedRef, onScopeDispose, type Ref, shallowRef, watch } from 'vue';
import type { RunQuery, RunRow, SweepGroup } from '../../../../core/protocol/pages/run-list.ts';
import type { HubApi } from '../../../../core/protocol/pages/hub-methods.ts';
import type { FieldValue } from '../../../../core/protocol/pages/runs/run-fields.ts';
import { messageOf } from '../../../../core/text/errors.ts';
import type { RunGroup } from '../../../../core/protocol/pages/runs/run-groups.ts';
import { rowKey } from '../run-filter.ts';
import { useThrottleFn } from '@vueuse/core';
import { useHubClient } from '../../../client/use-hub.ts';
import { useRunsStore } from '../../../stores/lists.ts';

const blockRows = 100;

type Values = readonly (FieldValue | null)[];

/** Blocks of rows of one query, read from the hub when they come into view. */
export class RowBlocks {
  readonly total = shallowRef<number | null>(null);
  readonly error = shallowRef<string | null>(null);
  readonly #hub: Pick<HubApi, 'runs'>;
  /** Null: nothing is read. */
  readonly #query: () => RunQuery | null;
  /** Rows by the number of their block, replaced as a whole with every change. */
  readonly #rows = shallowRef<ReadonlyMap<number, readonly RunRow[]>>(new Map());
  /** The values of the query's fields, by the ids of runs. */
  readonly #values = shallowRef<ReadonlyMap<string, Values>>(new Map());
  /** The sweeps of the rows, by their ids. */
  readonly groups = shallowRef<ReadonlyMap<string, SweepGroup>>(new Map());
  /** The blocks that are up to date, or will be with the answer that is on its way. */
  #requested = new Set<number>();
  #view = { first: 0, last: 0 };
  /** Counts the states of the list; an answer to an earlier one is ignored. */
  #turn = 0;
  /** Whether the held blocks belong to an earlier query. They are shown until the first answer. */
  #isOutdated = false;

  constructor(hub: Pick<HubApi, 'runs'>, query: () => RunQuery | null) {
    this.#hub = hub;
    this.#query = query;
  }

  rowAt(index: number): RunRow | undefined {
    return this.#rows.value.get(Math.floor(index / blockRows))?.[index % blockRows];
  }

  valuesOf(id: string): Values | undefined {
    return this.#values.value.get(id);
  }

  show(first: number, last: number): void {
    this.#view = { first, last };
    if (this.#query() === null) return;
    for (let block = Math.floor(first / blockRows); block <= Math.floor(last / blockRows); block += 1) {
      if (!this.#requested.has(block)) void this.#read(block);
    }
  }

  /** Reads what is in view again. Other blocks are read again when they come into view. */
  reload(): void {
    this.#turn += 1;
    this.#requested = new Set();
    this.show(this.#view.first, this.#view.last);
  }

  /** Reads the top of the list of another query. */
  restart(): void {
    this.#isOutdated = true;
    this.#view = { first: 0, last: this.#view.last - this.#view.first };
    this.reload();
  }

  change(changed: (row: RunRow) => RunRow): void {
    this.#rows.value = new Map([...this.#rows.value].map(([block, rows]) => [block, rows.map(changed)]));
  }

  async #read(block: number): Promise<void> {
    const turn = this.#turn;
    this.#requested.add(block);
    try {
      const page = await this.#hub.runs({ ...this.#query(), offset: block * blockRows, limit: blockRows });
      if (turn !== this.#turn) return;
      const kept = !this.#isOutdated;
      this.#rows.value = new Map(kept ? this.#rows.value : []).set(block, page.rows);
      const values = page.rows.map(({ id }, index) => [id, page.values?.[index] ?? []] as const);
      this.#values.value = new Map([...(kept ? this.#values.value : []), ...values]);
      const groups = (page.sweeps ?? []).map((group) => [group.id, group] as const);
      this.groups.value = new Map([...(kept ? this.groups.value : []), ...groups]);
      this.#isOutdated = false;
      this.total.value = page.total;
      this.error.value = null;
    } catch (reason) {
      if (turn === this.#turn) this.error.value = messageOf(reason);
    }
  }
}

/** A row of a run in the table, or of the sweep that it stands for. */
export interface RunItem {
  kind: 'run';
  row: RunRow;
  /** The sweep that the row stands for, if it does. */
  sweep: SweepGroup | undefined;
  /** The values of the shown fields; undefined until they are read. */
  values: readonly (FieldValue | null)[] | undefined;
}

export interface GroupItem {
  kind: 'group';
  group: RunGroup;
  isOpen: boolean;
}

/** A row of the table. */
export type TableItem = RunItem | GroupItem;

/** A key that no other row of the table has, except for a run in the groups of two tags. */
export function itemKey(item: TableItem): string {
  return item.kind === 'group' ? `group ${groupText(item.group.value)}` : rowKeyOf(item);
}

/** What a selection keeps of a row: the id of its sweep or run. */
export function rowKeyOf({ row, sweep }: RunItem): string {
  return sweep === undefined ? row.id : rowKey(row);
}

/** A group of the list, and the rows that it shows below its own: 0 while it is closed. */
export interface PlacedGroup {
  rows: number;
}

/** A place of the list: a group's own row, or the row of one of its runs. */
type ListPlace = { group: number; row: null } | { group: number; row: number };

/** Number of rows of a list of groups. */
export function countRows(groups: readonly PlacedGroup[]): number {
  return groups.reduce((sum, { rows }) => sum + 1 + rows, 0);
}

/** What is at an index of the list; null behind its end. */
export function placeAt(groups: readonly PlacedGroup[], index: number): ListPlace | null {
  let first = 0;
  for (const [group, { rows }] of groups.entries()) {
    if (index === first) return { group, row: null };
    if (index <= first + rows) return { group, row: index - first - 1 };
    first += 1 + rows;
  }
  return null;
}

/** The rows of each group that lie between two indices of the list, both included. */
export function rowsBetween(
  groups: readonly PlacedGroup[],
  first: number,
  last: number,
): { group: number; first: number; last: number }[] {
  let start = 0;
  const found = groups.map(({ rows }, group) => {
    const from = start + 1;
    start += 1 + rows;
    return { group, first: Math.max(0, first - from), last: Math.min(rows - 1, last - from) };
  });
  return found.filter((range) => range.first <= range.last);
}

/** A value of a group as a text, for the address: different values have different texts. */
export function groupText(value: FieldValue | null): string {
  return JSON.stringify(value);
}

/**
 * While runs change all the time, the order of the rows is read again this often. The rows themselves change at once.
 */
const reorderMs = 1000;

interface RunRows {
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
