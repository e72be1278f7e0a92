import { flushPromises, type VueWrapper } from '@vue/test-utils';
import { describe, expect, it } from 'vitest';
import type { PredictionData } from '../../core/protocol/pages/run-data.ts';
import SampleBrowser from '../../src-renderer/views/run/ensemble/samples/SampleBrowser.vue';
import { buttonNamed, mountPage } from './mount-page.ts';

/** 45 samples: sample n has the value n, and both members predict 2n ± 1, so that the error grows with n. */
const samples = 45;
const each = (value: (n: number) => number) => Float32Array.from({ length: samples }, (_, n) => value(n));
const data: PredictionData = {
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
  areHeldOut: false,
  places: null,
  positions: 1,
};

const open = (given: PredictionData, address = '/') =>
  mountPage(SampleBrowser, { props: { data: given, split: 'validation' }, address });
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
    expect(
      wrapper
        .find('tbody tr')
        .findAll('td')
        .map((cell) => cell.text()),
    ).toEqual(['44', '88 ± 1.414', '1.414', '44', '1.414', '89 87']);
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
