import { mount } from '@vue/test-utils';
import { expect, it } from 'vitest';
import BarChart from '../../../src-renderer/charts/figures/BarChart.vue';

const bars = [
  { label: 'rank 0', value: 1, rank: 0 },
  { label: 'rank 1', value: 2, rank: 1 },
];

function chart() {
  const props = { title: 'NLL of each member', runName: 'run', metricHelp: 'Lower is better.', yLabel: 'NLL', bars };
  const wrapper = mount(BarChart, { props, attachTo: document.body });
  const focused = (): string | null | undefined => document.activeElement?.getAttribute('aria-label');
  const press = async (key: string): Promise<string | null | undefined> => {
    document.activeElement?.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true }));
    await wrapper.vm.$nextTick();
    return focused();
  };
  return { wrapper, press };
}

it('a chart is one stop of the Tab key: its plot', () => {
  const { wrapper } = chart();
  const focusable = wrapper.findAll('button, a, input, [tabindex]');
  const stops = focusable.filter((element) => element.attributes('tabindex') !== '-1');
  expect(stops.map((element) => element.attributes('role'))).toEqual(['img']);
  expect(focusable).toHaveLength(1 + 4);
  wrapper.unmount();
});

it('Enter leads from the plot to the tools, arrow keys from tool to tool, and Escape back', async () => {
  const { wrapper, press } = chart();
  wrapper.get<HTMLElement>('.chart-plot').element.focus();
  const summary = 'NLL of each member: rank 0 1, rank 1 2.';
  const tools = ['About', 'Table of', 'Export', 'Enlarge'].map((tool) => `${tool} NLL of each member`);
  expect(await press('ArrowRight')).toBe(summary);
  expect(await press('Enter')).toBe(tools[0]);
  expect(await press('ArrowRight')).toBe(tools[1]);
  expect(await press('End')).toBe(tools[3]);
  expect(await press('ArrowRight')).toBe(tools[0]);
  expect(await press('ArrowLeft')).toBe(tools[3]);
  expect(await press('Home')).toBe(tools[0]);
  // The help opens with the focus of the keyboard: the first Escape closes it, the second leaves the tools.
  await press('ArrowRight');
  expect(await press('Escape')).toBe(summary);
  wrapper.unmount();
});
