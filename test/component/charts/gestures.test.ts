import { mount } from '@vue/test-utils';
import { describe, expect, it } from 'vitest';
import { defineComponent, h, shallowRef, toHandlers } from 'vue';
import { SeriesLines } from '../../../src-renderer/charts/series-lines.ts';
import { composeScene } from '../../../src-renderer/charts/scene/scene.ts';
import { useChartView } from '../../../src-renderer/charts/series/chart-view.ts';
import { useChartGestures } from '../../../src-renderer/charts/series/use-chart-gestures.ts';
import type { ChartViewState } from '../../../src-renderer/charts/types.ts';
import { lineOf, rankLine } from '../../unit/charts/lines.ts';

/** A plot of steps 0 to 100 that is 200 pixels wide: two pixels for each step. Ranks 1 and 2 are level at 1 and 3. */
function plot(initial: Partial<ChartViewState> = {}) {
  const view = useChartView(initial);
  const level = (value: number) => Array.from({ length: 101 }, () => value);
  const series = [lineOf(level(4)), rankLine(1, level(1)), rankLine(2, level(3))];
  const scene = composeScene({ title: 'NLL', runName: 'run', yLabel: 'NLL', series, view }, new SeriesLines(), {
    width: 200,
    height: 100,
  });
  const palette = { text: '', 'text-muted': '', border: '', surface: '', accent: '', warn: '' };
  const area = { left: 50, top: 0, right: 250, bottom: 100 };
  const drawn = shallowRef({ scene, area, palette });
  const Harness = defineComponent(() => {
    const { selection, listeners } = useChartGestures(view, drawn);
    return () => h('div', { tabindex: 0, 'data-selection': JSON.stringify(selection.value), ...toHandlers(listeners) });
  });
  const wrapper = mount(Harness, { attachTo: document.body });
  wrapper.element.setPointerCapture = () => {};
  /** Fires an event at a pixel of the canvas. @returns whether the page's own reaction was prevented */
  const fire = (type: string, at: [x: number, y: number], fields: object = {}): boolean => {
    const event = new Event(type, { bubbles: true, cancelable: true });
    for (const [name, value] of Object.entries({ offsetX: at[0], offsetY: at[1], button: 0, pointerId: 1, ...fields }))
      Object.defineProperty(event, name, { value });
    wrapper.element.dispatchEvent(event);
    return event.defaultPrevented;
  };
  const press = (key: string, fields: object = {}) => wrapper.trigger('keydown', { key, ...fields });
  const selection = (): unknown => JSON.parse(wrapper.attributes('data-selection') ?? 'null');
  return { view, wrapper, fire, press, selection };
}

