import { writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { Page } from '@playwright/test';
import { afterAll, beforeAll, describe, it } from 'vitest';
import { answered, type FileProfile, type ReadingOptions } from '../../core/protocol/run/inspect-task.ts';
import { inspectData } from '../../src-main/creation/inspect-data.ts';
import { imageTrees, writeFiles } from '../cases/image-trees.ts';
import { tableCases } from '../cases/tables.ts';
import { notRun } from '../environment/reasons.ts';
import { Stage, visit } from './stage.ts';
import { chromium, noChromium } from './support/browser.ts';
import { dropPath } from './support/drop-path.ts';
import { expect } from './support/expect.ts';

type Asked = readonly [question: string, choice: string][];

describe.skipIf(noChromium !== null)(`What people have, dropped on the page${notRun(noChromium)}`, () => {
  let stage: Stage;
  let page: Page;

  beforeAll(async () => {
    stage = await Stage.open(chromium ?? '');
    page = await stage.openPage();
    await visit(page, '/runs');
    await expect(page.getByRole('heading', { level: 1 })).toHaveText('Runs');
  });
  afterAll(() => stage.close());

  const findings = () => page.locator('.findings > li');
  const questions = () => page.locator('.findings > li[data-level="question"]');

  /** Waits until the page shows these findings, each with its level. */
  async function expectFindings({ findings: expected }: FileProfile): Promise<void> {
    const shown = () =>
      findings().evaluateAll((items) =>
        items.map((item) => [item.dataset.level, item.querySelector('legend, form > label, div > p')?.textContent]),
      );
    await expect.poll(shown).toEqual(expected.map(({ level, message }) => [level, message]));
  }

  /**
   * Drops a file or folder, and answers as the case says.
   * @returns what is found after the answers, which the page shows
   */
  async function dropAndAnswer(path: string, asks: Asked): Promise<FileProfile> {
    await dropPath(page, path);
    await expect(page.getByText(basename(path), { exact: true })).toBeVisible();
    let profile = await inspectData({ path, reading: {} });
    const asked = profile.findings.filter(({ level }) => level === 'question');
    expect(asked.map(({ kind, column }) => `${kind} ${column}`)).toEqual(asks.map(([question]) => question));
    await expectFindings(profile);
    if (asks.length === 0) return profile;
    let reading: ReadingOptions = {};
    for (const [i, finding] of asked.entries()) {
      const [, choice] = asks[i];
      await questions().first().locator(`input[value="${choice}"]`).check();
      await expect(questions()).toHaveCount(asks.length - i - 1);
      reading = answered(reading, { finding, profile }, choice);
    }
    profile = await inspectData({ path, reading });
    await expectFindings(profile);
    return profile;
  }

  /** The code of the project, on the last step. */
  async function plannedCode(): Promise<string> {
    await page.getByRole('button', { name: /^\d\. The project$/ }).click();
    return page.getByRole('region', { name: 'Code of the project' }).innerText();
  }

  it.each(Object.keys(tableCases))('%s: the page finds, asks and writes it', async (name) => {
    const { content, ending = 'csv', asks = [], says = [], writes, lacks } = tableCases[name];
    const path = join(stage.home, `${slug(name)}.${ending}`);
    await writeFile(path, content);
    const profile = await dropAndAnswer(path, asks);
    const found = profile.findings.map(({ level, kind, column }) => `${level} ${kind} ${column}`);
    expect(found).toEqual(expect.arrayContaining(says));
    const code = await plannedCode();
    for (const option of writes) expect(code).toContain(option);
    expect(code).not.toMatch(lacks ?? /^$/);
  });

  it.each(Object.keys(imageTrees))('%s: the page finds, asks and writes it', async (name) => {
    const { files, asks = [], classes, says = [], writes } = imageTrees[name];
    const path = join(stage.home, slug(name));
    await writeFiles(path, files);
    await dropAndAnswer(path, asks);
    for (const text of says) await expect(findings().filter({ hasText: text })).toHaveCount(1);
    if (classes !== undefined) {
      const named = page.getByRole('region', { name: 'Classes of the images' }).getByRole('rowheader');
      await expect(named).toHaveText(classes);
    }
    const code = await plannedCode();
    for (const option of writes) expect(code).toContain(option);
  });
});

const slug = (name: string): string => name.replaceAll(/\W+/g, '-');
