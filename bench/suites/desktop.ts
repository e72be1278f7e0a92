import { measureStarts } from '../desktop/starts.ts';
import { type Figure, figure, median, type Suite } from '../figures.ts';

const starts = 11;

/**
 * From the start of the desktop app's process to its splash, and to a page that can be used: medians, the first start
 * with a new home apart. Beside it the same Electron with a window that only shows a word, in turns.
 */
export const suite: Suite = {
  name: 'desktop',
  async run(note) {
    note(`${starts} starts in the Electron of the tests, in turns with as many of a bare Electron`);
    const [first, ...others] = await measureStarts(starts);
    const peer = { name: 'bare Electron', value: median(others.map(({ bareMs }) => bareMs)) };
    const of = (name: string, value: number, target: number): Figure =>
      figure({ suite: 'desktop', name, value, unit: 'ms', better: 'lower', target });
    return [
      { ...of('splash', median(others.map(({ splashMs }) => splashMs)), 300), peer },
      of('usable', median(others.map(({ usableMs }) => usableMs)), 2_000),
      of('splash, first start', first.splashMs, 300),
      of('usable, first start', first.usableMs, 2_000),
    ];
  },
};
