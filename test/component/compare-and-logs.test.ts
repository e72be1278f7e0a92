import { describe, expect, it } from 'vitest';
import type { LogLine, RunView } from '../../core/protocol/pages/run-views.ts';
import { runConfigSchema } from '../../core/protocol/run/config.ts';
import { useRunStore } from '../../src-renderer/stores/run.ts';
import LogsTab from '../../src-renderer/views/run/LogsTab.vue';
import ComparePage from '../../src-renderer/views/compare/ComparePage.vue';
import PanelChoice from '../../src-renderer/views/compare/PanelChoice.vue';
import DifferencesTable from '../../src-renderer/views/compare/results/DifferencesTable.vue';
import { runSubject } from '../../src-renderer/views/compare/compared-subject.ts';
import { runRecord, runRow, runView } from '../unit/renderer/run-fixtures.ts';
import { buttonNamed, mountPage } from './mount-page.ts';

describe('the differences between runs', () => {
  const run = (id: string, name: string, config: object): RunView =>
    runView({
      record: runRecord({ id, name, status: 'finished', config: runConfigSchema.parse(config), attempts: [] }),
      row: runRow({ id, name, status: 'finished' }),
    });

  async function open(runs: RunView[]) {
    const { wrapper } = await mountPage(DifferencesTable, { props: { subjects: runs.map(runSubject) } });
    const rows = () =>
      wrapper
        .findAll('tbody tr')
        .map((row) => row.findAll('th, td').map((cell) => cell.text().replaceAll(/\s+/g, ' ')));
    return { wrapper, rows };
  }

  it('are the options in which they differ', async () => {
    const { rows } = await open([
      run('id-1111', 'a', { members: 2, maxEpochs: 7 }),
      run('id-2222', 'b', { members: 4, maxEpochs: 7 }),
    ]);
    expect(rows()).toEqual([
      ['Project', 'p', 'p'],
      ['members', '2', '4'],
    ]);
  });

  it('are none where the configurations are identical; runs of one name are told apart', async () => {
    const { wrapper, rows } = await open([run('id-1111', 'a', {}), run('id-2222', 'a', {})]);
    expect(rows()).toHaveLength(1);
    expect(wrapper.get('p').text()).toBe('The configurations are identical.');
    expect(wrapper.findAll('a').map((link) => link.text())).toEqual(['a (1111)', 'a (2222)']);
    expect(wrapper.findAll('a').map((link) => link.attributes('href'))).toEqual(['/runs/id-1111', '/runs/id-2222']);
  });
});

describe('the panels of a comparison', () => {
  const known = ['val/ens_nll', 'val/ens_acc', 'val/ens_ece'];
  const open = async (metrics: string[]) => (await mountPage(PanelChoice, { props: { metrics, known } })).wrapper;

  it('are removed by a press, except the last one', async () => {
    const two = await open(['val/ens_nll', 'val/ens_acc']);
    await two.get('[aria-label="Remove the panel ens NLL"]').trigger('click');
    expect(two.emitted('change')).toEqual([[['val/ens_acc']]]);
    const one = await open(['val/ens_acc']);
    expect(one.get('[aria-label="Remove the panel ens ACC"]').attributes('disabled')).toBe('');
  });

  it('are added from a menu of the other metrics', async () => {
    const wrapper = await open(['val/ens_nll']);
    await wrapper.get('[aria-haspopup=menu]').trigger('keydown', { key: 'Enter' });
    await expect.poll(() => document.querySelectorAll('[role=menuitem]')).toHaveLength(2);
    buttonNamed('ens ECEval/ens_ece').click();
    await expect.poll(() => wrapper.emitted('change')).toEqual([[['val/ens_nll', 'val/ens_ece']]]);
  });
});

describe('a comparison with a run that is gone', () => {
  const answer = (id: string): RunView => {
    if (id === 'gone') throw new Error('No run has the id "gone".');
    return runView({
      record: runRecord({ id, status: 'finished' }),
      row: runRow({ id, name: id, status: 'finished' }),
    });
  };
  const open = (ids: string) =>
    mountPage(
      ComparePage,
      { address: `/compare?runs=${ids}` },
      { run: answer, runs: () => ({ rows: [], total: 0 }), series: () => ({ series: [] }) },
    );

  it('shows the others, says which one is missing, and can leave it out', async () => {
    const { wrapper } = await open('a,gone,b');
    await expect.poll(() => wrapper.find('.missing').exists()).toBe(true);
    expect(wrapper.get('.missing').text()).toContain('One run is not shown. No run has the id "gone".');
    expect(wrapper.findAll('.results a').map((link) => link.text())).toEqual(['a', 'b']);
    await wrapper.get('.missing button').trigger('click');
    await expect.poll(() => wrapper.find('.missing').exists()).toBe(false);
  });

  it('says why nothing is shown where all are gone', async () => {
    const { wrapper } = await open('gone');
    await expect.poll(() => wrapper.find('[role=alert] h2').exists()).toBe(true);
    expect(wrapper.get('[role=alert]').text()).toContain('No run has the id "gone".');
  });
});

describe('the logs', () => {
  const lines: LogLine[] = [
    { rank: 0, time: '2026-01-01T00:00:00.000Z', text: 'Epoch 1 begins' },
    { rank: 1, time: '2026-01-01T00:00:01.000Z', text: 'WARN: epoch 1 is slow' },
    { rank: 0, time: '2026-01-01T00:00:02.000Z', text: 'done' },
  ];
  const [first] = runView().ranks;
  const tab = {
    components: { LogsTab },
    setup: () => ({ run: useRunStore('r') }),
    template: '<LogsTab v-if="run.view !== null" :run="run" :view="run.view" />',
  };

  async function open(query = '', printed = lines) {
    const page = await mountPage(
      tab,
      { address: `/runs/r/logs${query}` },
      {
        run: () => runView({ record: runRecord({ status: 'finished' }), ranks: [first, { ...first, rank: 1 }] }),
        series: () => ({ series: [] }),
        deviceLoads: () => [],
        logs: (_id, { ranks }) => printed.filter(({ rank }) => ranks.includes(rank)),
      },
    );
    await expect.poll(() => page.wrapper.find('.filters').exists()).toBe(true);
    const count = () => page.wrapper.get('.filters [role=status]').text();
    return { ...page, count };
  }

  it('are counted, and searched by words in the address', async () => {
    const { count, router, wrapper } = await open();
    await expect.poll(count).toBe('3 lines');
    await wrapper.get('input[type=search]').setValue('epoch warn');
    await expect.poll(count).toBe('1 line');
    expect(router.currentRoute.value.query).toEqual({ find: 'epoch warn' });
    await wrapper.get('input[type=search]').setValue('absent');
    await expect.poll(() => wrapper.find('h2').text()).toBe('No matching lines');
  });

  it('are those of one rank where the address names one', async () => {
    const { calls, count, wrapper } = await open('?rank=0');
    await expect.poll(count).toBe('2 lines');
    expect(calls.filter(([method]) => method === 'logs').at(-1)).toEqual(['logs', 'r', { ranks: [0], limit: 20_000 }]);
    await wrapper.get('select').setValue('');
    await expect.poll(count).toBe('3 lines');
  });

  it('say when there is no output', async () => {
    const { wrapper } = await open('', []);
    await expect.poll(() => wrapper.find('h2').exists() && wrapper.get('h2').text()).toBe('No lines yet');
  });
});
