import { flushPromises } from '@vue/test-utils';
import { describe, expect, it } from 'vitest';
import { describeOptions } from '../../core/options/index.ts';
import { runConfigSchema } from '../../core/protocol/run/config.ts';
import StudiesPage from '../../src-renderer/views/studies/StudiesPage.vue';
import NewStudyPage from '../../src-renderer/views/studies/new/NewStudyPage.vue';
import { summaryOf, trialOf, viewOf } from '../unit/renderer/study-fixtures.ts';
import { studyOf } from '../unit/studies/studies.ts';
import { buttonNamed, mountPage } from './mount-page.ts';

const trials = [trialOf(0, { objectives: [0.5] }), trialOf(1, { state: 'failed', objectives: null })];
const summary = summaryOf(studyOf(), trials);
const upload = '3f9d2c1e-0000-4000-8000-000000000000';
const card = { folder: '/projects/wine', name: 'wine', isTrusted: true, isDescribed: true, error: null };

describe('the list of studies', () => {
  it('shows the newest first, with their best trials, and follows changes', async () => {
    const older = { ...summary, id: 'older', name: 'older', createdAt: '2026-11-22T07:00:00.000Z', best: null };
    const { wrapper, hub } = await mountPage(StudiesPage, {}, { studies: () => [older, summary] });
    const rows = () => wrapper.findAll('tbody tr').map((row) => row.findAll('th, td').map((cell) => cell.text()));
    expect(rows().map((cells) => cells.slice(0, 7))).toEqual([
      ['wine', 'wine', 'stopped', '2 of 100 (1 failed)', 'ensemble NLL', '0.5000', 'weightDecay 0.1000, units 8'],
      [
        'older',
        'wine',
        'stopped',
        '2 of 100 (1 failed)',
        'ensemble NLL',
        '–, no trial has a score',
        '–, no trial has a score',
      ],
    ]);
    expect(wrapper.get('tbody a').attributes('href')).toBe('/studies/study-1');
    hub.page?.studiesChanged({ changed: [{ ...summary, status: 'running' }], removed: ['older'] });
    await flushPromises();
    expect(rows().map(([name, , state]) => [name, state])).toEqual([['wine', 'running']]);
    expect(wrapper.text()).toContain('1, 1 running');
  });

  it('says what to do while there is none, and why it cannot be read', async () => {
    const empty = await mountPage(StudiesPage, {}, { studies: () => [] });
    expect(empty.wrapper.text()).toContain('No studies yet');
    expect(empty.wrapper.get('.notice a').attributes('href')).toBe('/new-study');
    empty.wrapper.unmount();
    const failure = () => Promise.reject(new Error('The index is damaged.'));
    const { wrapper } = await mountPage(StudiesPage, {}, { studies: failure });
    expect(wrapper.text()).toContain('The studies cannot be listed');
    expect(wrapper.text()).toContain('The index is damaged.');
  });

  it('imports a journal of Optuna', async () => {
    const sent: string[] = [];
    const answers = {
      studies: () => [summary],
      projects: () => [card],
      describeProject: () => ({ description: { task: 'classification' } }),
      openUpload: () => upload,
      sendPart: (_upload: string, part: Uint8Array) => void sent.push(new TextDecoder().decode(part)),
      importStudy: () => ({ id: 'new' }),
      study: () => viewOf([]),
    };
    const { calls, router } = await mountPage(StudiesPage, {}, answers);
    buttonNamed('Import from Optuna').click();
    await flushPromises();
    expect(buttonNamed('Import').disabled).toBe(true);
    const file = document.querySelector<HTMLInputElement>('#import-file');
    // Two calls' worth.
    const journal = `{"op_code":0}\n`.repeat(100_000);
    Object.defineProperty(file, 'files', { value: { item: () => new File([journal], 'journal.log') } });
    file?.dispatchEvent(new Event('change'));
    const project = document.querySelector<HTMLSelectElement>('#import-project');
    if (project !== null) project.value = '/projects/wine';
    project?.dispatchEvent(new Event('change'));
    await flushPromises();
    const metric = document.querySelector<HTMLSelectElement>('.dialog [aria-label="Metric 1"]');
    if (metric !== null) metric.value = 'acc';
    metric?.dispatchEvent(new Event('change'));
    await flushPromises();
    document.querySelector('.dialog form')?.dispatchEvent(new Event('submit', { cancelable: true }));
    await expect.poll(() => router.currentRoute.value.fullPath).toBe('/studies/new');
    expect(sent.map(({ length }) => length)).toEqual([1_000_000, 400_000]);
    expect(sent.join('')).toBe(journal);
    const objectives = [{ metric: 'acc', kind: 'ensemble' }];
    const request = { projectFolder: '/projects/wine', upload, name: null, objectives };
    expect(calls.find(([method]) => method === 'importStudy')).toEqual(['importStudy', request]);
  });
});

