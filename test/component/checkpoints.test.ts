import { describe, expect, it } from 'vitest';
import type { CheckpointCell } from '../../core/protocol/pages/run-data.ts';
import type { SetEvaluationResult } from '../../core/protocol/run/checkpoint-tasks.ts';
import ToastStack from '../../src-renderer/components/frame/ToastStack.vue';
import { useRunStore } from '../../src-renderer/stores/run.ts';
import CheckpointsTab from '../../src-renderer/views/run/checkpoints/CheckpointsTab.vue';
import { runView } from '../unit/renderer/run-fixtures.ts';
import { buttonNamed, mountPage } from './mount-page.ts';

function saved(rank: number, name: string, epoch: number, isPinned = false): CheckpointCell {
  const record = {
    format: 1 as const,
    rank,
    name,
    epoch,
    step: 10 * (epoch + 1),
    monitor: null,
    score: null,
    sha256: '0'.repeat(64),
    bytes: 1024,
    savedAt: '2026-01-01T00:00:00.000Z',
  };
  return {
    record,
    isPinned,
    isEnsembleBest: name === 'ensemble-best',
    isMemberBest: name === 'member-best',
  };
}

/** Rank 0 has epochs 0, 2 and 4 (steps 10, 30, 50), rank 1 has 2 and 4. Epoch 4 is the ensemble's best. */
const checkpoints = [
  saved(0, 'epoch-00000', 0),
  saved(0, 'epoch-00002', 2, true),
  saved(1, 'epoch-00002', 2),
  saved(0, 'ensemble-best', 4),
  saved(1, 'ensemble-best', 4),
  saved(1, 'member-best', 4),
];

const tab = {
  components: { CheckpointsTab, ToastStack },
  setup: () => ({ run: useRunStore('r') }),
  template: '<CheckpointsTab v-if="run.view !== null" :run="run" :view="run.view" /><ToastStack />',
};

async function open(address = '/runs/r/checkpoints') {
  const result = (nll: number): SetEvaluationResult => ({
    split: 'validation',
    ensemble: { nll, ambiguity: nll / 4 },
    members: {},
    warnings: [],
  });
  const page = await mountPage(
    tab,
    { address },
    {
      run: () => runView(),
      series: () => ({ series: [] }),
      deviceLoads: () => [],
      checkpoints: () => ({ cells: checkpoints, warnings: ['a.json is damaged'] }),
      evaluateSet: (_id, { members }) => result(members.length === 2 ? 0.4101 : 0.5),
      deleteCheckpoints: () => ({ deletion: 'd7' }),
    },
  );
  await expect.poll(() => page.wrapper.findAll('.cell').length).toBe(5);
  const changing = new Set(['pinCheckpoints', 'deleteCheckpoints', 'undoDelete', 'evaluateSet']);
  return {
    ...page,
    requests: () => page.calls.filter(([method]) => changing.has(method)),
    query: () => page.router.currentRoute.value.query,
    cell: (key: string) => page.wrapper.get<HTMLButtonElement>(`[data-cell="${key}"]`),
    reachable: () =>
      page.wrapper
        .findAll('.cell')
        .flatMap((cell) => (cell.attributes('tabindex') === '0' ? [cell.attributes('data-cell')] : [])),
  };
}

