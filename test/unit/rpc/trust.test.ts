import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { runPaths } from '../../../src-main/store/runs/run-folder.ts';
import { openService } from './page.ts';
import { writeTinyProject } from './tiny-project.ts';

beforeEach(() => {
  vi.stubEnv('TUTTI_TRUST', '');
});

const request = (projectFolder: string) => ({ projectFolder, overrides: {}, name: null, out: null });
const refusal = 'is not trusted, so nothing of it was run.';

/** A project that says when its code runs. */
async function openTellTale() {
  const opened = await openService();
  const folder = join(opened.home, 'tell-tale');
  await mkdir(folder);
  await writeFile(join(folder, 'project.ts'), 'throw new Error("Code of the project ran.");');
  return { ...opened, folder };
}

describe('a project that is not trusted', () => {
  it('runs no code when it is opened, listed, described, previewed or started, until it is trusted', async () => {
    const { page, folder } = await openTellTale();
    const untrusted = { folder, name: 'tell-tale', isTrusted: false, isDescribed: false, error: null, warning: null };
    expect(await page.hub.openPath(folder)).toMatchObject({ kind: 'project', project: untrusted });
    expect((await page.hub.projects()).at(-1)).toMatchObject(untrusted);
    expect(await page.hub.projectCard(folder)).toMatchObject(untrusted);
    await expect(page.hub.describeProject(folder)).rejects.toThrow(refusal);
    await expect(page.hub.previewRun(request(folder))).rejects.toThrow(refusal);
    await expect(page.hub.startRun(request(folder))).rejects.toThrow(refusal);
    const ran = expect.stringContaining('Code of the project ran.');
    expect(await page.hub.trustProject(folder)).toMatchObject({ isTrusted: true, isDescribed: true, error: ran });
  }, 30_000);

  it('is not described any more once the trust is withdrawn, even if it was described before', async () => {
    const { page, home } = await openService();
    const folder = await writeTinyProject(home);
    expect(await page.hub.trustProject(folder)).toMatchObject({ name: 'Blobs', isTrusted: true, asks: [] });
    expect(await page.hub.trustedFolders()).toMatchObject([{ folder, allowed: [] }]);
    await page.hub.withdrawTrust(folder);
    expect(await page.hub.trustedFolders()).toEqual([]);
    expect(await page.hub.projectCard(folder)).toMatchObject({ name: 'blobs', isTrusted: false });
    await expect(page.hub.describeProject(folder)).rejects.toThrow(refusal);
  }, 30_000);

  it('is not run by a run that names it', async () => {
    const { page, home, folder } = await openTellTale();
    const honest = await writeTinyProject(home);
    await page.hub.trustProject(honest);
    const { id } = await page.hub.startRun({ ...request(honest), overrides: { maxEpochs: 1 } });
    await vi.waitUntil(async () => (await page.hub.run(id)).record.status === 'finished', { timeout: 50_000 });
    const { record, folder: runFolder } = await page.hub.run(id);
    const forged = { ...record, project: { ...record.project, folder } };
    await writeFile(runPaths(runFolder).record, JSON.stringify(forged));
    await expect(page.hub.resumeRun(id, { maxEpochs: 2 }, null)).rejects.toThrow(refusal);
    const members = [{ rank: 0, name: 'final' }];
    await expect(page.hub.evaluateSet(id, { members, split: 'validation' })).rejects.toThrow(refusal);
    await expect(page.hub.attemptCommands(id)).rejects.toThrow(refusal);
    expect(JSON.parse(await readFile(runPaths(runFolder).record, 'utf8')).attempts).toHaveLength(1);
    // The run kept its models, so an export of them needs no code of the project.
    expect(await page.hub.exportRun(id, { formats: ['tfjs'], checkpoints: null })).toMatchObject({ warnings: [] });
  }, 90_000);
});

describe('a trusted project that asks for more than projects get', () => {
  const asking = (permissions: string, source: string): string =>
    source.replace("task: 'classification',", `task: 'classification',\n  permissions: ${permissions},`);

  it('starts once the user has allowed what the card shows', async () => {
    const { page, home } = await openService();
    const folder = await writeTinyProject(home);
    const file = join(folder, 'project.ts');
    await writeFile(file, asking('{ network: true }', await readFile(file, 'utf8')));
    const asks = ['uses the network'];
    expect(await page.hub.trustProject(folder)).toMatchObject({ asks });
    const { problems, config } = await page.hub.previewRun(request(folder));
    expect(config).toBeNull();
    expect(problems).toEqual([{ path: null, message: expect.stringContaining('it uses the network.') }]);
    await expect(page.hub.startRun(request(folder))).rejects.toThrow('it uses the network.');
    await expect(page.hub.allowProject(folder, ['reads /data'])).rejects.toThrow('has changed: it uses the network.');
    expect(await page.hub.allowProject(folder, asks)).toMatchObject({ asks: [] });
    expect((await page.hub.previewRun(request(folder))).problems).toEqual([]);
    expect(await page.hub.trustedFolders()).toMatchObject([{ allowed: [`${folder}: uses the network`] }]);
  }, 30_000);
});
