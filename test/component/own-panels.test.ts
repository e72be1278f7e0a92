import { flushPromises } from '@vue/test-utils';
import { createPinia, setActivePinia } from 'pinia';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { useToastsStore } from '../../src-renderer/stores/toasts.ts';
import PanelDialog from '../../src-renderer/views/run/charts/PanelDialog.vue';
import { metricChoices, type Panel } from '../../src-renderer/views/run/charts/panel-data.ts';
import { useOwnPanels } from '../../src-renderer/views/run/charts/use-chart-layout.ts';
import { buttonNamed, mountPage } from './mount-page.ts';

const choices = metricChoices(['val/ens_nll', 'val/member_0_nll', 'val/member_1_nll', 'val/disagreement']);
const fresh: Panel = { id: 'panel-1', title: '', kind: 'lines', metrics: [], over: 'ranks' };

beforeEach(() => setActivePinia(createPinia()));
afterEach(() => localStorage.clear());

function field(selector: string): Element {
  const found = document.querySelector(selector);
  if (found === null) throw new Error(`The form has no ${selector}.`);
  return found;
}

function choose(selector: string, value: string): void {
  const select = field(selector);
  if (!(select instanceof HTMLSelectElement)) throw new Error(`${selector} is no list.`);
  select.value = value;
  select.dispatchEvent(new Event('change', { bubbles: true }));
}

async function form(panel: Panel) {
  const { wrapper } = await mountPage(PanelDialog, { props: { panel, choices, isNew: panel === fresh } });
  const saved = (): unknown => wrapper.emitted('save')?.at(-1)?.[0];
  const submit = async (): Promise<void> => {
    field('form').dispatchEvent(new Event('submit', { bubbles: true, cancelable: true }));
    await flushPromises();
  };
  return { saved, submit };
}

it('is made of the metrics that are checked, with a title made from them if none is given', async () => {
  const { saved, submit } = await form(fresh);
  expect(buttonNamed('Add').disabled).toBe(true);
  const boxes = [...document.querySelectorAll<HTMLInputElement>('fieldset input')];
  expect(boxes.map((box) => box.parentElement?.textContent.trim())).toEqual([
    'Disagreement',
    'NLL, each rank',
    'NLL, ensemble',
  ]);
  boxes[2].dispatchEvent(new Event('change', { bubbles: true }));
  await flushPromises();
  boxes[0].dispatchEvent(new Event('change', { bubbles: true }));
  await flushPromises();
  expect(buttonNamed('Add').disabled).toBe(false);
  await submit();
  expect(saved()).toEqual({
    ...fresh,
    metrics: ['val/ens_nll', 'val/disagreement'],
    title: 'NLL, ensemble and Disagreement',
  });
});

it('becomes a scatter of two metrics, or a histogram', async () => {
  const { saved, submit } = await form({ ...fresh, title: 'Mine', metrics: ['val/ens_nll'] });
  choose('#panel-kind', 'scatter');
  await flushPromises();
  expect(buttonNamed('Save').disabled).toBe(true);
  choose('#panel-x', 'val/disagreement');
  choose('#panel-y', 'val/ens_nll');
  await flushPromises();
  await submit();
  expect(saved()).toMatchObject({ kind: 'scatter', title: 'Mine', metrics: ['val/disagreement', 'val/ens_nll'] });
  choose('#panel-kind', 'histogram');
  await flushPromises();
  choose('#panel-metric', 'val/member_{rank}_nll');
  choose('#panel-over', 'steps');
  await flushPromises();
  await submit();
  expect(saved()).toMatchObject({ kind: 'histogram', metrics: ['val/member_{rank}_nll'], over: 'steps' });
});

it('is kept for the project, and a removal can be undone', async () => {
  const panels = useOwnPanels('/projects/blobs');
  panels.add();
  expect(panels.edited.value?.id).toBe('panel-1');
  panels.save({ ...fresh, title: 'Mine', metrics: ['val/ens_nll'] });
  panels.add();
  expect(panels.edited.value?.id).toBe('panel-2');
  panels.save({ ...fresh, title: 'Renamed', metrics: ['val/ens_nll'] });
  expect(panels.panels.value.map(({ title }) => title)).toEqual(['Renamed']);
  await flushPromises();
  // As the page of the project's next run reads them.
  setActivePinia(createPinia());
  const next = useOwnPanels('/projects/blobs');
  expect(next.panels.value.map(({ title }) => title)).toEqual(['Renamed']);
  expect(useOwnPanels('/projects/other').panels.value).toEqual([]);
  next.remove('panel-1');
  expect(next.panels.value).toEqual([]);
  await useToastsStore().toasts.at(-1)?.undo?.();
  expect(next.panels.value.map(({ title }) => title)).toEqual(['Renamed']);
});
