import { flushPromises } from '@vue/test-utils';
import { describe, expect, it } from 'vitest';
import type { PredictionColumn } from '../../core/ensemble/columns.ts';
import type { SampleForm, SamplePredictions } from '../../core/protocol/pages/new-samples.ts';
import PredictTab from '../../src-renderer/views/run/predict/PredictTab.vue';
import { buttonNamed, type HubAnswers, mountPage } from './mount-page.ts';

const form: SampleForm = {
  set: 'ensemble-best',
  ranks: [0, 1],
  fields: [
    { name: 'age', type: 'number', categories: [], mean: 31.5, isOptional: false },
    { name: 'port', type: 'category', categories: ['C', 'S'], mean: null, isOptional: true },
  ],
  series: null,
  takesImages: false,
};
const number = (name: string, ...values: number[]): PredictionColumn => ({
  name,
  type: 'number',
  values: Float64Array.from(values),
});
const answer = (rows: number): SamplePredictions => ({
  set: 'ensemble-best',
  rows,
  first: [
    // The second row of the file has no value.
    number('row', 0, 2),
    number('mean', 3, 8),
    number('epistemic', 1, 0.5),
    { name: 'outside', type: 'boolean', values: Uint8Array.of(1, 0) },
    { name: 'withheld', type: 'boolean', values: Uint8Array.of(0, 0) },
    number('outside_variance', 1.5, 0.25),
    number('member_0_mean', 2, 7.5),
    number('member_1_mean', 4, 8.5),
  ],
  outside: { score: 'variance', threshold: 1, quantile: 0.95, others: [] },
  inputs: [1, 2].map((age) => [{ kind: 'row', name: null, fields: [{ name: 'age', value: age }], hidden: 0 }]),
  csv: new TextEncoder().encode('mean\n3\n'),
  warnings: ['The project has changed.'],
});

const textOf = (cell: { text: () => string }): string => cell.text().replace(/\s+/g, ' ');
const props = { run: { id: 'run-1' }, view: { row: { id: 'run-1', name: 'Wine' } } };
const open = (answers: HubAnswers) => mountPage(PredictTab, { props }, { sampleForm: () => form, ...answers });

