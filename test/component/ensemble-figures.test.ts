import { flushPromises } from '@vue/test-utils';
import { describe, expect, it, vi } from 'vitest';
import type { PredictionData } from '../../core/protocol/pages/run-data.ts';
import ConfusionMatrix from '../../src-renderer/views/run/figures/ConfusionMatrix.vue';
import { confusionOf } from '../../src-renderer/views/run/figures/confusion-cells.ts';
import MatrixHeatmap from '../../src-renderer/charts/figures/MatrixHeatmap.vue';
import HeadlineFigures from '../../src-renderer/views/run/ensemble/HeadlineFigures.vue';
import { twoSamples } from '../unit/run-page/two-samples.ts';
import { buttonNamed, mountPage } from './mount-page.ts';

// Nothing has a size here, and charts draw only where they have one.
vi.mock('@vueuse/core', async (original) => {
  const { ref } = await import('vue');
  return { ...(await original<object>()), useElementSize: () => ({ width: ref(480), height: ref(272) }) };
});

describe('the headline numbers', () => {
  const texts = async (given: PredictionData) => {
    const { wrapper } = await mountPage(HeadlineFigures, { props: { data: given, nllEpsilon: 0 } });
    return wrapper.findAll('.figure').map((card) => card.text().replaceAll(/\s+/g, ' '));
  };

  it('stand beside those of the mean member', async () => {
    expect(await texts(twoSamples)).toEqual([
      'Ensemble NLL0.5697 mean member 0.6456 · better',
      'Ensemble accuracy0.5000 mean member 0.7500 · worse',
      'Ensemble ECE0.4000 mean member 0.4000',
      'Diversity gain0.07586',
      'Disagreement0.5000',
    ]);
  });

  it('are – with the reason where a prediction is NaN', async () => {
    const outputs = [Float32Array.of(0.9, 0.1, 0.4, 0.6, NaN, NaN, 0.8, 0.2)];
    const [nll, accuracy, ece] = await texts({ ...twoSamples, outputs });
    for (const text of [nll, accuracy, ece]) {
      expect(text).toContain('–, predictions of member 1 are NaN or infinite');
      expect(text).not.toMatch(/better|worse|NaN0/);
    }
  });
});

describe('the confusion matrix', () => {
  // Cats: 3 right, 1 taken for a dog; dogs: all 2 right.
  const confusion = confusionOf(Int32Array.of(0, 0, 0, 1, 1, 1), Int32Array.of(0, 0, 0, 0, 1, 1), ['cat', 'dog']);
  const open = () => mountPage(ConfusionMatrix, { props: { confusion, runName: 'r' } });

  it('has counts, or shares of each class, and both in its table', async () => {
    const { wrapper, router } = await open();
    const numbers = () => wrapper.findAll('svg text[style]').map((text) => text.text());
    expect(numbers()).toEqual(['3', '1', '2']);
    expect(wrapper.text()).toContain('1 of 6 samples are wrong');
    await wrapper.get('select').setValue('shares');
    await flushPromises();
    expect(router.currentRoute.value.query.confusion).toBe('shares');
    expect(numbers()).toEqual(['75 %', '25 %', '100 %']);
    buttonNamed('Table of Confusion matrix').click();
    await flushPromises();
    const rows = wrapper.findAll('tbody tr').map((row) => row.findAll('th, td').map((cell) => cell.text()));
    expect(rows).toEqual([
      ['cat', '0.7500', '0.2500'],
      ['dog', '0', '1'],
    ]);
  });

  it('is read and pressed with keys', async () => {
    const { wrapper } = await open();
    const cells = wrapper.get('[role=button]');
    expect(cells.attributes('aria-label')).toContain('cat taken for cat: 3 (75 %)');
    await cells.trigger('keydown', { key: 'ArrowRight' });
    expect(cells.attributes('aria-label')).toContain('cat taken for dog: 1 (25 %)');
    await cells.trigger('keydown', { key: 'Enter' });
    expect(wrapper.emitted('pick')).toEqual([[{ label: 0, predicted: 1 }]]);
  });

  it('is pressed with the pointer', async () => {
    const { wrapper } = await open();
    const cells = wrapper.get('[role=button]').element;
    // The plot is from 56 to 468 across, and from 10 to 232 down.
    const at = (offsetX: number, offsetY: number) => {
      const event = new MouseEvent('pointermove', { bubbles: true });
      Object.defineProperties(event, { offsetX: { value: offsetX }, offsetY: { value: offsetY } });
      cells.dispatchEvent(event);
      cells.dispatchEvent(new MouseEvent('click', { bubbles: true }));
    };
    at(400, 20);
    at(100, 200);
    at(20, 20);
    expect(wrapper.emitted('pick')).toEqual([[{ label: 0, predicted: 1 }], [{ label: 1, predicted: 0 }]]);
  });
});

it('a matrix over members numbers them at its axes and names them in its cells', async () => {
  const values = Float64Array.of(0, 0.25, 0.25, 0);
  const props = {
    title: 'Disagreement',
    runName: 'r',
    valueLabel: 'share',
    noun: 'member',
    labels: ['0', '1'],
    values,
  };
  const { wrapper } = await mountPage(MatrixHeatmap, { props });
  expect(wrapper.findAll('title').map((title) => title.text())).toContain('member 0 and member 1: 0.2500');
  const texts = wrapper.findAll('svg text').map((text) => text.text());
  expect(texts.filter((text) => text === 'member')).toHaveLength(2);
  expect(texts.filter((text) => text.startsWith('member '))).toEqual([]);
});
