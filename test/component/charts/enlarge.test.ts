import { flushPromises, mount } from '@vue/test-utils';
import { afterEach, describe, expect, it } from 'vitest';
import ChartFrame from '../../../src-renderer/charts/frame/ChartFrame.vue';
import ProjectFigure from '../../../src-renderer/views/run/ensemble/ProjectFigure.vue';
import { buttonNamed } from '../mount-page.ts';

const mounted: { unmount(): void }[] = [];
afterEach(() => {
  for (const wrapper of mounted.splice(0)) wrapper.unmount();
});

const frameProps = {
  title: 'NLL',
  runName: 'r',
  table: () => ({ caption: '', columns: [], rows: [] }),
  svg: () => null,
};

function chart(props: object = {}) {
  const wrapper = mount(ChartFrame, {
    props: { ...frameProps, ...props },
    slots: { default: '<p class="plot">plot</p>' },
    attachTo: document.body,
  });
  mounted.push(wrapper);
  return wrapper;
}

const dialog = () => document.querySelector('[role=dialog]');
const plot = () => document.querySelector('.plot');

describe('an enlarged chart', () => {
  it('is the same element in a dialog; Escape puts it back, and the focus on its button', async () => {
    const wrapper = chart();
    const before = plot();
    buttonNamed('Enlarge NLL').click();
    await flushPromises();
    expect(dialog()?.contains(plot())).toBe(true);
    expect(plot()).toBe(before);
    expect(document.activeElement).toBe(buttonNamed('Close NLL'));
    document.activeElement?.dispatchEvent(new KeyboardEvent('keydown', { key: 'Escape', bubbles: true }));
    await flushPromises();
    expect(dialog()).toBeNull();
    expect(wrapper.element.contains(plot())).toBe(true);
    expect(document.activeElement).toBe(buttonNamed('Enlarge NLL'));
  });

  it('opens by a click on a plot without another use for clicks', async () => {
    chart({ enlargesOnClick: true });
    (plot() as HTMLElement).click();
    await flushPromises();
    expect(dialog()?.contains(plot())).toBe(true);
    buttonNamed('Close NLL').click();
    await flushPromises();
    expect(dialog()).toBeNull();
    mounted.splice(0).forEach((wrapper) => wrapper.unmount());
    chart();
    (plot() as HTMLElement).click();
    await flushPromises();
    expect(dialog()).toBeNull();
  });
});

it("a project's figure is enlarged by pressing it", async () => {
  const svg = '<svg xmlns="http://www.w3.org/2000/svg"/>';
  mounted.push(mount(ProjectFigure, { props: { name: 'fit', svg }, attachTo: document.body }));
  buttonNamed('Enlarge fit').click();
  await flushPromises();
  expect(dialog()?.querySelector('img')?.getAttribute('alt')).toBe('fit');
  buttonNamed('Close fit').click();
  await flushPromises();
  expect(dialog()).toBeNull();
  expect(document.activeElement).toBe(buttonNamed('Enlarge fit'));
});
