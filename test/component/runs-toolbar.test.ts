import { describe, expect, it } from 'vitest';
import RunsToolbar from '../../src-renderer/views/runs/RunsToolbar.vue';
import type { RunFilter } from '../../src-renderer/views/runs/run-filter.ts';
import { mountPage } from './mount-page.ts';

const filter: RunFilter = {
  search: 'wide',
  status: 'failed',
  project: 'sine',
  tag: '',
  isArchived: false,
  sort: 'created',
  isDescending: true,
  group: '',
  open: '',
};

async function open(changes: Partial<RunFilter> = {}, tags: string[] = ['night']) {
  const props = { filter: { ...filter, ...changes }, projects: ['blobs', 'sine'], tags };
  const { wrapper } = await mountPage(RunsToolbar, { props });
  const changesOf = () => wrapper.emitted('change')?.map(([change]) => change) ?? [];
  return { wrapper, changesOf };
}

describe('the toolbar of the runs', () => {
  it('shows the filter', async () => {
    const { wrapper } = await open({ tag: 'night', isArchived: true });
    const values = wrapper
      .findAll('input[type=search], select')
      .map(({ element }) => (element as HTMLInputElement).value);
    expect(values).toEqual(['wide', 'failed', 'sine', 'night']);
    expect((wrapper.get('input[type=checkbox]').element as HTMLInputElement).checked).toBe(true);
  });

  it('requests one change at a time', async () => {
    const { wrapper, changesOf } = await open();
    await wrapper.get('#run-search').setValue('deep');
    await wrapper.get('[aria-label=Status]').setValue('finished');
    await wrapper.get('[aria-label=Status]').setValue('');
    await wrapper.get('[aria-label=Project]').setValue('blobs');
    await wrapper.get('[aria-label=Tag]').setValue('night');
    await wrapper.get('input[type=checkbox]').setValue(true);
    expect(changesOf()).toEqual([
      { search: 'deep' },
      { status: 'finished' },
      { status: '' },
      { project: 'blobs' },
      { tag: 'night' },
      { isArchived: true },
    ]);
  });

  it('offers tags if a run has one or the filter names one', async () => {
    expect((await open({}, [])).wrapper.find('[aria-label=Tag]').exists()).toBe(false);
    expect((await open({ tag: 'gone' }, [])).wrapper.find('[aria-label=Tag]').exists()).toBe(true);
  });
});
