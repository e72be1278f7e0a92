import { expect, it } from 'vitest';
import { bandLabels, eventFlags } from '../../../src-renderer/charts/scene/end-labels.ts';
import type { Scene } from '../../../src-renderer/charts/scene/scene.ts';

const area = { left: 50, top: 20, right: 450, bottom: 220 };
/** 0 to 100 on 400 pixels. */
const x: Scene['x'] = { from: 0, to: 100, isLog: false, ticks: [], label: 'step' };
const event = (at: number, label: string) => ({ x: at, label });

it('events have numbered flags at their places, in order, those outside the window none', () => {
  const events = [event(50, 'b'), event(10, 'a'), event(101, 'outside'), event(90, 'c')];
  expect(eventFlags({ x, events }, area)).toEqual([
    { number: '1', left: 90, labels: ['a'] },
    { number: '2', left: 250, labels: ['b'] },
    { number: '3', left: 410, labels: ['c'] },
  ]);
});

it('events that lie close together share a flag, and zooming in keeps their numbers', () => {
  const events = [event(10, 'a'), event(12, 'b'), event(14, 'c'), event(60, 'd')];
  expect(eventFlags({ x, events }, area).map(({ number, labels }) => [number, labels])).toEqual([
    ['1–3', ['a', 'b', 'c']],
    ['4', ['d']],
  ]);
  const zoomed = eventFlags({ x: { ...x, from: 11, to: 15 }, events }, area);
  expect(zoomed.map(({ number }) => number)).toEqual(['2', '3']);
});

it('the label of a band begins with it and ends before the next flag', () => {
  const bands = [{ from: 20, to: 200, label: 'patience: 40 evaluations' }];
  const flags = eventFlags({ x, events: [event(10, 'a'), event(70, 'b')] }, area);
  expect(bandLabels({ x, bands }, area, flags)).toEqual([{ label: 'patience: 40 evaluations', left: 130, width: 186 }]);
  expect(bandLabels({ x, bands }, area, [])).toEqual([{ label: 'patience: 40 evaluations', left: 130, width: 320 }]);
  expect(bandLabels({ x: { ...x, from: 50 }, bands }, area, [])[0].left).toBe(50);
  expect(bandLabels({ x, bands: [{ from: 101, to: 110, label: 'later' }] }, area, [])).toEqual([]);
});
