import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import sharp from 'sharp';
import { afterAll, beforeAll, it } from 'vitest';
import { workbookBytes } from '../../unit/data/workbook-bytes.ts';
import { expect } from '../support/expect.ts';
import { describeDesktop, DesktopStage } from './desktop-stage.ts';

/** A class that a number decides. */
const rows = Array.from({ length: 60 }, (_, i) => [(i * 37) % 60, (i * 37) % 60 < 30 ? 'small' : 'large'] as const);
const tableOf = (column: string, delimiter = ','): string =>
  [[column, 'kind'], ...rows].map((row) => row.join(delimiter)).join('\n');

describeDesktop('A file of data', (open) => {
  let folder: string;
  let stage: DesktopStage;
  /** What the next start is given. */
  let given: string[];
  const at = (name: string): string => join(folder, name);

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'tutti-data-'));
    await write('my plants.csv', tableOf('height'));
    given = [at('my plants.csv')];
    stage = await DesktopStage.open((home) => open(home, ...given));
    await stage.desktop.evaluate(({ app }) => {
      const recent: string[] = [];
      app.addRecentDocument = (path) => void recent.push(path);
      Object.assign(globalThis, { recent });
    });
  });
  afterAll(async () => {
    await stage.close();
    await rm(folder, { recursive: true, force: true });
  });

  async function write(name: string, content: string | Buffer): Promise<string> {
    await mkdir(dirname(at(name)), { recursive: true });
    await writeFile(at(name), content);
    return at(name);
  }

  /** Waits for the page that makes a project from this file, with the column of its profile. */
  async function expectProfile(path: string, column: string): Promise<void> {
    const { page } = stage;
    await expect(page.getByRole('row', { name: new RegExp(`^${column} number`) })).toBeVisible();
    await expect(page.getByRole('heading', { name: 'What is in the file' })).toBeVisible();
    await expect(page.getByRole('heading', { level: 1 })).toHaveText('New from data');
    expect(new URLSearchParams(page.url().replace(/^.*#\/create\?/, '')).get('path')).toBe(path);
  }

  /** Files and folders in the menu of what was open, the most recent first. */
  const recentItems = (): Promise<string[]> =>
    stage.desktop.evaluate(({ Menu }) => {
      const items = Menu.getApplicationMenu()?.items.flatMap((menu) => menu.submenu?.items ?? []) ?? [];
      return (items.find(({ label }) => label === 'Open Recent')?.submenu?.items ?? []).map(({ label }) => label);
    });
  const itemOf = (path: string): string => `${basename(path)}  (${path})`;

  it('with which the app is started shows its profile', async () => {
    await expectProfile(at('my plants.csv'), 'height');
    await expect.poll(recentItems).toEqual([itemOf(at('my plants.csv'))]);
  });

  it('with which the app is started again shows its profile in the window that is open', async () => {
    const shrubs = await write('shrubs of May.tsv', tableOf('width', '\t'));
    // A file manager gives an address.
    expect(await stage.desktop.startAgain(pathToFileURL(shrubs).href)).toBe(0);
    await expectProfile(shrubs, 'width');
    expect(stage.desktop.pages()).toHaveLength(1);
  });

  it('that macOS opens shows its profile', async () => {
    const lines = rows.map(([depth, kind]) => JSON.stringify({ depth, kind })).join('\n');
    const roots = await write('roots.jsonl', lines);
    await stage.desktop.evaluate(
      ({ app }, path) => app.emit('open-file', { preventDefault: () => undefined }, path),
      roots,
    );
    await expectProfile(roots, 'depth');
  });

  it('that is dropped on any page of the window shows its profile', async () => {
    await stage.visit('/settings');
    await expect(stage.page.getByRole('heading', { level: 1 })).toHaveText('Settings and health');
    const sheet = { name: 'Plants', rows: [['weight', 'kind'], ...rows] };
    const seeds = await write('seeds.xlsx', await workbookBytes({ sheets: [sheet] }));
    await stage.desktop.drop(seeds);
    await expectProfile(seeds, 'weight');
  });

  it('may be a folder of images', async () => {
    const png = await sharp(Buffer.alloc(192, 90), { raw: { width: 8, height: 8, channels: 3 } })
      .png()
      .toBuffer();
    for (const name of ['leaves/oak/1.png', 'leaves/ash/1.png', 'leaves/ash/2.png']) await write(name, png);
    await stage.desktop.drop(at('leaves'));
    await expect(stage.page.getByRole('heading', { name: 'What is in the folder' })).toBeVisible();
    await expect(stage.page.getByRole('row', { name: /^ash 2/ })).toBeVisible();
  });

  it('is a recent document, of the system too, and opens from there, also after the next start', async () => {
    const shown = ['leaves', 'seeds.xlsx', 'roots.jsonl', 'shrubs of May.tsv', 'my plants.csv'].map(at);
    await expect.poll(recentItems).toEqual(shown.map(itemOf));
    const recent = () => stage.desktop.evaluate(() => (globalThis as unknown as { recent: string[] }).recent);
    expect((await recent()).toReversed().slice(0, 4)).toEqual(shown.slice(0, 4));
    await stage.choose(itemOf(at('shrubs of May.tsv')));
    await expectProfile(at('shrubs of May.tsv'), 'width');
    given = [];
    await stage.reopen();
    const again = ['shrubs of May.tsv', 'leaves', 'seeds.xlsx', 'roots.jsonl', 'my plants.csv'].map(at);
    await expect.poll(recentItems).toEqual(again.map(itemOf));
    await stage.choose(itemOf(at('my plants.csv')));
    await expectProfile(at('my plants.csv'), 'height');
  });
});
