import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { describeEnsemble } from '../../../../core/node/describe-ensemble.ts';
import { roundsOf, savedRanks } from '../../../../core/node/saved-rounds.ts';
import {
  copyOwnFile,
  hasOwnEntry,
  listOwnFolder,
  makeOwnFolder,
  removeOwn,
  writeOwnFile,
} from '../../../../core/node/own-folders.ts';
import { readMetricsIndex } from '../../../../src-main/store/index/metrics-index.ts';
import { openMetricRows } from '../../../../src-main/store/metrics/metric-rows.ts';
import { readCheckpointRecords, readFitted } from '../../../../src-main/store/runs/checkpoint-records.ts';
import { folderBytes, replacedBytes } from '../../../../src-main/store/disk-space.ts';
import { keepEndedAttempt } from '../../../../src-main/store/runs/kept-attempt.ts';
import { copyForFork } from '../../../../src-main/runs/fork/copy-run.ts';
import { readForkPoints } from '../../../../src-main/runs/fork/fork-points.ts';
import {
  makeWorkerFolders,
  readEvents,
  readRunRecord,
  workerParts,
  writePreprocessing,
  writeRunRecord,
} from '../../../../src-main/store/runs/run-folder.ts';
import { changeRunNotes, readRunNotes } from '../../../../src-main/store/runs/run-notes.ts';
import { readTensors } from '../../../../src-main/store/runs/safetensors-reader.ts';
import { checkRound, holdsState, readSavedRound } from '../../../../src-main/store/runs/saved-rounds.ts';
import { temporaryFolder } from '../fixtures.ts';
import { runRecord } from '../records.ts';

/** Links in a run's folder that somebody else made, or that a project planted before the kernel refused it. */

const secret = 'SECRET of another folder';

/** A run's folder, and another one with a file that is none of the run's. */
async function folders(): Promise<{ folder: string; elsewhere: string; outside: string }> {
  const [folder, elsewhere] = [await temporaryFolder(), await temporaryFolder()];
  const outside = join(elsewhere, 'secret');
  writeFileSync(outside, secret);
  return { folder, elsewhere, outside };
}

/** What was read as JSON, or the message of the error. */
async function answerOf(work: Promise<unknown>): Promise<string> {
  const found = await work.catch((error: unknown) => error);
  return found instanceof Error ? found.message : JSON.stringify(found);
}

/** What reads each file of a run's folder. It throws an error, or returns one. */
const readers: Record<string, (folder: string, path: string) => Promise<unknown>> = {
  'run.json': readRunRecord,
  'notes.json': readRunNotes,
  'metrics.index': readMetricsIndex,
  'metrics.csv': (folder) => openMetricRows(folder),
  'attempts/1/metrics.csv': (folder, path) => openMetricRows(folder, undefined, path),
  'events.jsonl': (folder) => readEvents(folder),
  'postprocessing/final.json': readFitted,
  'predictions/test/rank-0/final.safetensors': readTensors,
  'checkpoints/rank-0/final.json': (folder) => readCheckpointRecords(folder),
  'state/rank-0/round-3.json': (folder) => readSavedRound(folder, 0, 3),
};

describe.each(Object.keys(readers))('%s', (path) => {
  const plants: Record<string, (at: string, outside: string) => void> = {
    'a link': (at, outside) => symlinkSync(outside, at),
    'a pipe': (at) => void execFileSync('mkfifo', [at]),
  };

  it.each(Object.keys(plants))('is not read through %s, which is named', async (plant) => {
    const { folder, outside } = await folders();
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    plants[plant](join(folder, path), outside);
    const answer = await answerOf(readers[path](folder, path));
    // A cache that cannot be read counts as missing.
    expect(answer).toContain(path === 'metrics.index' ? 'null' : join(folder, path));
    expect(answer).not.toContain('SECRET');
  });
});

it.each(Object.keys(readers).filter((path) => path.includes('/')))(
  '%s is not read where a link leads to its folder',
  async (path) => {
    const { folder, elsewhere } = await folders();
    mkdirSync(dirname(join(elsewhere, path)), { recursive: true });
    writeFileSync(join(elsewhere, path), secret);
    const [top] = path.split('/');
    symlinkSync(join(elsewhere, top), join(folder, top));
    const answer = await answerOf(readers[path](folder, path));
    expect(answer).toContain('a symbolic link leads there');
    expect(answer).not.toContain('SECRET');
  },
);

