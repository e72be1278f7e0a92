import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { RunRecord } from '../../../../core/protocol/run/record.ts';
import { createRunFolder } from '../../../../src-main/store/runs/run-folder.ts';
import { RunIndex } from '../../../../src-main/store/index/run-index.ts';
import { temporaryFolder } from '../fixtures.ts';
import { runRecord } from '../records.ts';

export async function openIndex(home: string): Promise<RunIndex> {
  const index = await RunIndex.open(home);
  onTestFinished(() => {
    index.close();
  });
  return index;
}

export async function addRun(index: RunIndex, folder: string, changes: Partial<RunRecord>): Promise<string> {
  const record = runRecord(changes);
  await createRunFolder(folder, record);
  index.upsert(record, folder);
  return folder;
}

export const project = (name: string) => ({ name, description: '', folder: `/projects/${name}` });

export async function threeRuns() {
  const home = await temporaryFolder();
  const index = await openIndex(home);
  const runs = join(home, 'runs');
  await addRun(index, join(runs, 'a'), { id: 'a1', name: 'wide', createdAt: '2026-01-01T00:00:00Z', status: 'failed' });
  await addRun(index, join(runs, 'b'), { id: 'b2', name: 'deep', createdAt: '2026-01-03T00:00:00Z' });
  await addRun(index, join(runs, 'c'), {
    id: 'b3',
    name: 'deep',
    createdAt: '2026-01-02T00:00:00Z',
    status: 'finished',
    project: project('MNIST'),
  });
  return { home, index, runs };
}

export const ids = (runs: { id: string }[]) => runs.map((run) => run.id);