describe('the checkpoint matrix', () => {
  it('describes the content of each cell', async () => {
    const { cell, wrapper } = await open('/runs/r/checkpoints?a=0@30&b=0@30_1@50');
    expect(cell('0@10').attributes('aria-label')).toBe(
      'rank 0, epoch 1, step 10: epoch-00000, not evaluated, in no set',
    );
    expect(cell('0@30').attributes('aria-label')).toBe(
      'rank 0, epoch 3, step 30: epoch-00002, pinned, not evaluated, in set A and B',
    );
    expect(cell('1@50').attributes('aria-label')).toBe(
      'rank 1, epoch 5, step 50: ensemble-best, member-best, not evaluated, in set B',
    );
    expect(wrapper.findAll('.cell').map((one) => one.text())).toEqual(['', 'AB', '', '', 'B']);
    expect(wrapper.findAll('.cell').map((one) => one.attributes('aria-pressed'))).toEqual([
      'false',
      'true',
      'false',
      'false',
      'true',
    ]);
    expect(cell('1@50').classes()).toContain('ring');
    expect(wrapper.findAll('thead .best').map((one) => one.text())).toEqual(['5']);
  });

  it('selects by click, a range by shift-click, and a column by its epoch', async () => {
    const { cell, query, wrapper } = await open();
    await cell('0@10').trigger('click');
    await expect.poll(query).toEqual({ a: '0@10' });
    await cell('1@30').trigger('click', { shiftKey: true });
    await expect.poll(query).toEqual({ a: '0@10_0@30_1@30' });
    await cell('0@30').trigger('click');
    await expect.poll(query).toEqual({ a: '0@10_1@30' });
    await wrapper.get('[value=b]').setValue(true);
    await wrapper.findAll('.moment')[2].trigger('click');
    await expect.poll(query).toEqual({ a: '0@10_1@30', b: '0@50_1@50' });
    await wrapper
      .findAll('[aria-label="Set A"] button')
      .find((button) => button.text() === 'Clear')
      ?.trigger('click');
    await expect.poll(query).toEqual({ b: '0@50_1@50' });
  });

  it('is one stop for Tab; arrows move over gaps and stay inside', async () => {
    const { cell, reachable } = await open();
    expect(reachable()).toEqual(['0@10']);
    cell('0@10').element.focus();
    await cell('0@10').trigger('keydown', { key: 'ArrowDown' });
    expect(reachable()).toEqual(['0@10']);
    await cell('0@10').trigger('keydown', { key: 'ArrowRight' });
    await expect.poll(reachable).toEqual(['0@30']);
    expect(document.activeElement).toBe(cell('0@30').element);
    await cell('0@30').trigger('keydown', { key: 'ArrowDown' });
    await expect.poll(reachable).toEqual(['1@30']);
    await cell('1@30').trigger('keydown', { key: 'ArrowLeft' });
    expect(reachable()).toEqual(['1@30']);
  });

  it('selects, pins and deletes by key', async () => {
    const { cell, query, requests } = await open();
    await cell('0@10').trigger('keydown', { key: ' ' });
    await expect.poll(query).toEqual({ a: '0@10' });
    await cell('0@10').trigger('keydown', { key: 'k' });
    await cell('0@30').trigger('keydown', { key: 'k' });
    await cell('0@10').trigger('keydown', { key: 'k', ctrlKey: true });
    const pin = (epoch: number, isPinned: boolean) => [
      'pinCheckpoints',
      'r',
      { checkpoints: [{ rank: 0, name: `epoch-0000${epoch}` }], isPinned },
    ];
    await expect.poll(requests).toEqual([pin(0, true), pin(2, false)]);
  });

  it('deletes at once, with undo', async () => {
    const { cell, requests, wrapper } = await open();
    await cell('0@10').trigger('keydown', { key: 'Delete' });
    const deletion = ['deleteCheckpoints', 'r', { checkpoints: [{ rank: 0, name: 'epoch-00000' }] }];
    await expect.poll(requests).toEqual([deletion]);
    await expect.poll(() => wrapper.get('.toasts').text()).toContain('Deleted 1 checkpoint, 1 KiB.');
    buttonNamed('Undo').click();
    await expect.poll(requests).toEqual([deletion, ['undoDelete', 'd7']]);
  });

  it('asks before it deletes pinned or best checkpoints', async () => {
    const { cell, requests } = await open();
    const dialog = () => document.querySelector('[role=alertdialog]');
    await cell('1@50').trigger('keydown', { key: 'Delete' });
    await expect
      .poll(() => dialog()?.textContent)
      .toContain(
        '1 selected: 1 is of the ensemble’s best, 1 is the best of their rank. You can undo this for 10 seconds.',
      );
    buttonNamed('Keep').click();
    await expect.poll(dialog).toBeNull();
    expect(requests()).toEqual([]);
    await cell('1@50').trigger('keydown', { key: 'Delete' });
    await expect.poll(dialog).not.toBeNull();
    dialog()?.querySelector<HTMLButtonElement>('.danger')?.click();
    const names = ['ensemble-best', 'member-best'];
    await expect
      .poll(requests)
      .toEqual([['deleteCheckpoints', 'r', { checkpoints: names.map((name) => ({ rank: 1, name })) }]]);
  });
});

describe('two sets of checkpoints', () => {
  it('are evaluated once each, and compared', async () => {
    const { requests, wrapper } = await open('/runs/r/checkpoints?a=0@10_1@30&b=0@50');
    buttonNamed('Evaluate').click();
    const request = (members: object[], split: string) => ['evaluateSet', 'r', { members, split }];
    const a = [
      { rank: 0, name: 'epoch-00000' },
      { rank: 1, name: 'epoch-00002' },
    ];
    const b = [{ rank: 0, name: 'ensemble-best' }];
    await expect.poll(requests).toEqual([request(a, 'validation'), request(b, 'validation')]);
    await expect.poll(() => wrapper.find('.tray tbody').exists()).toBe(true);
    const row = () => wrapper.findAll('.tray tbody tr:first-child td').map((cell) => cell.text());
    const titles = wrapper.findAll('.tray tbody th').map((title) => title.text());
    expect(titles).toEqual(['NLL', 'Diversity gain']);
    await expect.poll(row).toEqual(['0.4101', '0.5000', '0.08990', 'A']);
    buttonNamed('Evaluate').click();
    await wrapper.get('.tray select').setValue('test');
    await expect.poll(() => wrapper.find('.tray tbody').exists()).toBe(false);
    buttonNamed('Evaluate').click();
    await expect.poll(requests).toHaveLength(4);
    expect(requests().slice(2)).toEqual([request(a, 'test'), request(b, 'test')]);
  });
});
