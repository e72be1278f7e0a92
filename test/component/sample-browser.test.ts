import { flushPromises, type VueWrapper } from '@vue/test-utils';
import { describe, expect, it } from 'vitest';
import type { PredictionData } from '../../core/protocol/pages/run-data.ts';
import type { PageRole } from '../../core/protocol/pages/rpc.ts';
import type { InputsRequest, SampleInputs } from '../../core/ensemble/sample-inputs.ts';
import ToastStack from '../../src-renderer/components/frame/ToastStack.vue';
import { useSessionStore } from '../../src-renderer/stores/session.ts';
import SampleBrowser from '../../src-renderer/views/run/samples/SampleBrowser.vue';
import { buttonNamed, type HubAnswers, mountPage } from './mount-page.ts';

/** 45 samples: sample n has the value n, and both members predict 2n ± 1, so that the error grows with n. */
const samples = 45;
const each = (value: (n: number) => number) => Float32Array.from({ length: samples }, (_, n) => value(n));
const data: PredictionData = {
  combination: 'mean',
  task: 'regression',
  kind: 'values',
  ranks: [0, 1],
  epoch: 0,
  samples,
  width: 1,
  outputs: [Float32Array.of(...each((n) => 2 * n + 1), ...each((n) => 2 * n - 1))],
  targets: each((n) => n),
  feature: null,
  classNames: null,
  targetNames: null,
  areHeldOut: false,
  weights: null,
  places: null,
  positions: 1,
};

/** The page of the run's owner, or of somebody who watches. */
async function open(given: PredictionData, address = '/', answers: HubAnswers = {}, role: PageRole = 'owner') {
  const browser = {
    components: { SampleBrowser, ToastStack },
    setup: () => {
      void useSessionStore().load();
      return { data: given };
    },
    template: '<SampleBrowser run="r" :data="data" split="validation" /><ToastStack />',
  };
  const page = await mountPage(browser, { address }, { session: () => ({ role, canInvite: false }), ...answers });
  return { ...page, asked: () => page.calls.filter(([method]) => method === 'sampleInputs') };
}
const samplesIn = (wrapper: VueWrapper) => wrapper.findAll('tbody th').map((cell) => cell.text());

describe('the browser of samples', () => {
  it('shows 20 samples a page, and a new order from its first page', async () => {
    const { wrapper, router } = await open(data);
    expect(samplesIn(wrapper).slice(0, 2)).toEqual(['0', '1']);
    buttonNamed('Next').click();
    await flushPromises();
    expect(samplesIn(wrapper)[0]).toBe('20');
    buttonNamed('Error').click();
    await flushPromises();
    expect(samplesIn(wrapper).slice(0, 2)).toEqual(['44', '43']);
    expect(router.currentRoute.value.query.samples).toBe('error.1');
    // The members say 89 and 87: sqrt((1² + 1²) / 2) = 1.
    expect(
      wrapper
        .find('tbody tr')
        .findAll('td')
        .map((cell) => cell.text()),
    ).toEqual(['44', '88 ± 1', '1', '44', '1', '89 87']);
  });

  it('opens the page that the address names, at most the last one', async () => {
    const { wrapper } = await open(data, '/?samples=sample.9');
    expect(samplesIn(wrapper)).toEqual(['40', '41', '42', '43', '44']);
    expect(buttonNamed('Next').disabled).toBe(true);
    expect(wrapper.text()).toContain('41 to 45 of 45');
  });

  it('a single model has no members to compare', async () => {
    const { wrapper } = await open({ ...data, ranks: [0], outputs: [each((n) => n)] });
    expect(wrapper.findAll('thead th').map((cell) => cell.text())).toEqual([
      'Sample',
      'Label',
      'Model',
      'Standard deviation',
      'Absolute error',
    ]);
    expect(wrapper.text()).not.toContain('Disagreement');
  });

  it('is not there where members held out different samples', async () => {
    const { wrapper } = await open({ ...data, areHeldOut: true });
    expect(wrapper.find('table').exists()).toBe(false);
  });
});