it('files that are replaced take the place of a link, and what it leads to stays as it is', async () => {
  const { folder, outside, elsewhere } = await folders();
  for (const name of ['run.json', 'preprocessing.json', 'run.json.tmp']) symlinkSync(outside, join(folder, name));
  await writeRunRecord(folder, runRecord());
  await writePreprocessing(folder, { format: 1, steps: [] });
  expect((await readRunRecord(folder)).id).toBe('run-1');
  expect(readFileSync(join(folder, 'preprocessing.json'), 'utf8')).toContain('"format": 1');
  symlinkSync(outside, join(folder, 'notes.json'));
  await expect(changeRunNotes(folder, { note: 'mine' })).rejects.toThrow('it is a symbolic link');
  expect(readFileSync(outside, 'utf8')).toBe(secret);
  expect(readdirSync(elsewhere)).toEqual(['secret']);
});

describe.each([...workerParts, 'logs', 'attempts', 'postprocessing', 'sources'])(
  'a link in the place of %s',
  (name) => {
    it('is neither followed nor emptied, and what needs the folder names it', async () => {
      const { folder, elsewhere, outside } = await folders();
      mkdirSync(join(elsewhere, 'rank-0'));
      writeFileSync(join(elsewhere, 'rank-0', 'round-3.json'), secret);
      symlinkSync(elsewhere, join(folder, name));
      const leads = `${join(folder, name)} was not opened: a symbolic link leads there`;
      await expect(listOwnFolder(folder, name, { isDeep: true })).rejects.toThrow(leads);
      await expect(makeOwnFolder(folder, name)).rejects.toThrow(leads);
      await expect(writeOwnFile(folder, join(name, 'new', 'file'), 'x')).rejects.toThrow('a symbolic link leads there');
      await expect(removeOwn(folder, join(name, 'secret'))).rejects.toThrow('a symbolic link leads there');
      await expect(copyOwnFile(folder, join(name, 'secret'), { folder, path: 'copy' })).rejects.toThrow(
        'symbolic link',
      );
      expect(hasOwnEntry(folder, name, /./)).toBe(false);
      expect(await folderBytes(folder)).toBe(0);
      await removeOwn(folder, name);
      expect(readdirSync(folder)).toEqual([]);
      expect(readdirSync(elsewhere)).toEqual(['rank-0', 'secret']);
      expect(readFileSync(outside, 'utf8')).toBe(secret);
    });
  },
);

it.each(workerParts)('workers do not start where a link is in the place of %s', async (name) => {
  const { folder, elsewhere } = await folders();
  symlinkSync(elsewhere, join(folder, name));
  await expect(makeWorkerFolders(folder)).rejects.toThrow(`${join(folder, name)} was not opened`);
  expect(readdirSync(elsewhere)).toEqual(['secret']);
});

const nothingKnown = { memoryTotalBytes: null, memoryUsedBytes: null, load: null, processCount: null };

it('a resume, a fork and an ensemble take nothing through a link to states and checkpoints', async () => {
  const { folder, elsewhere, outside } = await folders();
  const device = { id: 'cpu:0', kind: 'cpu' as const, index: 0, name: '', ...nothingKnown };
  const record = runRecord({ status: 'finished', plan: [{ rank: 0, wave: 0, device }] });
  await writeRunRecord(folder, record);
  mkdirSync(join(elsewhere, 'rank-0'));
  writeFileSync(join(elsewhere, 'rank-0', 'final.json'), secret);
  for (const name of ['state', 'checkpoints']) symlinkSync(elsewhere, join(folder, name));
  expect(holdsState(folder)).toBe(false);
  await expect(savedRanks(folder)).rejects.toThrow('a symbolic link leads there');
  await expect(roundsOf(folder, 0)).rejects.toThrow('a symbolic link leads there');
  await expect(replacedBytes(folder)).rejects.toThrow('a symbolic link leads there');
  await expect(describeEnsemble(folder)).rejects.toThrow('a symbolic link leads there');
  expect(await answerOf(checkRound(folder, 0, 3))).not.toContain('SECRET');
  await expect(readForkPoints(folder, record)).rejects.toThrow('a symbolic link leads there');
  const target = await temporaryFolder();
  const point = { name: 'final', kind: 'checkpoint', attempt: 1, epoch: 0, step: 1, savedAt: '' } as const;
  const to = { folder: target, sourceHash: null };
  await expect(copyForFork({ folder, record }, point, to)).rejects.toThrow('a symbolic link leads there');
  expect(readdirSync(target)).toEqual([]);
  const summary = { attempt: 1, epochs: 1, steps: 1, stopReason: 'completed' as const, metrics: {}, best: null };
  const ended = { ...record, summary: { ...summary, evaluatedSets: [] } };
  await expect(keepEndedAttempt(folder, ended)).rejects.toThrow('a symbolic link leads there');
  expect(readdirSync(join(folder, 'attempts'))).toEqual([]);
  expect(readFileSync(outside, 'utf8')).toBe(secret);
});
