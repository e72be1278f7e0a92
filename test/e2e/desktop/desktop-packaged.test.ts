import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, it } from 'vitest';
import { openInElectron } from './desktop-entry.ts';
import { describeDesktop, DesktopStage } from './desktop-stage.ts';
import { expect } from '../support/expect.ts';
import { layOutPackage } from './packaged-layout.ts';
import { blobs, expectPoints, expectStatus } from '../stage.ts';

describeDesktop('The packaged app', () => {
  let folder: string;
  let stage: DesktopStage;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'tutti-package-'));
    const main = await layOutPackage(folder);
    stage = await DesktopStage.open((home) => openInElectron({ home, main }));
  });
  afterAll(async () => {
    await stage.close();
    await rm(folder, { recursive: true, force: true });
  });

  it('offers the examples beside its archive', async () => {
    const link = stage.page.getByRole('link', { name: 'Train Heteroscedastic regression' });
    await expect(link).toHaveAttribute('href', /app\.asar\.unpacked\/examples\/00_/);
  });

  it('trains with its packaged workers on its packaged Node', async () => {
    await stage.startRun(blobs, { members: 2, maxEpochs: 1_000_000 });
    await expectPoints(stage.page, 'NLL');
    const beside = join(folder, 'app.asar.unpacked');
    const { stdout } = await promisify(execFile)('ps', ['-eo', 'args']);
    const entry = join(beside, 'workers', 'entries', 'worker.ts');
    // Each worker has a keeper, a shell whose arguments name it too.
    const workers = stdout.split('\n').filter((line) => line.includes(entry) && !line.startsWith('sh '));
    expect(workers).toHaveLength(2);
    for (const worker of workers)
      expect(worker).toMatch(new RegExp(`^${join(beside, 'node_modules')}/[^ ]*/bin/node `));
    await stage.choose('Stop Jointly…');
    await stage.page.getByRole('alertdialog').getByRole('button', { name: 'Stop now' }).click();
    await expectStatus(stage.page, 'stopped');
  });
});