describe('the pointer', () => {
  it('moves the cursor, which stays within the plot', () => {
    const { view, fire } = plot();
    const at = (x: number) => {
      fire('pointermove', [x, 0]);
      return view.cursorX;
    };
    expect([50, 100, 250, 0, 999].map(at)).toEqual([0, 25, 100, 0, 100]);
    fire('pointerleave', [0, 0]);
    expect([view.cursorX, view.hoveredRank]).toEqual([null, null]);
  });

  it('singles out the rank whose line is within 10 pixels', () => {
    const { view, fire } = plot();
    const at = (y: number) => {
      fire('pointermove', [100, y]);
      return view.hoveredRank;
    };
    // The y axis spans 0.85 to 4.15: 1 is at 95.5, 3 at 34.8, the ensemble's 4 at 4.5.
    expect([95, 86, 85, 40, 4].map(at)).toEqual([1, 1, null, 2, null]);
  });

  it('zooms to what a drag selects, in either direction', async () => {
    for (const [from, to] of [
      [100, 150],
      [150, 100],
    ]) {
      const { view, fire, selection, wrapper } = plot();
      fire('pointerdown', [from, 0]);
      fire('pointermove', [to, 0]);
      await wrapper.vm.$nextTick();
      expect(selection()).toEqual({ from: 100, to: 150 });
      fire('pointerup', [to, 0]);
      expect(view.zoom).toEqual({ from: 25, to: 50 });
    }
  });

  it('does not zoom on a click, nor with another button', () => {
    const { view, fire } = plot();
    fire('pointerdown', [100, 0]);
    fire('pointermove', [103, 0]);
    fire('pointerup', [103, 0]);
    fire('pointerdown', [100, 0], { button: 2 });
    fire('pointermove', [200, 0]);
    fire('pointerup', [200, 0]);
    expect(view.zoom).toBeNull();
  });

  it('pans with Shift, selecting nothing', async () => {
    const { view, fire, selection, wrapper } = plot({ zoom: { from: 20, to: 40 } });
    fire('pointerdown', [150, 0], { shiftKey: true });
    fire('pointermove', [100, 0]);
    await wrapper.vm.$nextTick();
    // A quarter of the visible 20 steps to the left shows what is to the right.
    expect(view.zoom).toEqual({ from: 25, to: 45 });
    expect(selection()).toBeNull();
    fire('pointerup', [100, 0]);
    expect(view.zoom).toEqual({ from: 25, to: 45 });
  });

  it('ends the zoom with a double click', () => {
    const { view, fire } = plot({ zoom: { from: 20, to: 40 } });
    fire('dblclick', [100, 0]);
    expect(view.zoom).toBeNull();
  });
});

describe('the wheel', () => {
  it('scrolls the page, unless Ctrl is held or the chart has the focus', () => {
    const { view, fire, wrapper } = plot();
    expect(fire('wheel', [150, 0], { deltaY: -1 })).toBe(false);
    expect(view.zoom).toBeNull();
    expect(fire('wheel', [150, 0], { deltaY: -1, ctrlKey: true })).toBe(true);
    // 1 / 1.25 of 100 steps around the middle.
    expect(view.zoom).toEqual({ from: expect.closeTo(10, 9), to: expect.closeTo(90, 9) });
    (wrapper.element as HTMLElement).focus();
    expect(fire('wheel', [50, 0], { deltaY: -1 })).toBe(true);
    expect(view.zoom).toEqual({ from: 0, to: expect.closeTo(80, 9) });
  });

  it('that shows all of x again leaves no zoom', () => {
    const { view, fire } = plot({ zoom: { from: 5, to: 95 } });
    fire('wheel', [150, 0], { deltaY: 1, ctrlKey: true });
    expect(view.zoom).toBeNull();
  });
});

describe('keys', () => {
  it('move the cursor by a hundredth, from the middle', async () => {
    const { view, press } = plot();
    const after = async (key: string) => {
      await press(key);
      return view.cursorX;
    };
    expect(await after('ArrowRight')).toBe(50);
    expect(await after('ArrowRight')).toBeCloseTo(51, 9);
    expect(await after('ArrowLeft')).toBeCloseTo(50, 9);
    expect(await after('End')).toBe(100);
    expect(await after('ArrowRight')).toBe(100);
    expect(await after('Home')).toBe(0);
    expect(await after('Escape')).toBeNull();
  });

  it('zoom around the cursor, pan with Shift, and show all again', async () => {
    const { view, press } = plot({ zoom: { from: 20, to: 40 }, cursorX: 25 });
    await press('+');
    expect(view.zoom).toEqual({ from: expect.closeTo(22.5, 9), to: expect.closeTo(32.5, 9) });
    await press('ArrowRight', { shiftKey: true });
    // The scene still shows 20 to 40, as no frame has been drawn: a fifth of it.
    expect(view.zoom).toEqual({ from: expect.closeTo(24, 9), to: expect.closeTo(44, 9) });
    await press('z');
    expect(view.zoom).toBeNull();
  });

  it('of the browser stay the browser’s', async () => {
    const { view, press } = plot();
    await press('ArrowRight', { ctrlKey: true });
    await press('x');
    expect([view.cursorX, view.zoom]).toEqual([null, null]);
  });
});
