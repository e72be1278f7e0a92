import { shallowRef } from 'vue';
import type { RunQuery, RunRow, SweepGroup } from '../../../../core/protocol/pages/run-list.ts';
import type { HubApi } from '../../../../core/protocol/pages/rpc.ts';
import type { FieldValue } from '../../../../core/protocol/pages/runs/run-fields.ts';
import { messageOf } from '../../../../core/text/errors.ts';

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
