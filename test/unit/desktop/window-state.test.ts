import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import {
  besideWindow,
  initialState,
  placeWindow,
  readDesktopState,
  writeDesktopState,
} from '../../../src-main/desktop/windows/window-state.ts';

const first = { x: 0, y: 25, width: 1920, height: 1055 };
const second = { x: 1920, y: 0, width: 2560, height: 1440 };
const state = { x: 100, y: 50, width: 1200, height: 900, isMaximized: false };

describe('placeWindow', () => {
  it.each([
    ['on the first display', state, [first]],
    ['on the second display', { ...state, x: 2000, y: 10 }, [first, second]],
    ['with 100 pixels of its upper edge at the right', { ...state, x: 1820 }, [first]],
    ['with 100 pixels of its upper edge at the left', { ...state, x: -1100 }, [first]],
    ['beyond the lower edge', { ...state, y: 1050 }, [first]],
  ])('restores a window %s', (_case, stood, displays) => {
    expect({ ...placeWindow(stood, displays), isMaximized: false }).toEqual(stood);
  });

  it.each([
    ['on a display that is gone', { ...state, x: 2000, y: 10 }, [first]],
    ['with too little of it at the right', { ...state, x: 1821 }, [first]],
    ['with its upper edge above the display', { ...state, y: 24 }, [first]],
    ['with its upper edge below the display', { ...state, y: 1051 }, [first]],
  ])('keeps only the size of a window %s', (_case, gone, displays) => {
    expect(placeWindow(gone, displays)).toEqual({ width: 1200, height: 900 });
  });

  it('is no larger than the first display if its position is unknown', () => {
    const small = { x: 0, y: 0, width: 1100, height: 760 };
    expect(placeWindow(null, [small, second])).toEqual({ width: 1100, height: 760 });
    expect(placeWindow(null, [first])).toEqual({ width: 1280, height: 800 });
  });
});

it('opens a further window as large as the one in front, a little lower and to the right', () => {
  expect(besideWindow(state)).toEqual({ x: 132, y: 82, width: 1200, height: 900 });
});

describe('the file', () => {
  async function makePath(): Promise<string> {
    const folder = await mkdtemp(join(tmpdir(), 'tutti-window-'));
    onTestFinished(() => rm(folder, { recursive: true }));
    return join(folder, 'window.json');
  }
  const open = { ...state, isMaximized: true, address: '/runs/moons-1?tab=logs' };

  it('returns what was saved, and leaves no other file', async () => {
    const path = await makePath();
    expect(readDesktopState(path)).toEqual(initialState);
    const saved = { windows: [{ ...open, address: '' }, open], zoom: 1.25, theme: 'dark' as const };
    await writeDesktopState(path, saved);
    expect(readDesktopState(path)).toEqual(saved);
    expect(await readdir(join(path, '..'))).toEqual(['window.json']);
  });

  it.each([
    '{"windows": [',
    '{"windows": []}',
    '{"windows": [{"x": 1, "y": 2}], "zoom": 1, "theme": "dark"}',
    JSON.stringify({ windows: [{ ...open, width: 0 }], zoom: 1, theme: 'dark' }),
    JSON.stringify({ windows: [open], zoom: 0, theme: 'dark' }),
    JSON.stringify({ windows: [open], zoom: 1, theme: 'blue' }),
  ])('is reported when damaged: %s', async (text) => {
    const path = await makePath();
    await writeFile(path, text);
    expect(() => readDesktopState(path)).toThrow(`${path} is damaged: it does not hold the positions of the windows.`);
  });
});