describe('an open sample', () => {
  const card = (wrapper: VueWrapper) => wrapper.get('.sample-card');
  const press = async (key: string) => {
    window.dispatchEvent(new KeyboardEvent('keydown', { key }));
    await flushPromises();
  };
  const rowOf = (_id: string, { samples: wanted }: InputsRequest): SampleInputs => ({
    inputs: wanted.map((sample) => ({
      sample,
      parts: [
        {
          kind: 'row',
          name: null,
          fields: [
            { name: 'age', value: 10 * sample },
            { name: 'port', value: null },
          ],
          hidden: 0,
        },
      ],
    })),
    warnings: ['The code that the run kept is used.'],
  });

  it('shows its input beside the answers, and is in the address', async () => {
    const { wrapper, router, asked } = await open(data, '/?samples=error.1', { sampleInputs: rowOf });
    expect(asked()).toEqual([]);
    buttonNamed('Sample 43').click();
    await flushPromises();
    expect(router.currentRoute.value.query).toEqual({ samples: 'error.1', sample: '43' });
    expect(asked()).toEqual([
      [
        'sampleInputs',
        'r',
        { split: 'validation', samples: [43, 44, ...Array.from({ length: 18 }, (_, i) => 42 - i)] },
      ],
    ]);
    expect(card(wrapper).get('h3').text()).toBe('Sample 43');
    const facts = card(wrapper).findAll('.input-side dt, .input-side dd');
    expect(facts.map((fact) => fact.text())).toEqual(['age', '430', 'port', 'missing']);
    expect(card(wrapper).text()).toContain('The code that the run kept is used.');
    const answers = card(wrapper)
      .findAll('.answer-side tbody tr')
      .map((row) => row.findAll('th, td').map((cell) => cell.text()));
    expect(answers).toEqual([['value', '86', '', '87', '85']]);
    buttonNamed('Close').click();
    await flushPromises();
    expect(router.currentRoute.value.query).toEqual({ samples: 'error.1' });
  });

  it('is followed by the next one, on its page, with keys and buttons', async () => {
    const { wrapper, router, asked } = await open(data, '/?samples=sample.1&sample=19', { sampleInputs: rowOf });
    expect(card(wrapper).get('h3').text()).toBe('Sample 19');
    await press('j');
    expect(router.currentRoute.value.query).toEqual({ samples: 'sample.2', sample: '20' });
    // Only what has not been read yet.
    expect(asked()[1]).toEqual([
      'sampleInputs',
      'r',
      { split: 'validation', samples: Array.from({ length: 20 }, (_, i) => 20 + i) },
    ]);
    await press('k');
    expect(card(wrapper).get('h3').text()).toBe('Sample 19');
    expect(asked()).toHaveLength(2);
    await press('Escape');
    expect(wrapper.find('.sample-card').exists()).toBe(false);
    await press('j');
    expect(card(wrapper).get('h3').text()).toBe('Sample 0');
    expect(buttonNamed('Previous sample').disabled).toBe(true);
  });

  it('says why its input cannot be shown, and tries again', async () => {
    let isRestored = false;
    const { wrapper } = await open(data, '/?sample=3', {
      sampleInputs: (id, request) =>
        isRestored ? rowOf(id, request) : Promise.reject(new Error('The data have changed since the run trained.')),
    });
    expect(card(wrapper).get('[role=alert]').text()).toContain('The data have changed since the run trained.');
    expect(card(wrapper).get('.answer-side').text()).toContain('Label');
    isRestored = true;
    buttonNamed('Try again').click();
    await flushPromises();
    expect(card(wrapper).get('.input-side dd').text()).toBe('30');
  });

  it('has no input for watchers, whose pages run no code', async () => {
    const { wrapper, asked } = await open(data, '/?sample=3', { sampleInputs: rowOf }, 'watcher');
    expect(card(wrapper).get('h3').text()).toBe('Sample 3');
    expect(wrapper.find('.input-side').exists()).toBe(false);
    expect(asked()).toEqual([]);
  });
});

describe('the samples of classifiers', () => {
  /** Three samples of the classes cat, dog, dog. The model takes the second for a cat. */
  const named: PredictionData = {
    ...data,
    task: 'classification',
    kind: 'probabilities',
    ranks: [0],
    samples: 3,
    width: 2,
    outputs: [Float32Array.of(0.9, 0.1, 0.8, 0.2, 0.3, 0.7)],
    targets: Int32Array.of(0, 1, 1),
    classNames: ['cat', 'dog'],
  };

  it('can be those of a class, and those that are wrong', async () => {
    const { wrapper, router } = await open(named, '/?samples=sample.1');
    await wrapper.get('select').setValue('1');
    await flushPromises();
    expect(samplesIn(wrapper)).toEqual(['1', '2']);
    await wrapper.get('input[type=checkbox]').setValue(true);
    await flushPromises();
    expect(samplesIn(wrapper)).toEqual(['1']);
    expect(router.currentRoute.value.query).toEqual({ samples: 'sample.1', label: 'dog', wrong: '1' });
    await wrapper.get('select').setValue('0');
    await flushPromises();
    expect(wrapper.text()).toContain('No matching samples');
  });

  it('show the label among the probabilities', async () => {
    const { wrapper } = await open(named, '/?sample=1', {}, 'watcher');
    const rows = wrapper
      .findAll('.answer-side tbody tr')
      .map((row) => row.findAll('th, td').map((cell) => cell.text()));
    expect(rows).toEqual([
      ['cat', '0.8000', '', '0.8000'],
      ['dog label', '0.2000', '', '0.2000'],
    ]);
  });
});
