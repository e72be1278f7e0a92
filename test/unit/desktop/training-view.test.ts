import fc from 'fast-check';
import { expect, it, vi } from 'vitest';
import type { TrainingRun } from '../../../src-main/hub/training-work.ts';
import { noticeOfWork, trayIcon, trayMenu, viewTraining } from '../../../src-main/desktop/training/training-view.ts';

const run = (name: string, share: number | null, isPaused = false): TrainingRun => ({
  id: name,
  name,
  share,
  isPaused,
});

it('shows nothing while nothing trains', () => {
  expect(viewTraining([], 0)).toEqual({ lines: [], summary: 'Tutti', bar: null, badge: 0 });
});

it('says what waits while nothing trains, and what continues without a window', () => {
  expect(viewTraining([], 0, 1)).toEqual({ lines: [], summary: 'Tutti: a run waits', bar: null, badge: 0 });
  expect(viewTraining([], 0, 3).summary).toBe('Tutti: 3 runs wait');
  expect(noticeOfWork(1, 0)).toEqual({
    title: 'Tutti keeps training',
    body: 'A run continues without a window. Start Tutti again to see it.',
  });
  expect(noticeOfWork(2, 1)).toEqual({
    title: 'Tutti keeps training',
    body: '2 runs continue and a run waits in the queue, without a window. Start Tutti again to see them.',
  });
  expect(noticeOfWork(0, 2)).toEqual({
    title: 'Tutti waits to train',
    body: '2 runs wait in the queue without a window. Start Tutti again to see them.',
  });
});

it('shows a run with its steps rounded down, and the mean of several on the bar', () => {
  expect(viewTraining([run('Wide', 0.999)], 1)).toEqual({
    lines: [{ id: 'Wide', text: 'Wide: 99 %' }],
    summary: 'Tutti: Wide, 99 %',
    bar: { share: 0.999, isPaused: false },
    badge: 1,
  });
  const both = viewTraining([run('Wide', 0.5), run('Deep', 0.25, true)], 2);
  expect(both.lines.map(({ text }) => text)).toEqual(['Wide: 50 %', 'Deep: 25 %, paused']);
  expect(both).toMatchObject({
    summary: 'Tutti: 2 runs train, at least 25 %',
    bar: { share: 0.375, isPaused: false },
    badge: 2,
  });
});

it('does not know how far a run is before its first step, nor a search at all', () => {
  expect(viewTraining([run('Wide', null, true)], 1)).toMatchObject({
    summary: 'Tutti: Wide, starting, paused',
    bar: { share: 'unknown', isPaused: true },
  });
  expect(viewTraining([run('Wide', 0.5), run('Deep', null)], 2)).toMatchObject({
    summary: 'Tutti: 2 runs train',
    bar: { share: 0.25 },
  });
  expect(viewTraining([], 1)).toEqual({
    lines: [],
    summary: 'Tutti: a study or a search trains',
    bar: { share: 'unknown', isPaused: false },
    badge: 1,
  });
});

it('has at most ten lines, each of a limited length', () => {
  const runs = Array.from({ length: 12 }, (_, index) => run(`${index} ${'x'.repeat(60)}`, 0));
  const { lines, badge } = viewTraining(runs, 12);
  expect([lines.length, badge]).toEqual([10, 12]);
  expect(lines[3].text).toBe(`3 ${'x'.repeat(37)}…: 0 %`);
});

it('keeps the bar within its ends, whatever trains', () => {
  const runs = fc.array(
    fc.record({
      id: fc.string(),
      name: fc.string(),
      share: fc.option(fc.double({ min: 0, max: 1, noNaN: true })),
      isPaused: fc.boolean(),
    }),
    { minLength: 1 },
  );
  fc.assert(
    fc.property(runs, (given) => {
      const share = viewTraining(given, given.length).bar?.share;
      const isKnown = given.some((one) => one.share !== null);
      return isKnown ? typeof share === 'number' && share >= 0 && share <= 1 : share === 'unknown';
    }),
  );
});

it('offers each run, the window and the end in the menu', () => {
  const actions = { showRun: vi.fn<(id: string | null) => void>(), quit: vi.fn<() => void>() };
  const menu = trayMenu(viewTraining([run('R&D', 0.5)], 1), actions);
  expect(menu.map(({ label, type }) => label ?? type)).toEqual(['R&&D: 50 %', 'separator', 'Open Tutti', 'Quit']);
  for (const item of menu) (item.click as (() => void) | undefined)?.();
  expect(actions.showRun.mock.calls).toEqual([['R&D'], [null]]);
  expect(actions.quit).toHaveBeenCalledOnce();
  const [first] = trayMenu(viewTraining([], 2), actions);
  expect(first).toMatchObject({ label: 'Tutti: 2 studies or searches train', enabled: false });
});

it('draws a ring that is closed as far as training is', () => {
  const dash = (share: number | null) =>
    /stroke-dasharray="([\d.]+) ([\d.]+)"/.exec(trayIcon(share))?.slice(1).map(Number);
  // A circle of radius 14 is 87.96 long.
  expect(dash(null)).toEqual([0, 87.96]);
  expect(dash(0.25)).toEqual([21.99, 87.96]);
  expect(dash(1)).toEqual([87.96, 87.96]);
});
