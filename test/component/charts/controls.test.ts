import { mount } from '@vue/test-utils';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { reactive } from 'vue';
import ChartControls from '../../../src-renderer/charts/series/ChartControls.vue';
import { useChartView, viewFromQuery, viewToQuery } from '../../../src-renderer/charts/series/chart-view.ts';
import { maximumSmoothing, nextSmoothing } from '../../../src-renderer/charts/smoothing.ts';

describe('the controls of charts', () => {
  it('set the axis, which ends the zoom of another', async () => {
    const view = useChartView({ zoom: { from: 1, to: 2 } });
    const wrapper = mount(ChartControls, { props: { chartView: view } });
    const buttons = wrapper.findAll('[role=group] button');
    expect(buttons.map((button) => [button.text(), button.attributes('aria-pressed')])).toEqual([
      ['Steps', 'true'],
      ['Epochs', 'false'],
      ['Time', 'false'],
    ]);
    await buttons[2].trigger('click');
    expect([view.axis, view.zoom]).toEqual(['time', null]);
    expect(buttons.map((button) => button.attributes('aria-pressed'))).toEqual(['false', 'false', 'true']);
  });

  it('set logarithms, clipping and smoothing', async () => {
    const view = useChartView();
    const wrapper = mount(ChartControls, { props: { chartView: view } });
    const [logX, logY, clip] = wrapper.findAll('input[type=checkbox]');
    await logX.setValue(true);
    await logY.setValue(true);
    await clip.setValue(true);
    await wrapper.get('input[type=range]').setValue('0.6');
    expect(view).toMatchObject({ logX: true, logY: true, clipsOutliers: true, smoothing: 0.6 });
    expect(wrapper.get('output').text()).toBe('0.60');
  });

  it('reset a zoom, if there is one', async () => {
    const view = useChartView();
    const wrapper = mount(ChartControls, { props: { chartView: view } });
    const reset = wrapper.findAll('button').at(-1);
    expect(reset?.attributes('disabled')).toBeDefined();
    view.zoom = { from: 1, to: 2 };
    await wrapper.vm.$nextTick();
    await reset?.trigger('click');
    expect(view.zoom).toBeNull();
  });
});

it('smoothing grows in a few steps and then ends', () => {
  const seen = [0];
  for (let press = 0; press < 4; press += 1) seen.push(nextSmoothing(seen[seen.length - 1]));
  expect(seen).toEqual([0, 0.6, 0.9, 0.99, 0]);
  expect(nextSmoothing(0.7)).toBe(0.9);
});

it('any view survives its address', () => {
  const range = fc
    .tuple(fc.double({ min: 0, max: 1e6, noNaN: true }), fc.double({ min: 1, max: 1e6, noNaN: true }))
    .map(([from, width]) => ({ from: Number(from.toPrecision(9)), to: Number((from + width).toPrecision(9)) }))
    .filter(({ from, to }) => from < to);
  const state = fc.record({
    axis: fc.constantFrom('step', 'epoch', 'time'),
    logX: fc.boolean(),
    logY: fc.boolean(),
    smoothing: fc.integer({ min: 0, max: 100 * maximumSmoothing }).map((hundredths) => hundredths / 100),
    clipsOutliers: fc.boolean(),
    zoom: fc.option(range),
    hiddenRanks: fc.uniqueArray(fc.nat(200)).map((ranks) => new Set(ranks)),
  });
  fc.assert(
    fc.property(state, (expected) => {
      const view = reactive({ ...useChartView(), ...expected, hoveredRank: 3, cursorX: 7 });
      expect(viewFromQuery(viewToQuery(view))).toEqual(expected);
    }),
    { seed: 5, numRuns: 300 },
  );
});