describe('the form of a new study', () => {
  const hyperparameter = { type: 'integer', help: '', default: 32, minimum: 1 };
  const project = {
    description: {
      name: 'wine',
      task: 'classification',
      metrics: [{ name: 'gain', direction: 'max', of: 'prediction', help: 'The gain.' }],
      search: { units: { kind: 'int', low: 8, high: 64, step: 8 } },
    },
    options: [...describeOptions(runConfigSchema), { ...hyperparameter, path: 'hyperparameters.units' }],
    defaults: { maxEpochs: 20 },
  };
  const open = () =>
    mountPage(
      NewStudyPage,
      { address: '/new-study?project=/projects/wine' },
      {
        projects: () => [card],
        describeProject: () => project,
        createStudy: () => ({ id: 'study-7' }),
        study: () => viewOf([]),
      },
    );

  it("starts with the project's space, and sends what was chosen", async () => {
    const { wrapper, calls, router } = await open();
    const field = (label: string) => wrapper.get<HTMLInputElement>(`[aria-label="${label}"]`);
    expect(field('Name of parameter 1').element.value).toBe('units');
    expect(field('Value of parameter 1').element.value).toBe('int(8,64,8)');

    buttonNamed('Add a parameter').click();
    await flushPromises();
    expect(wrapper.get('[role=alert]').text()).toBe('Choose an option.');
    await field('Name of parameter 2').setValue('optimizer.learningRate');
    await field('Name of parameter 2').trigger('change');
    expect(field('Value of parameter 2').element.value).toMatch(/^log\(/);
    await field('Value of parameter 2').setValue('log(1e-4,1)');

    buttonNamed('Add an option').click();
    await flushPromises();
    await field('Name of option 1').setValue('maxEpochs');
    await field('Value of option 1').setValue('7');
    buttonNamed('Add an objective').click();
    await flushPromises();
    await field('Metric 2').setValue('gain');
    expect(wrapper.get('#new-pruner').attributes('disabled')).toBeDefined();
    await wrapper.get('#new-sampler').setValue('gp');
    await wrapper.get('#start-name').setValue('wide');
    await wrapper.get('form').trigger('submit');
    await expect.poll(() => router.currentRoute.value.fullPath).toBe('/studies/study-7');
    expect(calls.find(([method]) => method === 'createStudy')?.[1]).toMatchObject({
      projectFolder: '/projects/wine',
      name: 'wide',
      trials: 50,
      space: {
        units: { kind: 'int', low: 8, high: 64, step: 8 },
        'optimizer.learningRate': { kind: 'log', low: 1e-4, high: 1 },
      },
      objectives: [
        { metric: 'nll', kind: 'ensemble', direction: 'minimize' },
        { metric: 'gain', kind: 'mean-member', direction: 'maximize' },
      ],
      overrides: { maxEpochs: 7 },
      sampler: { kind: 'gp', startupTrials: 10 },
      pruner: { kind: 'none' },
    });
  });

  it('sends splits, the evaluation, and the settings of sampler and pruner', async () => {
    const { wrapper, calls } = await open();
    await wrapper.get('#new-evaluation').setValue('last');
    await wrapper.get('#new-splits').setValue('three');
    expect(wrapper.get('#new-splits-help').text()).toContain('give a number of folds, such as 5');
    await wrapper.get('#new-splits').setValue('splt=0,1');
    expect(wrapper.get('#new-splits-help').text()).toBe('There is no option splt.');
    await wrapper.get('#new-splits').setValue('2');
    await wrapper.get('#new-sampler').setValue('grid');
    await wrapper.get('#new-sampler-points').setValue('0');
    expect(wrapper.get('#new-sampler-points-help').text()).toContain(
      'It is 0, but must be a whole number of at least 1',
    );
    expect(buttonNamed('Start the study').disabled).toBe(true);
    await wrapper.get('#new-sampler-points').setValue('7');
    await wrapper.get('#new-pruner').setValue('halving');
    expect(wrapper.get<HTMLInputElement>('#new-pruner-maximumResource').element.value).toBe('20');
    await wrapper.get('#new-pruner-reductionFactor').setValue('2');
    await wrapper.get('#new-resource').setValue('members');
    await wrapper.get('form').trigger('submit');
    await flushPromises();
    expect(calls.find(([method]) => method === 'createStudy')?.[1]).toMatchObject({
      evaluation: 'last',
      splits: [
        { 'data.folds': 2, 'data.fold': 0 },
        { 'data.folds': 2, 'data.fold': 1 },
      ],
      sampler: { kind: 'grid', points: 7 },
      pruner: { kind: 'halving', minimumResource: 1, maximumResource: 20, reductionFactor: 2, trials: 27 },
      resource: 'members',
    });
  });

  it('offers the settings of TPE with their defaults', async () => {
    const { wrapper, calls } = await open();
    expect(wrapper.get<HTMLSelectElement>('#new-sampler-multivariate').element.value).toBe('null');
    await wrapper.get('#new-sampler-multivariate').setValue('true');
    await wrapper.get('#new-sampler-startupTrials').setValue('4');
    await wrapper.get('form').trigger('submit');
    await flushPromises();
    const sampler = { kind: 'tpe', startupTrials: 4, candidates: 24, multivariate: true, constantLiar: true };
    expect(calls.find(([method]) => method === 'createStudy')?.[1]).toMatchObject({ sampler });
  });

  it('says what is wrong, and starts nothing', async () => {
    const { wrapper, calls } = await open();
    const values = wrapper.get('[aria-label="Value of parameter 1"]');
    await values.setValue('int(64,8)');
    expect(wrapper.get('[role=alert]').text()).toContain('int from 64 to 8 is empty');
    await values.setValue('float(0.5,1)');
    expect(wrapper.get('[role=alert]').text()).toContain('units would be 0.5');
    await values.setValue('between(1,2)');
    expect(wrapper.get('[role=alert]').text()).toContain('there is no kind between');
    await values.setValue('int(8,64)');
    expect(wrapper.find('[role=alert]').exists()).toBe(false);
    await wrapper.get('[aria-label="Name of parameter 1"]').setValue('unit');
    expect(wrapper.get('[role=alert]').text()).toContain('units');
    await wrapper.get('[aria-label="Name of parameter 1"]').setValue('units');
    await wrapper.get('[aria-labelledby=new-search] .field input').setValue('0');
    expect(wrapper.text()).toContain('It is 0, but must be a whole number of at least 1.');
    expect(buttonNamed('Start the study').disabled).toBe(true);
    await wrapper.get('form').trigger('submit');
    expect(calls.some(([method]) => method === 'createStudy')).toBe(false);
  });

  it('asks for a project first', async () => {
    const { wrapper, router } = await mountPage(
      NewStudyPage,
      { address: '/new-study' },
      { projects: () => [card], describeProject: () => project },
    );
    expect(wrapper.text()).toContain('Choose the project that it trains.');
    await wrapper.get('select').setValue('/projects/wine');
    await expect.poll(() => router.currentRoute.value.query.project).toBe('/projects/wine');
  });
});
