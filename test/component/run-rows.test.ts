import { expect, it } from 'vitest';
import { computed, ref } from 'vue';
import type { RunListChange, RunQuery, RunRow } from '../../core/protocol/pages/run-list.ts';
import { useRunRows } from '../../src-renderer/views/runs/table/row-blocks.ts';
import { useRunsStore } from '../../src-renderer/stores/lists.ts';
import { runRow } from '../unit/renderer/run-fixtures.ts';
import { mountPage } from './mount-page.ts';

/** A list of 250 runs of the hub, and the rows that a page holds. */
async function open() {
  let all = Array.from({ length: 250 }, (_, number) => runRow({ id: `r${number}`, name: `run ${number}` }));
  const search = ref('');
  const answer = ({ search: text = '', offset = 0, limit = 500 }: RunQuery) => {
    const found = all.filter(({ name }) => name.includes(text));
    return { rows: found.slice(offset, offset + limit), total: found.length };
  };
  let rows: ReturnType<typeof useRunRows> | undefined;
  let store: ReturnType<typeof useRunsStore> | undefined;
  const component = {
    setup() {
      rows = useRunRows(computed(() => ({ search: search.value })));
      store = useRunsStore();
      return () => null;
    },
  };
  const refused = { updateRun: () => Promise.reject(new Error('The disk is full.')) };
  const { hub, calls } = await mountPage(component, {}, { runs: answer, ...refused });
  if (rows === undefined || store === undefined) throw new Error('The component was not set up.');
  const tell = (change: Partial<RunListChange>): void =>
    hub.page?.runsChanged({ changed: [], removed: [], isPartial: false, overview: null, ...change });
  const read = () => calls.filter(([method]) => method === 'runs').map(([, query]) => (query as RunQuery).offset);
  const become = (next: (rows: RunRow[]) => RunRow[]): void => void (all = next(all));
  return { rows, store, search, tell, read, become };
}

const nameAt = ({ rowAt }: ReturnType<typeof useRunRows>, index: number): string | undefined => rowAt(index)?.name;

it('reads the blocks in view, each once', async () => {
  const { rows, read } = await open();
  await expect.poll(() => rows.total.value).toBe(250);
  expect([nameAt(rows, 99), nameAt(rows, 100)]).toEqual(['run 99', undefined]);
  rows.show(90, 110);
  rows.show(95, 115);
  await expect.poll(() => nameAt(rows, 110)).toBe('run 110');
  rows.show(240, 249);
  await expect.poll(() => nameAt(rows, 249)).toBe('run 249');
  expect(read()).toEqual([0, 100, 200]);
});

it('starts at the top of the list of another query', async () => {
  const { rows, search, read } = await open();
  rows.show(240, 249);
  await expect.poll(() => nameAt(rows, 249)).toBe('run 249');
  search.value = 'run 24';
  await expect.poll(() => rows.total.value).toBe(11);
  expect([nameAt(rows, 0), nameAt(rows, 10), nameAt(rows, 249)]).toEqual(['run 24', 'run 249', undefined]);
  expect(read()).toEqual([0, 200, 0]);
});

it('shows changed rows at once, and then the new order', async () => {
  const { rows, tell, become } = await open();
  await expect.poll(() => nameAt(rows, 1)).toBe('run 1');
  const fresh = runRow({ id: 'new', name: 'new' });
  become((all) => [fresh, ...all.map((row) => (row.id === 'r1' ? { ...row, name: 'best' } : row))]);
  tell({ changed: [runRow({ id: 'r1', name: 'best' }), fresh] });
  await expect.poll(() => [nameAt(rows, 0), nameAt(rows, 2), rows.total.value]).toEqual(['new', 'best', 251]);
});

it('shows an edit before the hub confirms it, and reverts one that it refuses', async () => {
  const { rows, store } = await open();
  await expect.poll(() => nameAt(rows, 1)).toBe('run 1');
  const update = store.update('r1', { name: 'mine' });
  expect(nameAt(rows, 1)).toBe('mine');
  await expect(update).rejects.toThrow('The disk is full.');
  await expect.poll(() => nameAt(rows, 1)).toBe('run 1');
});
