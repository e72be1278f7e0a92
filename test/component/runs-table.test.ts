import { describe, expect, it } from 'vitest';
import ToastStack from '../../src-renderer/components/frame/ToastStack.vue';
import { useRowActions } from '../../src-renderer/views/runs/use-row-actions.ts';
import RunNameField from '../../src-renderer/views/runs/RunNameField.vue';
import RunNotesDialog from '../../src-renderer/views/runs/RunNotesDialog.vue';
import RunsTableHead from '../../src-renderer/views/runs/table/RunsTableHead.vue';
import { columnOf } from '../../src-renderer/views/runs/table/columns.ts';
import type { RunFilter } from '../../src-renderer/views/runs/run-filter.ts';
import { runRow } from '../unit/renderer/run-fixtures.ts';
import { buttonNamed, mountPage } from './mount-page.ts';

const filter: RunFilter = {
  search: '',
  status: '',
  project: '',
  tag: '',
  isArchived: false,
  sort: 'created',
  isDescending: true,
  group: '',
  open: '',
};

describe('the head of the table of runs', () => {
  it('shows the order, and asks for another', async () => {
    const { wrapper } = await mountPage(RunsTableHead, {
      props: {
        filter: { ...filter, sort: 'best', isDescending: false },
        columns: ['project', 'best', 'trend', 'option:seed'].map((key) => columnOf(key)),
      },
    });
    const sorted = wrapper.findAll('[aria-sort]').map((title) => title.attributes('aria-sort'));
    expect(sorted).toEqual(['none', 'none', 'ascending', 'none']);
    const [name, , best, , seed] = wrapper.findAll('.sort');
    for (const title of [name, best, seed]) await title.trigger('click');
    expect(wrapper.emitted('change')).toEqual([
      [{ sort: 'name', isDescending: false }],
      [{ sort: 'best', isDescending: true }],
      [{ sort: 'option:seed', isDescending: false }],
    ]);
  });
});

describe('actions on a run of the table', () => {
  const row = runRow({ id: 'r7', name: 'wide', status: 'finished' });
  const actions = {
    components: { ToastStack },
    setup: () => ({ ...useRowActions(), row }),
    template: `<button @click="archive(row)">Archive</button><button @click="remove(row)">Delete</button><ToastStack />`,
  };

  async function open() {
    const page = await mountPage(actions, {}, {});
    const changing = new Set(['updateRun', 'deleteRun', 'undoDelete']);
    return {
      toasts: () => page.wrapper.get('.toasts').text(),
      requests: () => page.calls.filter(([method]) => changing.has(method)),
    };
  }

  it('archive it, with undo', async () => {
    const { requests, toasts } = await open();
    buttonNamed('Archive').click();
    await expect.poll(requests).toEqual([['updateRun', 'r7', { isArchived: true }]]);
    await expect.poll(toasts).toContain('wide was archived.');
    buttonNamed('Undo').click();
    await expect.poll(requests).toHaveLength(2);
    expect(requests()[1]).toEqual(['updateRun', 'r7', { isArchived: false }]);
  });

  it('delete it, with undo', async () => {
    const { requests, toasts } = await open();
    buttonNamed('Delete').click();
    await expect.poll(requests).toEqual([['deleteRun', 'r7']]);
    await expect.poll(toasts).toContain('wide and its checkpoints were deleted.');
    buttonNamed('Undo').click();
    await expect.poll(requests).toEqual([
      ['deleteRun', 'r7'],
      ['undoDelete', 'r7'],
    ]);
  });

  async function rename(key: string, text: string): Promise<unknown[]> {
    const { wrapper, calls } = await mountPage(RunNameField, { props: { row } }, {});
    await wrapper.get('input').setValue(text);
    await wrapper.get('input').trigger('keydown', { key });
    await wrapper.get('input').trigger('blur');
    expect(wrapper.emitted('done')).toHaveLength(1);
    return calls.filter(([method]) => method === 'updateRun');
  }

  it('rename it with Enter, not with Escape, nor to nothing', async () => {
    expect(await rename('Enter', ' narrow ')).toEqual([['updateRun', 'r7', { name: 'narrow' }]]);
    expect(await rename('Escape', 'narrow')).toEqual([]);
    expect(await rename('Enter', '  ')).toEqual([]);
  });

  it('set its tags, each once, and its note', async () => {
    const noted = { ...row, tags: ['paper'], note: 'old' };
    const { calls, wrapper } = await mountPage(RunNotesDialog, { props: { row: noted } }, {});
    const field = (id: string): HTMLInputElement => {
      const found = document.querySelector<HTMLInputElement>(`#${id}`);
      if (found === null) throw new Error(`There is no field ${id}.`);
      return found;
    };
    expect([field('run-tags').value, field('run-note').value]).toEqual(['paper', 'old']);
    for (const [id, text] of [
      ['run-tags', 'paper, baseline,, paper '],
      ['run-note', 'new'],
    ]) {
      field(id).value = text;
      field(id).dispatchEvent(new Event('input'));
    }
    document.querySelector('form')?.dispatchEvent(new Event('submit', { cancelable: true }));
    await expect
      .poll(() => calls.filter(([method]) => method === 'updateRun'))
      .toEqual([['updateRun', 'r7', { tags: ['paper', 'baseline'], note: 'new' }]]);
    expect(wrapper.emitted('close')).toHaveLength(1);
  });
});
