import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { _electron, type ElectronApplication, type Page } from '@playwright/test';
import { openDisplay } from '../../environment/electron/display.ts';
import { electronBinary } from '../../environment/electron/electron.ts';
import { dropPath } from '../support/drop-path.ts';
import { expect, patienceMs } from '../support/expect.ts';

/** The desktop app as its tests see it. */
export interface DesktopApp {
  /** Runs a function in the app's main process. It is sent as source, so it has no closure. */
  evaluate: ElectronApplication['evaluate'];
  pages(): Page[];
  /** Drops a folder or a file on the first window. */
  drop(path: string): Promise<void>;
  /** Starts the app once more. @returns its exit code */
  startAgain(...args: string[]): Promise<number | null>;
  /** Resolves with the exit code. */
  readonly exited: Promise<number | null>;
  /** Its terminal output. Resolves when it has exited. */
  readonly complaints: Promise<string>;
  /** Signals the app, by default like a system that shuts down. */
  signal(signal?: NodeJS.Signals): void;
}

export interface AppOptions {
  home: string;
  /** The built main process. Defaults to the one in `out`. */
  main?: string;
  /** What it is opened with, as a file manager names it. */
  given?: readonly string[];
}

const playwrightLoader = join(
  dirname(createRequire(import.meta.url).resolve('playwright-core/package.json')),
  'lib/server/electron/loader.js',
);
const builtMain = join(import.meta.dirname, '../../..', 'out', 'main', 'electron.js');

/** As root, Chromium only runs without its sandbox. */
export function appArguments(main: string = builtMain): string[] {
  return process.getuid?.() === 0 ? ['--no-sandbox', main] : [main];
}

/** Runs the built app in Electron, on a display without a screen. */
export async function openInElectron({ home, main = builtMain, given = [] }: AppOptions): Promise<DesktopApp> {
  const display = await openDisplay();
  // The app has its own programs.
  const { TUTTI_PROGRAMS: _compiled, ...others } = process.env;
  const env = { ...others, ...display.env, TUTTI_HOME: home } as Record<string, string>;
  const args = appArguments(main);
  const electron = await _electron
    .launch({
      executablePath: electronBinary,
      args: [...args, ...given],
      env: { ...env, PLAYWRIGHT_LOADER: playwrightLoader },
    })
    .catch(async (error: unknown) => {
      await display.close();
      throw error;
    });
  const child = electron.process();
  return {
    evaluate: electron.evaluate.bind(electron),
    exited: exitCode(child).finally(() => display.close()),
    complaints: text(child.stderr as Readable).then(withoutChromium),
    pages: () => electron.windows(),
    drop: (path) => dropPath(electron.windows()[0], path),
    startAgain: (...again) => exitCode(spawn(electronBinary, [...args, ...again], { env, stdio: 'ignore' })),
    signal: (signal = 'SIGTERM') => void child.kill(signal),
  };
}

/** Lines of Chromium, of GTK and of the debugger that Playwright attaches say nothing about the app. */
const foreignLines =
  /^\[\d+:\d+\/[\d.]+:(ERROR|WARNING|INFO):|^(Debugger|For help, see|DevTools|Starting inspector|Waiting for the debugger)|^\([\w.-]+:\d+\): (libnotify|Gtk|GLib|dconf)/;

function withoutChromium(output: string): string {
  return output
    .split('\n')
    .filter((line) => !foreignLines.test(line))
    .join('\n');
}

/**
 * The page of the app's window, once the hub has answered it: while that loads, Electron drops answers to Playwright.
 */
export async function ownPage(desktop: DesktopApp): Promise<Page> {
  const find = (): Page | undefined =>
    desktop.pages().findLast((page) => !page.isClosed() && /^(tutti:\/\/app|http:\/\/app\.tutti)/.test(page.url()));
  await expect.poll(() => find() !== undefined).toBe(true);
  const page = find();
  if (page === undefined) throw new Error('The window went away as it came.');
  page.setDefaultTimeout(patienceMs);
  await expect(page.getByRole('navigation', { name: 'Pages' })).toBeVisible();
  await expect(page.locator('main')).toHaveAttribute('aria-busy', 'false');
  return page;
}

async function exitCode(child: ChildProcess): Promise<number | null> {
  const [code] = (await once(child, 'exit')) as [number | null];
  return code;
}
