import { flushPromises } from '@vue/test-utils';
import { expect, it } from 'vitest';
import type { RunView } from '../../core/protocol/pages/run-views.ts';
import RunNotes from '../../src-renderer/views/run/header/RunNotes.vue';
import { runView } from '../unit/renderer/run-fixtures.ts';
import { mountPage } from './mount-page.ts';

function viewWith(fields: Partial<RunView['row']>): RunView {
  const view = runView();
  return { ...view, row: { ...view.row, ...fields } };
}

it('edits tags and note in place', async () => {
  const view = viewWith({ tags: ['old'], note: 'First try.' });
  const { wrapper, calls } = await mountPage(RunNotes, { props: { view, canEdit: true } });
  expect(wrapper.text()).toContain('First try.');
  await wrapper.get('[aria-label="Edit tags and note"]').trigger('click');
  const tags = wrapper.get<HTMLInputElement>('input');
  await flushPromises();
  expect([tags.element.value, document.activeElement === tags.element]).toEqual(['old', true]);
  await tags.setValue('old, new,, old');
  await wrapper.get('textarea').setValue(' Second try. ');
  await wrapper.get('form').trigger('submit');
  await flushPromises();
  expect(calls.filter(([method]) => method === 'updateRun')).toEqual([
    ['updateRun', view.row.id, { tags: ['old', 'new'], note: 'Second try.' }],
  ]);
  expect(wrapper.find('form').exists()).toBe(false);
});

it('discards the changes on Escape, and gives the focus back to its button', async () => {
  const { wrapper, calls } = await mountPage(RunNotes, {
    props: { view: viewWith({ tags: [], note: '' }), canEdit: true },
  });
  await wrapper.get('[aria-label="Add tags or a note"]').trigger('click');
  await wrapper.get('textarea').setValue('Never kept.');
  await wrapper.get('textarea').trigger('keydown', { key: 'Escape' });
  await flushPromises();
  expect(calls.map(([method]) => method)).not.toContain('updateRun');
  expect(document.activeElement?.getAttribute('aria-label')).toBe('Add tags or a note');
});

it('shows watchers what is there, without a button', async () => {
  const { wrapper } = await mountPage(RunNotes, { props: { view: viewWith({ tags: ['best'] }), canEdit: false } });
  expect(wrapper.text()).toBe('best');
  expect(wrapper.find('button').exists()).toBe(false);
});