describe('the tab Predict', () => {
  it('predicts a filled-in row, and shows the ensemble, the members and the warnings', async () => {
    const { wrapper, calls } = await open({ predictSamples: () => answer(1) });
    expect(wrapper.get('input').attributes('placeholder')).toBe('mean 31.50');
    expect(wrapper.findAll('option').map((option) => option.text())).toEqual(['missing', 'C', 'S']);
    await wrapper.get('input').setValue('40');
    await wrapper.get('select').setValue('S');
    await wrapper.get('form').trigger('submit');
    await flushPromises();
    const [, id, file] = calls.find(([method]) => method === 'predictSamples') ?? [];
    expect(id).toBe('run-1');
    expect(new TextDecoder().decode((file as { bytes: Uint8Array }).bytes)).toBe('{"age":40,"port":"S"}\n');
    const cells = wrapper.findAll('.answer tbody tr').map((row) => row.findAll('th, td').map(textOf));
    expect(cells).toEqual([
      ['mean', '3', '', '2', '4'],
      ['variance decides', '1.500', '1', '▲ outside'],
    ]);
    expect(wrapper.get('.answer thead th').text()).toBe('Prediction');
    expect(wrapper.findAll('circle')).toHaveLength(2);
    expect(wrapper.text()).toContain('outside the training data');
    expect(wrapper.text()).toContain('The project has changed.');
    expect(wrapper.find('[aria-label="Answers"]').exists()).toBe(false);
  });

  it('predicts steps of series that were pasted as a table', async () => {
    const series = { columns: ['place', 'day', 'load'], entity: 'place', length: 2 };
    const sampleForm = (): SampleForm => ({ ...form, fields: null, series });
    const { wrapper, calls } = await open({ sampleForm, predictSamples: () => answer(1) });
    expect(wrapper.text()).toContain('follows the last 2 steps of each place');
    expect(wrapper.get('textarea').attributes('placeholder')).toBe('place,day,load');
    expect(buttonNamed('Predict').disabled).toBe(true);
    await wrapper.get('textarea').setValue('place\tday\tload\nnorth\t1\t2\nnorth\t2\t3\n\n');
    await wrapper.get('form').trigger('submit');
    await flushPromises();
    const file = calls.find(([method]) => method === 'predictSamples')?.[2] as { ending: string; bytes: Uint8Array };
    expect(file.ending).toBe('csv');
    expect(new TextDecoder().decode(file.bytes)).toBe('place\tday\tload\nnorth\t1\t2\nnorth\t2\t3\n');
  });

  it('asks nothing while a field has no value', async () => {
    const { wrapper, calls } = await open({});
    await wrapper.get('form').trigger('submit');
    await flushPromises();
    expect(wrapper.get('[role=alert]').text()).toContain('"age" has no value');
    expect(calls.some(([method]) => method === 'predictSamples')).toBe(false);
  });

  it('lists the answers of a file, and shows the members of the chosen row', async () => {
    const { wrapper } = await open({ predictSamples: () => answer(300) });
    const input = wrapper.get<HTMLInputElement>('input[type=file]');
    const files = { item: () => new File(['age\n1\n2\n'], 'rows.csv') };
    Object.defineProperty(input.element, 'files', { value: files });
    await input.trigger('change');
    await flushPromises();
    expect(wrapper.text()).toContain('The first 2 of 300 rows');
    expect(wrapper.text()).toContain('Row 0');
    buttonNamed('2').click();
    await flushPromises();
    expect(wrapper.get('.answer h2').text()).toBe('Row 2');
    const cells = wrapper.findAll('.answer tbody tr').map((row) => row.findAll('th, td').map(textOf));
    expect(cells).toEqual([
      ['mean', '8', '', '7.500', '8.500'],
      ['variance decides', '0.2500', '1', 'inside'],
    ]);
    expect(wrapper.findAll('.answer .input-parts dt, .answer .input-parts dd').map((cell) => cell.text())).toEqual([
      'age',
      '2',
    ]);
    expect(wrapper.text()).not.toContain('outside the training data');

    const rows = () => wrapper.findAll('.answers tbody tr').map((row) => row.find('button').text());
    expect(rows()).toEqual(['0', '2']);
    for (const [filter, listed] of [
      ['Answered', ['2']],
      ['Outside', ['0']],
      ['Withheld', []],
      ['All', ['0', '2']],
    ]) {
      buttonNamed(String(filter)).click();
      await flushPromises();
      expect(rows(), String(filter)).toEqual(listed);
    }
  });

  it('shows how much of a large file was sent, until it is cancelled', async () => {
    const parts = Promise.withResolvers<void>();
    const { wrapper, calls } = await open({
      openUpload: () => 'upload-1',
      sendPart: (_upload, part) => (part[0] === 0 ? undefined : parts.promise),
    });
    const input = wrapper.get<HTMLInputElement>('input[type=file]');
    const file = new File([new Uint8Array(1_000_000), Uint8Array.of(1), new Uint8Array(999_999)], 'rows.csv');
    Object.defineProperty(input.element, 'files', { value: { item: () => file } });
    await input.trigger('change');
    await expect.poll(() => wrapper.find('progress').exists()).toBe(true);
    expect(wrapper.get('.sending').text()).toContain('50 %');
    buttonNamed('Cancel').click();
    parts.resolve();
    await expect
      .poll(() => wrapper.find('[role=alert]').exists() && wrapper.get('[role=alert]').text())
      .toBe('Sending was cancelled. Nothing was predicted.');
    expect(calls.at(-1)).toEqual(['dropUpload', 'upload-1']);
    expect(wrapper.find('progress').exists()).toBe(false);
  });

  it("shows the hub's reason", async () => {
    const { wrapper } = await open({
      predictSamples: () => Promise.reject(new Error('Column "age" of samples.jsonl, line 1, holds "x".')),
    });
    await wrapper.get('input').setValue('1');
    await wrapper.get('form').trigger('submit');
    await flushPromises();
    expect(wrapper.get('[role=alert]').text()).toContain('Column "age"');
  });

  it('says so where a run cannot predict', async () => {
    const { wrapper } = await open({ sampleForm: () => Promise.reject(new Error('It has no checkpoints.')) });
    expect(wrapper.text()).toContain('This run cannot predict');
    expect(wrapper.text()).toContain('It has no checkpoints.');
  });
});
