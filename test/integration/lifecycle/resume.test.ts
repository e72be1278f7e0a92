import { execFileSync, spawn } from 'node:child_process';
import { hash } from 'node:crypto';
import { once } from 'node:events';
import { appendFile, cp, mkdtemp, readdir, readFile, rename, rm, symlink, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { RunConfigInput } from '../../../core/protocol/run/config.ts';
import type { RunRecord } from '../../../core/protocol/run/record.ts';
import { hashProjectSource } from '../../../src-main/runs/configuration/project-source.ts';
import { lookAtLock } from '../../../core/node/file-lock.ts';
import { readEvents, readRunRecord } from '../../../src-main/store/runs/run-folder.ts';
import { notRun, notWindows } from '../../environment/reasons.ts';
import { tutti } from '../command-line.ts';
import { mergedMetrics, projectFolder, readCheckpointRecord, resume, train, trainOnce, useHub } from '../harness.ts';

const { hub } = useHub();
const finished = trainOnce();

const config: RunConfigInput = {
  members: 2,
  devices: 'cpu:0,1',
  maxEpochs: 4,
  optimizer: { kind: 'sgd', learningRate: 0.5 },
};
const files = ['metrics.csv', 'checkpoints/rank-0/ensemble-best.json', 'checkpoints/rank-1/final.json'];

/** The files that a resume must not touch. */
async function read(folder: string) {
  const texts = await Promise.all(files.map((file) => readFile(join(folder, file), 'utf8')));
  return { record: await readRunRecord(folder), texts };
}

let folderOfProjects = '';
beforeAll(async () => void (folderOfProjects = await mkdtemp(join(tmpdir(), 'tutti-projects-'))));
afterAll(() => rm(folderOfProjects, { recursive: true }));

/** A copied project whose source a test may change. */
async function ownProject(name: string): Promise<string> {
  const folder = join(folderOfProjects, name);
  await cp(projectFolder('blobs'), folder, { recursive: true });
  return folder;
}

/** A run that has finished with `config`: a copy that the test may change. */
async function copyOfFinished(): Promise<{ folder: string; record: RunRecord }> {
  const { folder, record } = await finished(hub(), 'blobs', config);
  const copy = await mkdtemp(join(folderOfProjects, 'run-'));
  await cp(folder, copy, { recursive: true, preserveTimestamps: true });
  return { folder: copy, record };
}

describe('a finished run after a resume', () => {
  it('is unchanged if nothing is left to do, or there is nothing to resume from', async () => {
    const { folder, record } = await copyOfFinished();
    const before = await read(folder);
    await expect(resume(hub(), folder)).rejects.toThrow(
      `Nothing is left to do: the run ${record.id} has finished after 4 epochs and 12 steps. ` +
        `To train it further: tutti resume ${record.id} --max-epochs 8`,
    );
    await expect(resume(hub(), folder, { maxEpochs: 9, maxSteps: 12 })).rejects.toThrow('--set maxSteps=24');
    await rm(join(folder, 'state'), { recursive: true });
    await expect(resume(hub(), folder, { maxEpochs: 8 })).rejects.toThrow('its final state is gone');
    expect(await read(folder)).toEqual(before);
  });

  it('that stopped early is unchanged until its patience is larger', async () => {
    // Nothing improves by 10, so the second evaluation without improvement ends the run.
    const earlyStopping = { enabled: true, patience: 2, minDelta: 10 };
    const { folder, record } = await train(hub(), 'blobs', { ...config, maxEpochs: 9, earlyStopping });
    expect(record.summary).toMatchObject({ stopReason: 'early-stopping', epochs: 3 });
    const before = await read(folder);
    await expect(resume(hub(), folder)).rejects.toThrow('by early stopping. To train it further:');
    expect(await read(folder)).toEqual(before);
    const resumed = await resume(hub(), folder, { earlyStopping: { ...earlyStopping, patience: 4 } });
    expect(resumed.summary).toMatchObject({ stopReason: 'early-stopping', epochs: 5 });
  });

  it('continues with another configuration, and each attempt keeps its own; a worse result replaces no best checkpoint', async () => {
    const { folder, record: first } = await copyOfFinished();
    const best = readCheckpointRecord(folder, 0, 'ensemble-best');
    // This large rate makes the members worse immediately.
    const optimizer = { kind: 'sgd', learningRate: 10 } as const;
    const record = await resume(hub(), folder, { maxEpochs: 6, optimizer });
    expect(record).toMatchObject({ status: 'finished', summary: { attempt: 2, epochs: 6, steps: 18 } });
    expect(record.summary?.best).toEqual(first.summary?.best);
    expect(readCheckpointRecord(folder, 0, 'ensemble-best')).toEqual(best);
    const [start, second] = record.attempts;
    expect(start).toMatchObject({
      kind: 'start',
      from: { epoch: 0, step: 0 },
      overrides: config,
      config: first.config,
    });
    expect(start.config?.maxEpochs).toBe(4);
    expect(second).toMatchObject({
      kind: 'resume',
      from: { epoch: 4, step: 12 },
      overrides: { maxEpochs: 6, optimizer },
      config: { maxEpochs: 6, optimizer: { learningRate: 10 } },
    });
    expect(second.sourceHash).toBe(start.sourceHash);
  });
});

it('a resume of a finished run keeps what the run was, file by file, with source and environment of each attempt', async () => {
  const project = await ownProject('kept');
  const { folder, record } = await train(hub(), project, config);
  const before = await hashes(folder);
  await appendFile(join(project, 'project.ts'), '\n// changed\n');
  const resumed = await resumeWithPresentCode(folder, { maxEpochs: 6 });
  const kept = await hashes(join(folder, 'attempts', '1'));
  const files = [...kept].filter(([path]) => path !== 'run.json');
  for (const [path, sha256] of files) expect([path, sha256]).toEqual([path, before.get(path)]);
  const final = 'checkpoints/rank-0/final.safetensors';
  for (const path of ['run.json', 'metrics.csv', final, 'checkpoints/rank-1/final.json']) {
    expect([...kept.keys()]).toContain(path);
  }
  expect((await hashes(folder)).get(final)).not.toBe(before.get(final));
  expect(await readRunRecord(join(folder, 'attempts', '1'))).toEqual(record);
  const sources = resumed.attempts.map(({ sourceHash }) => sourceHash ?? '');
  expect(new Set(sources).size).toBe(2);
  for (const source of sources) expect(await hashProjectSource(join(folder, 'sources', source))).toBe(source);
  expect(resumed.attempts.map(({ environment }) => environment?.devices.length)).toEqual([2, 2]);
});

/** SHA-256 of all files in a folder, by path. */
async function hashes(root: string): Promise<Map<string, string>> {
  const entries = await readdir(root, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  const found = files.map(async (file) => [relative(root, file), hash('sha256', await readFile(file), 'hex')] as const);
  return new Map(await Promise.all(found));
}

describe('a resume with a damaged state', () => {
  it('continues from the intact older round, names the file and the reason, and ends with the same bits', async () => {
    const saving: RunConfigInput = { ...config, checkpoints: { stateEverySeconds: 0 } };
    const whole = await train(hub(), 'blobs', { ...saving, maxEpochs: 8 });
    const { folder } = await train(hub(), 'blobs', saving);
    const states = (await readdir(join(folder, 'state', 'rank-1'))).filter((name) => name.endsWith('.safetensors'));
    const newest = states.sort((a, b) => Number(/\d+/.exec(a)) - Number(/\d+/.exec(b))).at(-1) ?? '';
    const path = join(folder, 'state', 'rank-1', newest);
    const content = await readFile(path);
    content[content.length - 1] ^= 1;
    await writeFile(path, content);

    const record = await resume(hub(), folder, { maxEpochs: 8 });
    expect(record.status).toBe('finished');
    const skipped = (await readEvents(folder)).filter(({ kind }) => kind === 'state-skipped');
    expect(skipped).toMatchObject([{ attempt: 2, message: expect.stringContaining(`${path} is missing or damaged`) }]);
    expect(record.attempts[1].from?.step).toBe(skipped[0].step);
    expect(skipped[0].step).toBeLessThan(12);
    expect((await mergedMetrics(folder)).values).toEqual((await mergedMetrics(whole.folder)).values);
    for (const rank of [0, 1]) {
      const [sha256, expected] = [folder, whole.folder].map((run) => readCheckpointRecord(run, rank, 'final').sha256);
      expect(sha256).toBe(expected);
    }
  });

  it('or row of metrics, or checkpoint record, continues without it and names it', async () => {
    const { folder } = await copyOfFinished();
    const [header, first, ...rows] = (await readFile(join(folder, 'metrics.csv'), 'utf8')).split('\n');
    await writeFile(join(folder, 'metrics.csv'), [header, `${first.slice(0, -4)}xxxx`, ...rows].join('\n'));
    await writeFile(join(folder, 'checkpoints', 'rank-0', 'member-best.json'), '');
    const record = await resume(hub(), folder, { maxEpochs: 6 });
    expect(record).toMatchObject({ status: 'finished', summary: { epochs: 6 } });
    const damaged = (await readEvents(folder)).filter(({ kind }) => kind === 'metrics-damaged');
    expect(damaged).toMatchObject([{ message: expect.stringContaining('metrics.csv, line 2') }]);
  });

  it('changes nothing if every state is damaged, and names all', async () => {
    const { folder } = await copyOfFinished();
    const names = (await readdir(join(folder, 'state', 'rank-0'))).filter((name) => name.endsWith('.safetensors'));
    for (const name of names) await truncate(join(folder, 'state', 'rank-0', name), 10);
    const before = await read(folder);
    const resumed = resume(hub(), folder, { maxEpochs: 8 });
    await expect(resumed).rejects.toThrow(/^Every saved state of the run .* is damaged:/);
    for (const name of names) await expect(resumed).rejects.toThrow(name);
    expect(await read(folder)).toEqual(before);
  });
});

describe.skipIf(process.platform === 'win32')('where something else stands in the place of what a run saved', () => {
  it.each(['state', 'checkpoints'])('a resume follows no link at %s, and names it', async (name) => {
    const { folder } = await copyOfFinished();
    const [place, elsewhere] = [join(folder, name), `${folder}-${name}`];
    await rename(place, elsewhere);
    await symlink(elsewhere, place);
    const before = await hashes(elsewhere);
    await expect(resume(hub(), folder, { maxEpochs: 8 })).rejects.toThrow(place);
    expect(await hashes(elsewhere)).toEqual(before);
  });

  it.each(['run.json', 'metrics.csv', 'events.jsonl', 'checkpoints/rank-0/final.json', 'state/rank-0'])(
    'SIGTERM ends a resume with a pipe at %s',
    async (path) => {
      const { folder } = await copyOfFinished();
      const isFolder = path === 'state/rank-0';
      const pipes = isFolder ? (await readdir(join(folder, path))).map((name) => join(path, name)) : [path];
      for (const pipe of pipes) {
        await rm(join(folder, pipe), { recursive: true });
        execFileSync('mkfifo', [join(folder, pipe)]);
      }
      const args = [tutti, 'resume', folder, '--max-epochs', '1000000'];
      const command = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'] });
      const ended = once(command, 'exit');
      // It either refuses, or says something while it trains.
      await Promise.race([ended, once(command.stdout, 'data'), once(command.stderr, 'data')]);
      command.kill('SIGTERM');
      await ended;
      expect(lookAtLock(join(folder, '.lock')).kind).not.toBe('held');
    },
  );
});

describe.skipIf(notWindows !== null)(`a project that was moved${notRun(notWindows)}`, () => {
  it('is named with the way out by a resume and a fork, and found through a link', async () => {
    // A name that a shell must have quoted.
    const project = await ownProject("Ada's project");
    const { folder, record } = await train(hub(), project, config);
    const before = await read(folder);
    const moved = join(folderOfProjects, 'moved project');
    await rename(project, moved);
    const words = `${folderOfProjects}/Ada'\\''s project`;
    const reason =
      `The project of the run ${record.id} was in ${project}, and nothing is there now. If it was moved, move ` +
      'it back, or make a link to it, ' +
      `through which Tutti finds it: ln -s <where it is now> '${words}'`;
    await expect(resume(hub(), folder, { maxEpochs: 6 })).rejects.toThrow(reason);
    const fork = { choice: { by: 'last' as const }, overrides: { maxEpochs: 6 } };
    await expect(hub().planFork(folder, { ...fork, folder: join(folderOfProjects, 'fork') })).rejects.toThrow(reason);
    expect(await read(folder)).toEqual(before);
    await symlink(moved, project);
    expect(await resume(hub(), folder, { maxEpochs: 6 })).toMatchObject({ status: 'finished', error: null });
  });
});

it('a resume that fails before its ranks train leaves the run unchanged and records the reason in its events, and later it keeps the earlier summary', async () => {
  const project = await ownProject('failing');
  const { folder, record } = await train(hub(), project, config);
  const before = await read(folder);
  const source = await readFile(join(project, 'project.ts'), 'utf8');
  await rm(join(project, 'project.ts'));
  const resumed = resumeWithPresentCode(folder, { maxEpochs: 8, logEverySteps: 7 });
  await expect(resumed).rejects.toThrow(
    `The run ${record.id} could not be resumed and is unchanged: There is no project in ${project}`,
  );
  expect(await read(folder)).toEqual(before);
  const last = (await readEvents(folder)).at(-1);
  expect(last).toMatchObject({
    attempt: 2,
    kind: 'resume-failed',
    message: expect.stringContaining('There is no project'),
  });
  expect((await hub().find(folder)).status).toBe('finished');

  const loss = `loss() { throw new Error('No loss today.'); },\n  model(`;
  await writeFile(join(project, 'project.ts'), source.replace('model(', loss));
  const failed = await resumeWithPresentCode(folder, { maxEpochs: 8 });
  expect(failed).toMatchObject({ status: 'failed', error: { message: expect.stringContaining('No loss today.') } });
  expect(failed.summary).toEqual(record.summary);
  const kinds = (await readEvents(folder)).map(({ kind }) => kind);
  expect(kinds).toContain('source-changed');
});

it('a fork and a resume train with the code that the run kept: the fork unless the present code is asked for, the resume says that the folder has changed', async () => {
  const project = await ownProject('edited');
  const whole = await train(hub(), 'blobs', { ...config, maxEpochs: 6 });
  const { folder, record } = await train(hub(), project, config);
  await writeFile(join(project, 'project.ts'), 'export default 1;');
  const request = { choice: { by: 'last' as const }, overrides: { maxEpochs: 6 } };
  const planned = await hub().planFork(folder, request);
  const forked = await hub()
    .fork(planned, () => {})
    .run();
  expect(forked).toMatchObject({ status: 'finished', error: null });
  expect(forked.attempts[0].sourceHash).toBe(record.attempts[0].sourceHash);
  const told = (await readEvents(planned.folder)).find(({ kind }) => kind === 'source-kept');
  expect(told?.message).toContain(`tutti fork ${record.id} --current-source takes the present code.`);
  const present = await hub().planFork(folder, { ...request, currentSource: true });
  expect(present.record.attempts[0].sourceHash).not.toBe(record.attempts[0].sourceHash);

  const resumed = await resume(hub(), folder, { maxEpochs: 6 });
  expect(resumed).toMatchObject({ status: 'finished', error: null });
  expect(new Set(resumed.attempts.map(({ sourceHash }) => sourceHash)).size).toBe(1);
  expect((await readEvents(folder)).map(({ kind }) => kind)).toContain('source-kept');
  const last = (of: string) => readCheckpointRecord(of, 1, 'final').sha256;
  expect(last(folder)).toBe(last(whole.folder));
  expect(last(planned.folder)).toBe(last(whole.folder));
  // Code that this user's Tutti did not train with is not run, whoever wrote it into the run's folder.
  const { sourceHash } = resumed.attempts[1];
  await appendFile(join(folder, 'sources', sourceHash ?? '', 'project.ts'), '\n// foreign');
  await expect(resume(hub(), folder, { maxEpochs: 8 })).rejects.toThrow('does not export a project');
});

/** Resumes with the project's code as it is now. */
async function resumeWithPresentCode(folder: string, override: RunConfigInput): Promise<RunRecord> {
  return (await hub().resume(folder, override, () => {}, { currentSource: true })).run();
}

it('a resume with a changed model warns, and later checkpoints name their model', async () => {
  const project = await ownProject('changing');
  const { folder } = await train(hub(), project, { ...config, checkpoints: { everyEpochs: 1 } });
  const source = await readFile(join(project, 'project.ts'), 'utf8');
  await writeFile(join(project, 'project.ts'), source.replace("'relu'", "'tanh'"));
  await resumeWithPresentCode(folder, { maxEpochs: 5 });
  const told = (await readEvents(folder)).filter(({ kind }) => kind === 'model-changed');
  expect(told.map(({ message }) => message).sort()).toEqual(
    [0, 1].map(
      (rank) =>
        `The model of rank ${rank} differs from that of the earlier attempt: ` +
        `model.config.layers.0.config.activation is "tanh", it was "relu".`,
    ),
  );
  const to = await mkdtemp(join(folderOfProjects, 'export-'));
  const checkpoints = ['epoch-00003', 'final'].map((name) => ({ rank: 1, name }));
  await hub().export(folder, { to, zip: false, formats: ['tfjs'], checkpoints });
  const texts = await Promise.all(
    checkpoints.map(({ name }) => readFile(join(to, 'tfjs', 'rank-1', name, 'model.json'), 'utf8')),
  );
  expect(texts.map((text) => /"activation":"(\w+)"/.exec(text)?.at(1))).toEqual(['relu', 'tanh']);
});
