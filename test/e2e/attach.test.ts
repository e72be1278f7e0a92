import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from '@playwright/test';
import { afterAll, beforeAll, describe, it, vi } from 'vitest';
import { notRun } from '../environment/reasons.ts';
import { killNode, type LaunchedTask, startTask } from '../integration/nodes/launch.ts';
import { type LoginNode, noSshd, startLoginNode } from '../integration/nodes/ssh.ts';
import { blobs, expectStatus, Stage, visit } from './stage.ts';
import { chromium, noChromium } from './support/browser.ts';
import { expect } from './support/expect.ts';

const reason = noChromium ?? noSshd;

describe.skipIf(reason !== null)(`A run on another machine, on the pages${notRun(reason)}`, () => {
  let far: string;
  let login: LoginNode;
  let job: LaunchedTask;
  let stage: Stage;
  let page: Page;

  beforeAll(async () => {
    far = await mkdtemp(join(tmpdir(), 'tutti-far-'));
    const place = ['--out', join(far, 'shared run'), '--name', 'far', '--json', '--trust', '--devices', 'cpu:0'];
    const size = ['--members', '2', '--members-per-device', '2', '--max-epochs', '1000000'];
    const variables = { TUTTI_HOME: far, TUTTI_REACHABLE: '1' };
    job = startTask('compute7', variables, ['train', blobs, ...place, ...size, '--evaluate-every-epochs', '20']);
    login = await startLoginNode(join(far, 'login'), far);
    vi.stubEnv('PATH', login.variables.PATH);
    stage = await Stage.open(chromium ?? '');
    page = await stage.openPage();
    await job.until((line) => line.includes('"type":"point"'));
  });
  afterAll(async () => {
    await stage.close();
    login.end();
    if (job.child.exitCode === null) killNode(job);
    await rm(far, { recursive: true, force: true });
    vi.unstubAllEnvs();
  });

  it('is attached to through a real sshd, followed, paused, detached, followed again and stopped', async () => {
    await visit(page, '/runs');
    await page.getByRole('button', { name: 'Attach to a remote run…' }).click();
    const dialog = page.getByRole('dialog', { name: 'Attach to a remote run' });
    const address = dialog.getByLabel('Address');
    const attach = dialog.getByRole('button', { name: 'Attach', exact: true });
    await address.fill('login');
    await expect(dialog.getByRole('status')).toContainText('Write user@login:run');
    await address.fill('stranger@login:far');
    await attach.click();
    await expect(dialog.getByRole('status')).toContainText(
      /Permission denied \(publickey.*Load a key that stranger@login accepts/s,
    );
    await address.fill('login:near');
    await attach.click();
    await expect(dialog.getByRole('status')).toContainText('No run that trains on login is called "near".');
    await address.fill('login:far');
    await attach.click();
    await page.waitForURL(/#\/runs\/[\w-]+$/);

    await expectStatus(page, 'running');
    const link = page.getByRole('status', { name: 'Other machine' });
    await expect(link).toHaveText('On login Detach');
    await expect(page.locator('.run-header')).toContainText(/epoch [\d,]+\//);
    await page.getByRole('button', { name: 'Pause', exact: true }).click();
    await job.until((line) => line.includes('"kind":"paused"'));
    await expectStatus(page, 'paused');
    await page.getByRole('button', { name: 'Resume', exact: true }).click();
    await expectStatus(page, 'running');

    await link.getByRole('button', { name: 'Detach' }).click();
    await expect(link).toContainText('nothing follows it');
    await expect(page.getByRole('button', { name: 'Pause', exact: true })).toBeDisabled();
    await link.getByRole('button', { name: 'Follow again' }).click();
    await expect(link).toHaveText('On login Detach');
    await page.getByRole('button', { name: 'Stop jointly', exact: true }).click();
    await page.getByRole('alertdialog').or(page.getByRole('dialog')).getByRole('button', { name: 'Stop now' }).click();
    expect(await job.ended).toBe(3);
    await expectStatus(page, 'stopped');
    await expect(link).toHaveText('On login');
  });
});
