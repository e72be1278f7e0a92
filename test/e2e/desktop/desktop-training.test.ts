import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, it } from 'vitest';
import { writeFileAtomic } from '../../../core/node/atomic-file.ts';
import { readRunRecord } from '../../../src-main/store/runs/run-folder.ts';
import { readZip } from '../../unit/export/zip-reader.ts';
import { ownPage } from './desktop-entry.ts';
import { describeDesktop, DesktopStage } from './desktop-stage.ts';
import { noteDisplay, readShown } from './display-spies.ts';
import { expect } from '../support/expect.ts';
import { blobs, expectPoints, expectStatus } from '../stage.ts';

const faulty = join(import.meta.dirname, '../../integration', 'projects', 'faulty');
const endless = { members: 2, maxEpochs: 1_000_000 };

describeDesktop('Training in the desktop app', (open) => {
  let stage: DesktopStage;
  beforeAll(async () => {
    stage = await DesktopStage.open(open);
    await stage.keepNotifications();
  });
  afterAll(() => stage.close());

  const answerQuestion = (response: number): Promise<void> =>
    stage.desktop.evaluate(({ dialog }, given) => {
      dialog.showMessageBox = async (...args: unknown[]) => {
        Object.assign(globalThis, { question: args.at(-1) });
        return { response: given, checkboxChecked: false };
      };
    }, response);

  it('finishes, with progress on the taskbar and a system that stays awake, and the system notifies', async () => {
    const file = join(stage.home, 'finishing');
    await noteDisplay(stage.desktop, file);
    await stage.startRun(blobs, { members: 2, maxEpochs: 4 });
    await expectPoints(stage.page, 'NLL');
    await expectStatus(stage.page, 'finished');
    await expect
      .poll(() => stage.notifications())
      .toEqual([
        {
          title: 'Overlapping blobs has finished',
          body: expect.stringMatching(/^Overlapping blobs: best val\/ens_nll \d/),
        },
      ]);
    const { bars, badges, awake, tips } = await readShown(file);
    // Without a known end until the ranks have said how far they are.
    expect([bars[0], bars.at(-1)]).toEqual([2, -1]);
    expect([badges[0], badges.at(-1), awake]).toEqual([1, 0, [true, false]]);
    expect(tips).toEqual([]);
  });

  it('exports a run to the path of the save dialog', async () => {
    const { desktop, page, home } = stage;
    const path = join(home, 'copy of a run.zip');
    await desktop.evaluate(({ dialog }, filePath) => {
      dialog.showSaveDialog = async () => ({ canceled: false, filePath });
    }, path);
    await stage.choose('Export Run…');
    const dialog = page.getByRole('dialog', { name: 'Export this run' });
    await dialog.getByRole('button', { name: 'Export' }).click();
    await expect(dialog.getByRole('status')).toContainText(path);
    expect([...readZip(await readFile(path)).keys()]).toContain('metrics.csv');
    await page.keyboard.press('Escape');
  });

  it('notifies of a diverged run, and a click opens it', async () => {
    const id = await stage.startRun(faulty, { members: 2, hyperparameters: { fault: 'nan' } });
    await expectStatus(stage.page, 'failed');
    await expect.poll(async () => (await stage.notifications()).at(-1)?.title).toBe('Faulty diverged');
    await stage.visit('/settings');
    await expect(stage.page.getByRole('heading', { level: 1 })).toHaveText('Settings and health');
    await stage.desktop.evaluate(() =>
      (globalThis as unknown as { kept: Electron.Notification[] }).kept.at(-1)?.emit('click'),
    );
    await expect.poll(() => stage.page.url()).toContain(`#/runs/${id}`);
  });

  it('is paused, resumed and stopped from the menu', async () => {
    const { page } = stage;
    await stage.startRun(blobs, endless);
    await expectPoints(page, 'NLL');
    await stage.choose('Pause or Continue');
    await expect(page.locator('.run-header .state')).toContainText('paused');
    await stage.choose('Pause or Continue');
    await expect(page.locator('.run-header .state')).not.toContainText('paused');
    await stage.choose('Stop Jointly…');
    await page.getByRole('alertdialog').getByRole('button', { name: 'Stop now' }).click();
    await expectStatus(page, 'stopped');
  });

  it('continues while the window is closed, and is interrupted by quitting only after the user confirms; the next start shows its page', async () => {
    const { desktop } = stage;
    const run = await stage.startRun(blobs, endless);
    await expectPoints(stage.page, 'NLL');
    await desktop.evaluate(({ BrowserWindow }) => BrowserWindow.getAllWindows()[0].close());
    await expect.poll(async () => (await stage.notifications()).at(-1)?.title).toBe('Tutti keeps training');
    expect(await desktop.startAgain()).toBe(0);
    stage.page = await ownPage(desktop);
    await stage.visit(`/runs/${run}`);
    await expectStatus(stage.page, 'running');
    await expect(stage.page.getByRole('button', { name: 'Stop jointly' })).toBeEnabled();

    await answerQuestion(0);
    await desktop.evaluate(({ app }) => app.quit());
    await expect
      .poll(() => desktop.evaluate(() => (globalThis as unknown as { question?: object }).question))
      .toMatchObject({
        message: 'A run is still training.',
        buttons: ['Keep training', 'Interrupt and quit'],
        defaultId: 0,
        cancelId: 0,
      });
    await expectStatus(stage.page, 'running');
    await answerQuestion(1);
    await desktop.evaluate(({ app }) => void setImmediate(() => app.quit()));
    expect(await stage.ended()).toEqual([]);
    const record = await readRunRecord(join(stage.home, 'runs', run));
    expect(record).toMatchObject({ status: 'interrupted', hub: null });

    await stage.reopen();
    await expect.poll(() => stage.page.url()).toContain(`#/runs/${run}`);
    await stage.keepNotifications();
  });

  it('without a window finishes, shown by a tray icon, as does what waits in the queue, and the app exits then', async () => {
    const file = join(stage.home, 'without a window');
    await noteDisplay(stage.desktop, file);
    const first = await stage.startRun(blobs, { members: 2, maxEpochs: 200 });
    await expectPoints(stage.page, 'NLL');
    const request = { projectFolder: blobs, overrides: { members: 2, maxEpochs: 2 }, name: 'second', out: null };
    const waiting = { id: 'waiting', request, name: 'second', addedAt: new Date().toISOString() };
    const queue = { format: 1, runs: [{ ...waiting, startedAt: null, error: null }] };
    await writeFileAtomic(join(stage.home, 'queue.json'), JSON.stringify(queue));
    await stage.visit('/runs');
    await expect(stage.page.getByRole('heading', { name: 'Waiting runs' })).toBeVisible();
    await stage.desktop.evaluate(({ BrowserWindow }) => BrowserWindow.getAllWindows()[0].close());
    expect(await stage.ended()).toEqual([]);
    const records = (await readdir(join(stage.home, 'runs'))).map((id) => readRunRecord(join(stage.home, 'runs', id)));
    const ended = (await Promise.all(records)).filter(({ id, name }) => id === first || name === 'second');
    expect(ended.map(({ status }) => status)).toEqual(['finished', 'finished']);
    const { tips, pictures, menus, removals, awake } = await readShown(file);
    const texts = tips.flatMap((tip) => /^Tutti: Overlapping blobs, (\d+) %$/.exec(tip)?.[1] ?? []);
    const shares = texts.map(Number);
    expect(shares).toEqual([...shares].sort((a, b) => a - b));
    expect(new Set(shares).size).toBeGreaterThan(1);
    for (const picture of pictures) expect(picture).toEqual({ width: 22, height: 22, densities: [1, 2] });
    expect(pictures.length).toBeGreaterThan(0);
    expect(menus).toContainEqual([`Overlapping blobs: ${shares.at(-1)} %`, '', 'Open Tutti', 'Quit']);
    expect(removals.length).toBeGreaterThan(0);
    expect([awake[0], awake.at(-1)]).toEqual([true, false]);
  });
});
