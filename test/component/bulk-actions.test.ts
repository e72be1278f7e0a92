import { expect, it } from 'vitest';
import type { RunQuery } from '../../core/protocol/pages/run-list.ts';
import ToastStack from '../../src-renderer/components/frame/ToastStack.vue';
import { retagged, tagsIn, toldFailures, useBulkActions } from '../../src-renderer/views/runs/use-bulk-actions.ts';
import { runRow } from '../unit/renderer/run-fixtures.ts';
import { buttonNamed, mountPage } from './mount-page.ts';

const rows = [
  runRow({ id: 'a', name: 'wide', status: 'finished', tags: ['old'] }),
  runRow({ id: 'b', name: 'deep', status: 'running', tags: ['old', 'paper'] }),
];

const actions = {
  components: { ToastStack },
  setup: () => useBulkActions(() => ['a', 'b']),
  template: `<button @click="archive(true)">Archive</button><button @click="remove()">Delete</button>
    <button @click="stop()">Stop</button><button @click="tag(['night'], ['old'])">Tag</button><ToastStack />`,
};

async function open() {
  const refuse = (id: string) => (id === 'b' ? Promise.reject(new Error('Stop it before deleting it.')) : undefined);
  const answers = {
    runs: ({ ids = [] }: RunQuery) => ({ rows: rows.filter(({ id }) => ids.includes(id)), total: 2 }),
    deleteRun: refuse,
  };
  const page = await mountPage(actions, {}, answers);
  const changing = new Set(['updateRun', 'deleteRun', 'undoDelete', 'control']);
  return {
    toasts: () => page.wrapper.get('.toasts').text(),
    requests: () => page.calls.filter(([method]) => changing.has(method)),
  };
}

it('archives all selected runs, and one undo restores them', async () => {
  const { requests, toasts } = await open();
  buttonNamed('Archive').click();
  await expect.poll(toasts).toContain('2 runs were archived.');
  buttonNamed('Undo').click();
  await expect.poll(requests).toEqual([
    ['updateRun', 'a', { isArchived: true }],
    ['updateRun', 'b', { isArchived: true }],
    ['updateRun', 'a', { isArchived: false }],
    ['updateRun', 'b', { isArchived: false }],
  ]);
});

it('deletes those that it may, says why not the others, and restores what it deleted', async () => {
  const { requests, toasts } = await open();
  buttonNamed('Delete').click();
  await expect.poll(toasts).toContain('wide was deleted.');
  expect(toasts()).toContain('deep: Stop it before deleting it.');
  buttonNamed('Undo').click();
  await expect.poll(requests).toHaveLength(3);
  expect(requests()[2]).toEqual(['undoDelete', 'a']);
});

it('stops only runs that train', async () => {
  const { requests, toasts } = await open();
  buttonNamed('Stop').click();
  await expect.poll(toasts).toContain('deep was told to stop.');
  expect(toasts()).toContain('wide: It is finished');
  expect(requests()).toEqual([['control', 'b', { action: 'stop' }]]);
});

it('adds and removes tags, and keeps the others', async () => {
  const { requests } = await open();
  buttonNamed('Tag').click();
  await expect.poll(requests).toEqual([
    ['updateRun', 'a', { tags: ['night'] }],
    ['updateRun', 'b', { tags: ['paper', 'night'] }],
  ]);
  expect(retagged(['a', 'b'], ['b', 'c'], ['a'])).toEqual(['b', 'c']);
  expect(tagsIn(' x, y,, x ')).toEqual(['x', 'y']);
  expect(toldFailures([])).toBeNull();
});
