import { flushPromises } from '@vue/test-utils';
import { afterEach, expect, it } from 'vitest';
import { defineComponent, h, ref } from 'vue';
import type { ChartView } from '../../src-renderer/charts/types.ts';
import { useRunChartView } from '../../src-renderer/charts/use-run-chart-view.ts';
import { mountPage } from './mount-page.ts';

afterEach(() => localStorage.clear());

/** The view of a page whose run is read after it was opened. */
async function open(address: string, project: string): Promise<ChartView> {
  const folder = ref<string>();
  let view: ChartView | undefined;
  const Page = defineComponent(() => {
    view = useRunChartView('run', () => folder.value);
    return () => h('div');
  });
  await mountPage(Page, { address });
  folder.value = project;
  await flushPromises();
  if (view === undefined) throw new Error('The page has no view.');
  return view;
}

it('the next run of a project shows its charts as the last one did, without its zoom and its hidden ranks', async () => {
  const first = await open('/runs/first', '/projects/blobs');
  Object.assign(first, { logY: true, smoothing: 0.6, axis: 'epoch', zoom: { from: 1, to: 2 } });
  first.toggleRank(1);
  await flushPromises();
  const second = await open('/runs/second', '/projects/blobs');
  expect(second).toMatchObject({ logY: true, smoothing: 0.6, axis: 'epoch', zoom: null });
  expect(second.hiddenRanks.size).toBe(0);
  expect(await open('/runs/third', '/projects/other')).toMatchObject({ logY: false, smoothing: 0 });
});

it('an address that says how to show them counts, and does not change what is remembered', async () => {
  Object.assign(await open('/runs/first', '/projects/blobs'), { logY: true });
  await flushPromises();
  expect(await open('/runs/second?smooth=0.3', '/projects/blobs')).toMatchObject({ logY: false, smoothing: 0.3 });
  expect(await open('/runs/third', '/projects/blobs')).toMatchObject({ logY: true, smoothing: 0 });
});
