import { createHash } from 'node:crypto';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { ForkPoint } from '../../../core/protocol/history/history.ts';
import { hubLogPath } from '../../../src-main/hub/detach.ts';
import { openService, type TestPage } from './page.ts';
import { tinyProject, writeTinyProject } from './tiny-project.ts';

type PageHub = TestPage['hub'];

/** A finished run of 3 epochs, with a checkpoint of each epoch and a state of the last two. */
async function openTrained(writeProject: (home: string) => Promise<string> = () => Promise.resolve(tinyProject)) {
  const opened = await openService();
  const { page } = opened;
  const projectFolder = await writeProject(opened.home);
  await page.hub.trustProject(projectFolder);
  const checkpoints = { everyEpochs: 1, stateEverySeconds: 0 };
  const overrides = { members: 2, membersPerDevice: 2, devices: 'cpu:0', checkpoints };
  const { id } = await page.hub.startRun({ projectFolder, overrides, name: 'first', out: null });
  await expectFinished(page.hub, id);
  return { ...opened, id, projectFolder, folder: (await page.hub.run(id)).folder };
}

async function expectFinished(hub: PageHub, id: string): Promise<void> {
  await expect.poll(async () => (await hub.run(id)).record.status).toBe('finished');
}

async function hashesOf(folder: string): Promise<Map<string, string>> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const paths = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  const hashes = paths.map(async (path) => {
    const hash = createHash('sha256').update(await readFile(path));
    return [path, hash.digest('hex')] as const;
  });
  return new Map((await Promise.all(hashes)).sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** A preview names the option that keeps a fork of the last state from training, and every other problem. */
async function expectRefusals(hub: PageHub, id: string, points: readonly ForkPoint[]): Promise<void> {
  const last = points.findLast(({ kind }) => kind === 'state');
  const request = { point: last?.name ?? '', overrides: {}, name: null, out: null };
  const message = `A fork of ${id} at ${last?.name} has nothing left to train. To train it further, enter for example 6.`;
  const preview = await hub.previewFork(id, request);
  expect(preview).toMatchObject({ config: null, problems: [{ path: 'maxEpochs', message }] });
  await expect(hub.startFork(id, request)).rejects.toThrow('To train it further: --set maxEpochs=6');

  const wrong = { ...request, overrides: { maxEpochs: 6, members: 5 }, out: 'here' };
  expect((await hub.previewFork(id, wrong)).problems.map(({ path }) => path)).toEqual(['members', 'out']);
  await expect(hub.forkStart(id, 'round-99999')).rejects.toThrow(
    `The run ${id} has no state or checkpoint "round-99999" that all members share to fork from.`,
  );
}

async function expectDetachedFork(hub: PageHub, id: string): Promise<void> {
  const request = { point: 'epoch-00000', overrides: { maxEpochs: 2 }, name: 'detached', out: null, detach: true };
  const fork = await hub.startFork(id, request);
  await expectFinished(hub, fork.id);
  const { folder, record } = await hub.run(fork.id);
  expect(record).toMatchObject({ origin: { run: id, point: 'epoch-00000' }, attempts: [{ kind: 'fork' }] });
  const [, pid] = /Process (\d+) trains the run/.exec(await readFile(hubLogPath(folder), 'utf8')) ?? [];
  expect(Number(pid)).toBeGreaterThan(0);
  expect(Number(pid)).not.toBe(process.pid);
}

it('a page forks a run at a saved point with changed options, and the run stays as it is', async () => {
  const { page, id, folder } = await openTrained();
  const preprocessing = '{"format":1,"steps":[]}';
  await writeFile(join(folder, 'preprocessing.json'), preprocessing);
  const before = await hashesOf(folder);
  const points = await page.hub.forkPoints(id);
  expect(points.filter(({ kind }) => kind === 'state').map(({ epoch }) => epoch)).toEqual([1, 2]);
  const second = points.find(({ name }) => name === 'epoch-00001');
  expect(second).toMatchObject({ kind: 'checkpoint', epoch: 1, attempt: 1 });

  const start = await page.hub.forkStart(id, 'epoch-00001');
  expect(start).toMatchObject({ point: second, name: 'first', project: { name: 'Blobs' }, config: { maxEpochs: 3 } });

  await expectRefusals(page.hub, id, points);

  const request = { point: 'epoch-00001', overrides: { maxEpochs: 4 }, name: 'second', out: null };
  const preview = await page.hub.previewFork(id, request);
  expect(preview).toMatchObject({ problems: [], config: { maxEpochs: 4, members: 2 } });
  expect(preview.commandLine).toBe(`npx tutti fork ${id} --at epoch-00001 --set maxEpochs=4 --name second`);

  const fork = await page.hub.startFork(id, request);
  expect(fork.id).not.toBe(id);
  await expectFinished(page.hub, fork.id);
  expect(await page.hub.run(fork.id)).toMatchObject({
    row: { name: 'second', origin: id },
    record: {
      origin: { run: id, name: 'first', kind: 'checkpoint', point: 'epoch-00001', epoch: 1 },
      attempts: [{ kind: 'fork', overrides: { maxEpochs: 4 }, from: { epoch: 2 } }],
      summary: { epochs: 4 },
    },
  });
  const { folder: forked } = await page.hub.run(fork.id);
  expect(await readFile(join(forked, 'origin', 'preprocessing.json'), 'utf8')).toBe(preprocessing);
  expect((await page.hub.runs({ origin: id })).rows.map((row) => row.id)).toEqual([fork.id]);
  await expectDetachedFork(page.hub, id);
  expect(await hashesOf(folder)).toEqual(before);
});

it('a fork and a resume train with the code that the run kept, and a page may choose the present code', async () => {
  const { page, id, projectFolder } = await openTrained(writeTinyProject);
  const request = { point: 'epoch-00001', overrides: { maxEpochs: 4 }, name: null, out: null };
  expect(await page.hub.previewFork(id, request)).toMatchObject({ hasChangedCode: false });
  await writeFile(join(projectFolder, 'project.ts'), 'export default 1;');
  expect(await page.hub.previewResume(id, { maxEpochs: 4 })).toMatchObject({ hasChangedCode: true });
  const present = await page.hub.previewResume(id, { maxEpochs: 4 }, true);
  expect(present.commandLine).toBe(`npx tutti resume ${id} --set maxEpochs=4 --current-source`);
  expect(await page.hub.previewFork(id, { ...request, currentSource: true })).toMatchObject({
    hasChangedCode: true,
    commandLine: `npx tutti fork ${id} --at epoch-00001 --set maxEpochs=4 --current-source`,
  });
  const fork = await page.hub.startFork(id, request);
  await expectFinished(page.hub, fork.id);
  const [first, second] = await Promise.all([id, fork.id].map(async (run) => (await page.hub.run(run)).record));
  expect(second.attempts[0].sourceHash).toBe(first.attempts[0].sourceHash);
  // The present code has no project.
  await page.hub.resumeRun(id, { maxEpochs: 4 }, null, true);
  const eventsOf = async () => (await page.hub.run(id)).events.map(({ message }) => message).join('\n');
  await expect.poll(eventsOf).toContain('does not export a project');
});
