import { mount } from '@vue/test-utils';
import { afterEach, describe, expect, it, vi } from 'vitest';
import ChartFrame from '../../../src-renderer/charts/frame/ChartFrame.vue';
import ExportMenu from '../../../src-renderer/charts/frame/ExportMenu.vue';

const table = () => ({
  caption: 'All 2 points',
  columns: ['step', 'a, "b"'],
  rows: [
    ['step 0', 0.41012],
    ['step 1', NaN],
  ],
});

afterEach(() => vi.restoreAllMocks());

/** A mounted frame, and the files that it saves. */
function frame(props: { svg?: () => string | null; csv?: () => string[]; metricHelp?: string } = {}) {
  const files: { name: string; blob: Blob }[] = [];
  let blob: Blob | null = null;
  vi.spyOn(URL, 'createObjectURL').mockImplementation((saved) => {
    blob = saved as Blob;
    return 'blob:saved';
  });
  vi.spyOn(URL, 'revokeObjectURL').mockReturnValue();
  vi.spyOn(HTMLAnchorElement.prototype, 'click').mockImplementation(function (this: HTMLAnchorElement) {
    if (blob !== null) files.push({ name: this.download, blob });
  });
  const wrapper = mount(ChartFrame, {
    props: { title: 'val NLL', runName: 'run/3', table, svg: () => '<svg/>', ...props },
  });
  const save = async (format: 'png' | 'svg' | 'csv') => {
    wrapper.getComponent(ExportMenu).vm.$emit('save', format);
    await wrapper.vm.$nextTick();
  };
  return { wrapper, files, save };
}

describe('the frame of a chart', () => {
  it('shows the values behind the chart, and hides them again', async () => {
    const { wrapper } = frame();
    const toggle = wrapper.get('[aria-label="Table of val NLL"]');
    expect(wrapper.find('table').exists()).toBe(false);
    await toggle.trigger('click');
    expect(toggle.attributes('aria-pressed')).toBe('true');
    expect(wrapper.get('caption').text()).toBe('All 2 points');
    expect(wrapper.findAll('tr').map((row) => row.findAll('th, td').map((cell) => cell.text()))).toEqual([
      ['step', 'a, "b"'],
      ['step 0', '0.4101'],
      ['step 1', '–, not a number (NaN)'],
    ]);
    await toggle.trigger('click');
    expect(wrapper.find('table').exists()).toBe(false);
  });

  it('saves all digits as CSV, named after run and chart', async () => {
    const { files, save } = frame();
    await save('csv');
    expect(files.map(({ name }) => name)).toEqual(['run-3 val NLL.csv']);
    expect(await files[0].blob.text()).toBe('step,"a, ""b"""\r\nstep 0,0.41012\r\nstep 1,NaN\r\n');
  });

  it('saves its own CSV where it has more than the table', async () => {
    const { files, save } = frame({ csv: () => ['a\r\n', '1\r\n'] });
    await save('csv');
    expect(await files[0].blob.text()).toBe('a\r\n1\r\n');
  });

  it('saves the drawing, and nothing before one is drawn', async () => {
    const drawn = frame();
    await drawn.save('svg');
    expect(drawn.files.map(({ name }) => name)).toEqual(['run-3 val NLL.svg']);
    expect(await drawn.files[0].blob.text()).toBe('<svg/>');
    vi.restoreAllMocks();
    const empty = frame({ svg: () => null });
    await empty.save('svg');
    expect(empty.files).toEqual([]);
  });

  it('says why an image could not be saved', async () => {
    const { wrapper, save } = frame();
    vi.spyOn(URL, 'createObjectURL').mockImplementation(() => {
      throw new Error('The disk is full.');
    });
    await save('svg');
    await wrapper.vm.$nextTick();
    expect(wrapper.get('[role=alert]').text()).toBe('The disk is full.');
  });

  it('explains its metric behind a button, which describes it to screen readers', async () => {
    const { wrapper } = frame({ metricHelp: 'Mean negative log-likelihood.' });
    const button = wrapper.get('[aria-label="About val NLL"]');
    expect(wrapper.get(`[id="${button.attributes('aria-describedby')}"]`).text()).toBe('Mean negative log-likelihood.');
    expect(document.querySelector('.explanation')).toBeNull();
    await button.trigger('click');
    await vi.waitFor(() => expect(document.querySelector('.explanation')?.textContent).toContain('Mean negative'));
    document.dispatchEvent(new KeyboardEvent('keydown', { key: 'Escape', bubbles: true }));
    await vi.waitFor(() => expect(document.querySelector('.explanation')).toBeNull());
  });
});
