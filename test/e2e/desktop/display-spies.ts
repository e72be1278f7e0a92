import { readFile } from 'node:fs/promises';
import type { DesktopApp } from './desktop-entry.ts';

/** What the app showed outside of its windows, in order. */
export interface Shown {
  /** Of the taskbar's button: 0 to 1, -1 none, 2 without a known end. */
  bars: number[];
  badges: number[];
  /** Whether the system was kept awake, after each change. */
  awake: boolean[];
  /** The tray icon's tooltips, sizes of its pictures with their densities, and menus. */
  tips: string[];
  pictures: { width: number; height: number; densities: number[] }[];
  menus: string[][];
  /** One entry for each tray icon that was removed. */
  removals: true[];
}

/**
 * Notes in a file what the app shows outside of its windows from now on. It is shown all the same. The file outlives
 * the app.
 */
export async function noteDisplay(desktop: DesktopApp, file: string): Promise<void> {
  await desktop.evaluate(({ app, BrowserWindow, Menu, powerSaveBlocker, Tray }, path) => {
    const { appendFileSync } = process.getBuiltinModule('fs');
    const note = (name: keyof Shown, value: unknown): void =>
      appendFileSync(path, `${JSON.stringify([name, value])}\n`);
    const follow = (owner: object, method: string, told: (given: never, result: never) => void): void => {
      const methods = owner as Record<string, (...args: unknown[]) => unknown>;
      const original = methods[method];
      methods[method] = function (this: unknown, ...args: unknown[]) {
        const result = original.apply(this, args);
        told(args[0] as never, result as never);
        return result;
      };
    };
    follow(BrowserWindow.prototype, 'setProgressBar', (share: number) => note('bars', share));
    follow(app, 'setBadgeCount', (count: number) => note('badges', count));
    follow(powerSaveBlocker, 'start', (_type: string, id: number) => note('awake', powerSaveBlocker.isStarted(id)));
    follow(powerSaveBlocker, 'stop', (id: number) => note('awake', powerSaveBlocker.isStarted(id)));
    follow(Tray.prototype, 'setToolTip', (tip: string) => note('tips', tip));
    follow(Tray.prototype, 'setImage', (image: Electron.NativeImage) =>
      note('pictures', { ...image.getSize(), densities: image.getScaleFactors() }),
    );
    follow(Tray.prototype, 'destroy', () => note('removals', true));
    follow(Menu, 'buildFromTemplate', (items: Electron.MenuItemConstructorOptions[]) =>
      note(
        'menus',
        items.map(({ label = '' }) => label),
      ),
    );
  }, file);
}

/** What {@link noteDisplay} has noted. */
export async function readShown(file: string): Promise<Shown> {
  const shown: Shown = { bars: [], badges: [], awake: [], tips: [], pictures: [], menus: [], removals: [] };
  const lines = (await readFile(file, 'utf8')).split('\n').filter((line) => line !== '');
  for (const line of lines) {
    const [name, value] = JSON.parse(line) as [keyof Shown, never];
    shown[name].push(value);
  }
  return shown;
}
