import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from '@playwright/test';
import { describe } from 'vitest';
import { type DesktopApp, openInElectron, ownPage } from './desktop-entry.ts';
import { expect } from '../support/expect.ts';
import { whyNoElectron } from '../../environment/electron/electron.ts';
import { notRun } from '../../environment/reasons.ts';

/** The desktop app with a temporary home. */
export class DesktopStage {
  readonly home: string;
  readonly #open: (home: string) => Promise<DesktopApp>;
  desktop: DesktopApp;
  page: Page;

  private constructor(home: string, open: (home: string) => Promise<DesktopApp>, desktop: DesktopApp, page: Page) {
    this.home = home;
    this.#open = open;
    this.desktop = desktop;
    this.page = page;
  }

  static async open(open: (home: string) => Promise<DesktopApp>): Promise<DesktopStage> {
    const home = await mkdtemp(join(tmpdir(), 'tutti-desktop-'));
    const desktop = await open(home);
    return new DesktopStage(home, open, desktop, await ownPage(desktop));
  }

  /** Ends the app if it still runs, because a second one would hand over to it and leave, and opens it again. */
  async reopen(): Promise<void> {
    this.desktop.signal();
    await this.desktop.exited;
    this.desktop = await this.#open(this.home);
    this.page = await ownPage(this.desktop);
  }

  /** Chooses an item of the app's menu by its label. */
  async choose(label: string): Promise<void> {
    await this.desktop.evaluate(({ Menu }, wanted) => {
      const items = (Menu.getApplicationMenu()?.items ?? []).flatMap((item) => [item, ...(item.submenu?.items ?? [])]);
      const item = items.flatMap((one) => [one, ...(one.submenu?.items ?? [])]).find((one) => one.label === wanted);
      if (item === undefined) throw new Error(`The menu has no item "${wanted}".`);
      item.click();
    }, label);
  }

  /** Visits a page of the app by its address. */
  async visit(address: string): Promise<void> {
    await this.page.evaluate(`location.hash = ${JSON.stringify(address)}`);
  }

  /** Starts a run through the form, preset by the address. @returns the run's id, with its page open */
  async startRun(project: string, overrides: object): Promise<string> {
    const query = new URLSearchParams({ project, set: JSON.stringify(overrides) });
    await this.visit(`/configure?${query.toString()}`);
    await this.page.getByRole('button', { name: 'Start', exact: true }).click();
    await expect.poll(() => this.page.url()).toMatch(/#\/runs\/[\w-]+$/);
    return this.page.url().replace(/^.*\/runs\//, '');
  }

  /** Records the app's notifications from now on instead of showing them. */
  async keepNotifications(): Promise<void> {
    await this.desktop.evaluate(({ Notification }) => {
      const kept: unknown[] = [];
      Object.assign(globalThis, { kept });
      Notification.prototype.show = function (this: Electron.Notification) {
        kept.push(this);
      };
    });
  }

  /** Titles and texts of the recorded notifications. */
  notifications(): Promise<{ title: string; body: string }[]> {
    return this.desktop.evaluate(() =>
      (globalThis as unknown as { kept: Electron.Notification[] }).kept.map(({ title, body }) => ({ title, body })),
    );
  }

  /** Waits for the app's exit. @returns its terminal output @throws unless it exits normally */
  async ended(): Promise<string[]> {
    const code = await this.desktop.exited;
    const lines = (await this.desktop.complaints).split('\n').filter((line) => line !== '');
    if (code !== 0) throw new Error(`The app left with ${code}:\n${lines.join('\n')}`);
    return lines;
  }

  async close(): Promise<void> {
    this.desktop.signal();
    await this.desktop.exited;
    await rm(this.home, { recursive: true, force: true });
  }
}

/** Opens the app in a home, with what a file manager names. */
export type OpenApp = (home: string, ...given: string[]) => Promise<DesktopApp>;

/** Tests in a real Electron, where it is set up. */
export function describeDesktop(subject: string, tests: (open: OpenApp) => void): void {
  const reason = whyNoElectron();
  describe.skipIf(reason !== null)(`${subject}${notRun(reason)}`, () => {
    tests((home, ...given) => openInElectron({ home, given }));
  });
}
