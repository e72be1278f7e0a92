import { mkdir, mkdtemp, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Locator, Page } from '@playwright/test';
import { afterAll, beforeAll, describe, it, vi } from 'vitest';
import { notRun } from '../environment/reasons.ts';
import { blobs, Stage, visit } from './stage.ts';
import { chromium, noChromium } from './support/browser.ts';
import { expect } from './support/expect.ts';

describe.skipIf(noChromium !== null)(`Trust on the pages${notRun(noChromium)}`, () => {
  let stage: Stage;
  let page: Page;
  let root: string;
  let folder: string;

  beforeAll(async () => {
    vi.stubEnv('TUTTI_TRUST', '');
    root = await realpath(await mkdtemp(join(tmpdir(), 'tutti-e2e-trust-')));
    folder = join(root, 'received-project');
    await mkdir(folder);
    const source = await readFile(join(blobs, 'project.ts'), 'utf8');
    const asking = source.replace(
      "task: 'classification',",
      "task: 'classification',\n  permissions: { network: true },",
    );
    await writeFile(join(folder, 'project.ts'), asking);
    stage = await Stage.open(chromium ?? '');
    page = await stage.openPage();
  });
  afterAll(async () => {
    await stage.close();
    vi.unstubAllEnvs();
    await rm(root, { recursive: true });
  });

  function card(name: string): Locator {
    return page.getByRole('listitem').filter({ has: page.getByRole('heading', { name, exact: true }) });
  }

  it('a folder that is opened runs nothing, and says so', async () => {
    await visit(page, '/');
    await page.getByRole('button', { name: 'Open a folder' }).click();
    await page.getByRole('textbox', { name: /^Folder with a/ }).fill(folder);
    await page.getByRole('button', { name: 'Open', exact: true }).click();
    const received = card('received-project');
    await expect(received).toContainText('Not trusted: nothing of it was run.');
    await expect(received.getByRole('link', { name: /^Train/ })).toHaveCount(0);
    await visit(page, `/configure?${new URLSearchParams({ project: folder }).toString()}`);
    await expect(page.getByRole('alert')).toContainText('is not trusted, so nothing of it was run.');
  });

  it('trains once the user trusts it and allows what it asks for', async () => {
    await visit(page, '/');
    await card('received-project').getByRole('button', { name: 'Trust received-project' }).click();
    const described = card('Overlapping blobs');
    await expect(described).toContainText('it uses the network');
    await expect(described.getByRole('link', { name: /^Train/ })).toHaveCount(0);
    await described.getByRole('button', { name: 'Allow this to Overlapping blobs' }).click();
    await described.getByRole('link', { name: 'Train Overlapping blobs' }).click();
    await page.getByText('What its processes may do').click();
    await expect(page.getByText('uses the network', { exact: true })).toBeVisible();
    await expect(page.getByRole('button', { name: 'Start', exact: true })).toBeEnabled();
  });

  it('is no longer trusted after Remove in the settings', async () => {
    await visit(page, '/settings');
    await expect(page.getByText(`${folder}: uses the network`)).toBeVisible();
    await page.getByRole('button', { name: `Remove ${folder}` }).click();
    await expect(page.getByText(`${folder}: uses the network`)).toHaveCount(0);
    await visit(page, '/');
    await expect(card('received-project')).toContainText('Not trusted: nothing of it was run.');
  });
});
