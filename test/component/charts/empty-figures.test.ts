import { mount } from '@vue/test-utils';
import { describe, expect, it, vi } from 'vitest';
import BarChart from '../../../src-renderer/charts/figures/BarChart.vue';
import Histogram from '../../../src-renderer/charts/figures/Histogram.vue';

// Nothing has a size here, and charts draw only where they have one.
vi.mock('@vueuse/core', async (original) => {
  const { ref } = await import('vue');
  return { ...(await original<object>()), useElementSize: () => ({ width: ref(480), height: ref(272) }) };
});

describe('a figure without any finite value says so instead of drawing axes', () => {
  const bars = (...values: number[]) =>
    mount(BarChart, {
      props: {
        title: 'NLL',
        runName: 'r',
        yLabel: 'nats',
        bars: values.map((value, rank) => ({ label: `${rank}`, value })),
      },
    });
  const histogram = (...values: number[]) =>
    mount(Histogram, {
      props: {
        title: 'Entropy',
        runName: 'r',
        xLabel: 'nats',
        groups: [{ label: 'all', color: 'text', values: Float64Array.from(values) }],
      },
    });

  it.each([
    ['bars', bars(NaN, Infinity)],
    ['no bars', bars()],
    ['a histogram', histogram(NaN, NaN)],
    ['a histogram of nothing', histogram()],
  ])('%s', (_, wrapper) => {
    expect(wrapper.get('.chart-empty').text()).toBe('No finite value');
    expect(wrapper.find('.chart-svg').exists()).toBe(false);
  });

  it('but draws the finite ones among others', () => {
    expect(bars(NaN, 0.5).findAll('.chart-svg rect')).toHaveLength(1);
    expect(histogram(NaN, 0.5).find('.chart-svg').exists()).toBe(true);
    expect(bars(NaN, 0.5).find('.chart-empty').exists()).toBe(false);
  });
});
