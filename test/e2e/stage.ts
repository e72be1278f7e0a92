import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, BrowserContext, BrowserContextOptions, Page } from '@playwright/test';
import { keepSurvey, takeSurvey } from '../environment/kept-survey.ts';
import { launchChromium } from './support/chromium.ts';
import { expect, patienceMs } from './support/expect.ts';
import { startTutti, type TuttiProcess } from './support/tutti-process.ts';

export const blobs = join(import.meta.dirname, 'projects', 'blobs');
export const sine = join(import.meta.dirname, '..', '..', 'examples', '00_heteroscedastic_regression');

export interface StageOptions {
  browserFlags?: readonly string[];
}

/** A Tutti with a temporary home, and a browser connected to it. */
export class Stage {
  readonly home: string;
  readonly browser: Browser;
  tutti: TuttiProcess;
  /** Messages that pages wrote to their consoles, and Tutti to its terminal, although nothing should be wrong. */
  readonly #complaints: string[] = [];

  private constructor(home: string, browser: Browser, tutti: TuttiProcess) {
    this.home = home;
    this.browser = browser;
    this.tutti = tutti;
  }

  static async open(chromium: string, { browserFlags = [] }: StageOptions = {}): Promise<Stage> {
    const home = await mkdtemp(join(tmpdir(), 'tutti-e2e-'));
    await takeSurvey(home);
    const [browser, tutti] = await Promise.all([launchChromium(chromium, browserFlags), startTutti(home)]);
    return new Stage(home, browser, tutti);
  }

  /** A window that has opened the printed link. */
  async openPage(link = this.tutti.link): Promise<Page> {
    const page = await this.watchedPage(await this.newContext());
    await page.goto(link);
    await expect(page.getByRole('navigation', { name: 'Pages' })).toBeVisible();
    return page;
  }

  /** @param storageState cookies and storage of another context, which then has its session too */
  async newContext(storageState?: BrowserContextOptions['storageState']): Promise<BrowserContext> {
    const context = await this.browser.newContext({
      storageState,
      viewport: { width: 1440, height: 900 },
      reducedMotion: 'reduce',
    });
    context.setDefaultTimeout(patienceMs);
    return context;
  }

  /** A page whose complaints fail the test file at its end. */
  async watchedPage(context: BrowserContext): Promise<Page> {
    const page = await context.newPage();
    page.on('pageerror', (error) => this.#complaints.push(String(error)));
    page.on('console', (message) => {
      if (message.type() === 'error' || message.type() === 'warning') this.#complaints.push(message.text());
    });
    return page;
  }

  /** Closes everything. @param expected complaints that the tests provoked @throws on any others */
  async close(expected: RegExp = /^$/): Promise<void> {
    await this.browser.close();
    this.#complaints.push(...(await this.tutti.stop()));
    await keepSurvey(this.home);
    await rm(this.home, { recursive: true, force: true });
    const unexpected = this.#complaints.filter((complaint) => !expected.test(complaint));
    if (unexpected.length > 0) throw new Error(`Something complained:\n${unexpected.join('\n')}`);
  }
}

/** Visits a page of the app by its address. */
export async function visit(page: Page, address: string): Promise<void> {
  await page.goto(`${new URL(page.url()).origin}/#${address}`);
}

/** Starts a run through the form, preset by the address. @returns the run's id, with its page open */
export async function startRun(page: Page, project: string, overrides: object, name = ''): Promise<string> {
  const query = new URLSearchParams({ project, set: JSON.stringify(overrides) });
  await visit(page, `/configure?${query.toString()}`);
  if (name !== '') await page.getByRole('textbox', { name: 'Name', exact: true }).fill(name);
  await page.getByRole('button', { name: 'Start', exact: true }).click();
  await page.waitForURL(/#\/runs\/[\w-]+$/);
  return page.url().replace(/^.*\/runs\//, '');
}

/** Chooses one of a run's less frequent actions. */
export async function chooseAction(page: Page, name: string): Promise<void> {
  await page.getByRole('button', { name: 'More actions' }).click();
  await page.getByRole('menuitem', { name, exact: true }).click();
}

/** The run's status in the header. */
export async function expectStatus(page: Page, status: string): Promise<void> {
  await expect(page.locator('.run-header .status')).toHaveText(status);
}

/** The number of points of the ensemble on the big chart, from its accessible description. */
export async function expectPoints(page: Page, chart: string): Promise<void> {
  await expect(page.getByRole('img', { name: new RegExp(`^${chart}, .*latest [-\\d]`) })).toBeVisible();
}

/** Waits for newer points than those on the chart now. */
export async function expectProgress(page: Page, chart: string): Promise<void> {
  await expectPoints(page, chart);
  const before = await latestStep(page, chart);
  await expect.poll(() => latestStep(page, chart)).toBeGreaterThan(before);
}

async function latestStep(page: Page, chart: string): Promise<number> {
  const label = await page.getByRole('img', { name: new RegExp(`^${chart}, `) }).getAttribute('aria-label');
  const step = /, step [\d,]+ to (?:step )?([\d,]+)/.exec(label ?? '')?.[1];
  if (step === undefined) throw new Error(`The chart says nothing of its last step: ${label}`);
  return Number(step.replaceAll(',', ''));
}
