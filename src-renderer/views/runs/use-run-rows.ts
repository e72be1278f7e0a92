import { useThrottleFn } from '@vueuse/core';
import { type ComputedRef, onScopeDispose, type Ref, shallowRef, watch } from 'vue';
import type { HubApi } from '../../../core/protocol/pages/rpc.ts';
import type { RunQuery, RunRow, SweepGroup } from '../../../core/protocol/pages/run-list.ts';
import { messageOf } from '../../../core/text/errors.ts';
import { useHubClient } from '../../client/use-hub.ts';
import { useRunsStore } from '../../stores/runs.ts';

const blockRows = 100;
/** While runs change all the time, the order of the rows is read again this often. The rows themselves change at once. */
const reorderMs = 1000;

export interface RunRows {
  /** Number of runs that match; null until the first answer. */
  total: Readonly<Ref<number | null>>;
  error: Readonly<Ref<string | null>>;
  /** The row at this place of the list; undefined until it is read. */
  rowAt: (index: number) => RunRow | undefined;
  /** The sweep that the row of one of its runs stands for. */
  groupOf: (row: RunRow) => SweepGroup | undefined;
  /** Reads the rows in view, both ends included, unless they were read. */
  show: (first: number, last: number) => void;
  reload: () => void;
}

/** The rows of a filtered and sorted list of runs, live. Only blocks in view are read. */
export function useRunRows(query: ComputedRef<RunQuery>): RunRows {
  const client = useHubClient();
  const blocks = new RowBlocks(client.hub, () => query.value);
  const reorder = useThrottleFn(() => blocks.reload(), reorderMs, true);

  watch(query, (now, before) => {
    if (JSON.stringify(now) !== JSON.stringify(before)) blocks.restart();
  });
  const { off } = useRunsStore().onEdited((edit) => {
    if (edit === null) blocks.reload();
    else blocks.change((row) => (row.id === edit.id ? { ...row, ...edit.changes } : row));
  });
  const ends = [
    client.on('runsChanged', ({ changed }) => {
      const byId = new Map(changed.map((row) => [row.id, row]));
      blocks.change((row) => byId.get(row.id) ?? row);
      void reorder();
    }),
    client.on('returned', () => blocks.reload()),
    off,
  ];
  onScopeDispose(() => ends.forEach((end) => end()));
  blocks.reload();
  return {
    total: blocks.total,
    error: blocks.error,
    rowAt: (index) => blocks.rowAt(index),
    groupOf: ({ sweep }) => (sweep === null ? undefined : blocks.groups.value.get(sweep.id)),
    show: (first, last) => blocks.show(first, last),
    reload: () => blocks.reload(),
  };
}

/** Blocks of rows, read from the hub when they come into view. */
class RowBlocks {
  readonly total = shallowRef<number | null>(null);
  readonly error = shallowRef<string | null>(null);
  readonly #hub: Pick<HubApi, 'runs'>;
  readonly #query: () => RunQuery;
  /** Rows by the number of their block, replaced as a whole with every change. */
  readonly #rows = shallowRef<ReadonlyMap<number, readonly RunRow[]>>(new Map());
  /** The sweeps of the rows, by their ids. */
  readonly groups = shallowRef<ReadonlyMap<string, SweepGroup>>(new Map());
  /** The blocks that are up to date, or will be with the answer that is on its way. */
  #requested = new Set<number>();
  #view = { first: 0, last: 0 };
  /** Counts the states of the list; an answer to an earlier one is ignored. */
  #turn = 0;
  /** Whether the held blocks belong to an earlier query. They are shown until the first answer. */
  #isOutdated = false;

  constructor(hub: Pick<HubApi, 'runs'>, query: () => RunQuery) {
    this.#hub = hub;
    this.#query = query;
  }

  rowAt(index: number): RunRow | undefined {
    return this.#rows.value.get(Math.floor(index / blockRows))?.[index % blockRows];
  }

  show(first: number, last: number): void {
    this.#view = { first, last };
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
      this.#rows.value = new Map(this.#isOutdated ? [] : this.#rows.value).set(block, page.rows);
      this.#isOutdated = false;
      const groups = (page.sweeps ?? []).map((group) => [group.id, group] as const);
      this.groups.value = new Map([...this.groups.value, ...groups]);
      this.total.value = page.total;
      this.error.value = null;
    } catch (reason) {
      if (turn === this.#turn) this.error.value = messageOf(reason);
    }
  }
}
