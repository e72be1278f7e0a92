import { mkdirSync } from 'node:fs';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { NamedTensor } from '../../core/safetensors/safetensors.ts';
import { changeRunNotes, readRunNotes } from '../../src-main/store/runs/run-notes.ts';
import {
  appendEvent,
  createRunFolder,
  readEvents,
  readRunRecord,
  writeRunRecord,
} from '../../src-main/store/runs/run-folder.ts';
import { MetricsFile } from '../../src-main/store/metrics/metrics-file.ts';
import { exportRun } from '../../src-main/export/export-run.ts';
import { readDesktopState, writeDesktopState } from '../../src-main/desktop/windows/window-state.ts';
import { readCheckpoint, saveCheckpoint } from '../../workers/checkpoints/checkpoint-store.ts';
import { findResumePoint } from '../../src-main/store/runs/resume-point.ts';
import { loadState, saveState } from '../../workers/checkpoints/training-state.ts';
import { readMetrics } from '../integration/metric-table.ts';
import { runEvent, runRecord } from '../unit/store/records.ts';

/** A write of Tutti, with what was there before it. */
export interface Operation {
  name: string;
  prepare(folder: string): Promise<void>;
  run(folder: string): Promise<void>;
  /** Reads back. @throws Error if it is neither what was there before nor what was written */
  read(folder: string): Promise<'old' | 'new'>;
}

function weights(value: number): NamedTensor[] {
  return [{ name: 'dense/kernel', dtype: 'F32', shape: [40, 10], data: new Float32Array(400).fill(value) }];
}

function checkpoint(epoch: number, name = 'member-best') {
  return { rank: 1, name, epoch, step: 10 * epoch, monitor: null, score: null, tensors: weights(epoch) };
}

async function checkpointOnDisk(folder: string, name = 'member-best'): Promise<number> {
  const { record, tensors } = await readCheckpoint(folder, 1, name);
  if (tensors[0].data[399] !== record.epoch) throw new Error(`"${name}" of epoch ${record.epoch} has other weights.`);
  return record.epoch;
}

function state(round: number) {
  return {
    round,
    epoch: round,
    step: 10 * round,
    attempt: 1,
    tensors: weights(round),
    data: { round },
    metricRows: round,
  };
}

async function roundOnDisk(folder: string): Promise<number> {
  const round = (await findResumePoint(folder, [0]))?.round;
  if (round === undefined) throw new Error('No state is left.');
  // The state is read in a copy, because a resume removes later rounds.
  const { tensors, data } = await loadState(folder, 0, round);
  if (tensors[0].data[0] !== round || (data as { round: number }).round !== round) throw new Error('A state is mixed.');
  return round;
}

const rows = (from: number, to: number, metric = 'a') =>
  Array.from({ length: to - from }, (_, i) => ({ epoch: 0, step: from + i, values: new Map([[metric, from + i]]) }));

/** Appends rows up to a step, and flushes them. */
async function appendSteps(folder: string, to: number, from = 0, metric = 'a'): Promise<void> {
  const file = await MetricsFile.open(join(folder, 'metrics.csv'));
  await file.append(rows(from, to, metric));
  await file.sync();
}

/** The steps in the metrics file, after the repair that each start does. */
async function stepsOnDisk(folder: string): Promise<number[]> {
  await MetricsFile.open(join(folder, 'metrics.csv'));
  const { step, values } = await readMetrics(folder);
  for (const [metric, column] of values) {
    for (const [row, value] of column.entries()) {
      if (!Number.isNaN(value) && value !== step[row]) throw new Error(`${metric} is ${value} at step ${step[row]}.`);
    }
  }
  return [...step];
}

/** @throws if the steps are not 0 to at least `oldCount` */
function ageOfSteps(steps: readonly number[], oldCount: number, newCount: number): 'old' | 'new' {
  if (steps.some((step, row) => step !== row) || steps.length < oldCount || steps.length > newCount)
    throw new Error(`The metrics file has the steps ${steps.join(',')}.`);
  return steps.length === newCount ? 'new' : 'old';
}

function either(found: unknown, old: unknown, next: unknown): 'old' | 'new' {
  const [text, oldText, newText] = [found, old, next].map((value) => JSON.stringify(value));
  if (text === newText) return 'new';
  if (text === oldText) return 'old';
  throw new Error(`Found ${text}, neither ${oldText} nor ${newText}.`);
}

const earlierEvents = [runEvent(), runEvent({ kind: 'checkpoint', message: 'Kept.' })];
const nextEvent = runEvent({ kind: 'stopped', message: 'The run ended.' });

export const operations: Operation[] = [
  {
    name: 'a checkpoint that replaces an earlier one',
    prepare: (folder) => saveCheckpoint(folder, checkpoint(1)).then(() => undefined),
    run: (folder) => saveCheckpoint(folder, checkpoint(2)).then(() => undefined),
    read: async (folder) => either(await checkpointOnDisk(folder), 1, 2),
  },
  {
    name: 'the first checkpoint under a name, beside an earlier one',
    prepare: (folder) => saveCheckpoint(folder, checkpoint(1)).then(() => undefined),
    run: (folder) => saveCheckpoint(folder, checkpoint(2, 'final')).then(() => undefined),
    async read(folder) {
      if ((await checkpointOnDisk(folder)) !== 1) throw new Error('The earlier checkpoint changed.');
      const isThere = await checkpointOnDisk(folder, 'final').catch((error: unknown) => {
        if (String(error).includes('has no checkpoint')) return null;
        throw error;
      });
      return isThere === null ? 'old' : either(isThere, 0, 2);
    },
  },
  {
    name: 'the third state of a rank, after which the first is removed',
    async prepare(folder) {
      for (const round of [1, 2]) await saveState(folder, 0, state(round));
    },
    run: (folder) => saveState(folder, 0, state(3)),
    read: async (folder) => either(await roundOnDisk(folder), 2, 3),
  },
  {
    name: 'run.json of a new run',
    prepare: () => Promise.resolve(),
    run: (folder) => createRunFolder(join(folder, 'runs', 'first'), runRecord()),
    async read(folder) {
      const record = await readRunRecord(join(folder, 'runs', 'first')).catch((error: unknown) => {
        if (String(error).includes('holds no run')) return null;
        throw error;
      });
      return record === null ? 'old' : either(record, null, runRecord());
    },
  },
  {
    name: 'run.json of a run that continues',
    prepare: (folder) => createRunFolder(folder, runRecord()),
    run: (folder) => writeRunRecord(folder, runRecord({ status: 'running' })),
    read: async (folder) => either((await readRunRecord(folder)).status, 'created', 'running'),
  },
  {
    name: 'rows of metrics, flushed',
    prepare: (folder) => appendSteps(folder, 5),
    run: async (folder) => appendSteps(folder, 9, (await stepsOnDisk(folder)).length),
    read: async (folder) => ageOfSteps(await stepsOnDisk(folder), 5, 9),
  },
  {
    name: 'a new metric, for which the metrics file is rewritten',
    prepare: (folder) => appendSteps(folder, 5),
    run: async (folder) => appendSteps(folder, 9, (await stepsOnDisk(folder)).length, 'b'),
    read: async (folder) => ageOfSteps(await stepsOnDisk(folder), 5, 9),
  },
  {
    name: 'a resume that drops rows and keeps the old file',
    prepare: (folder) => appendSteps(folder, 9),
    run: (folder) => MetricsFile.open(join(folder, 'metrics.csv'), { step: 4, rows: Infinity }).then(() => undefined),
    async read(folder) {
      const count = (await stepsOnDisk(folder)).length;
      if (count === 9) return 'old';
      const kept = await readFile(join(folder, 'metrics.attempt-1.csv'), 'utf8');
      if (kept.split('\n').length !== 11) throw new Error('The dropped rows are lost.');
      return either(count, 9, 5);
    },
  },
  {
    name: 'a durable event',
    async prepare(folder) {
      for (const event of earlierEvents) await appendEvent(folder, event, { durable: true });
    },
    run: (folder) => appendEvent(folder, nextEvent, { durable: true }),
    async read(folder) {
      // A line that was cut short counts as damaged and is skipped.
      const events = await readEvents(folder, () => undefined);
      return either(events, earlierEvents, [...earlierEvents, nextEvent]);
    },
  },
  {
    name: 'the first durable event',
    prepare: () => Promise.resolve(),
    run: (folder) => appendEvent(folder, nextEvent, { durable: true }),
    read: async (folder) => either(await readEvents(folder, () => undefined), [], [nextEvent]),
  },
  {
    name: 'notes on a run',
    prepare: (folder) => changeRunNotes(folder, { note: 'old' }).then(() => undefined),
    run: (folder) => changeRunNotes(folder, { note: 'new' }).then(() => undefined),
    read: async (folder) => either((await readRunNotes(folder)).note, 'old', 'new'),
  },
  {
    name: "settings of the app's window",
    prepare: (folder) => writeDesktopState(join(folder, 'window.json'), windowState(1)),
    run: (folder) => writeDesktopState(join(folder, 'window.json'), windowState(2)),
    read: async (folder) => either(readDesktopState(join(folder, 'window.json')).windows.at(0)?.x, 1, 2),
  },
  exportOperation('an export into a ZIP that replaces an earlier one', true),
  exportOperation('an export into a folder with an earlier one', false),
];

function windowState(x: number) {
  const bounds = { x, y: 0, width: 1280, height: 800, isMaximized: false };
  return { windows: [{ ...bounds, address: '/runs' }], zoom: 1, theme: 'system' as const };
}

function exportOperation(name: string, zip: boolean): Operation {
  const target = zip ? 'run.zip' : 'exported';
  const write = (folder: string) =>
    exportRun(join(folder, 'run'), { to: join(folder, target), zip, overwrite: true, formats: ['record', 'csv'] });
  return {
    name,
    async prepare(folder) {
      mkdirSync(join(folder, 'run'));
      await createRunFolder(join(folder, 'run'), runRecord());
      await write(folder);
      await writeRunRecord(join(folder, 'run'), runRecord({ name: 'second, with another length' }));
    },
    run: (folder) => write(folder).then(() => undefined),
    async read(folder) {
      if (!zip) return either((await readRunRecord(join(folder, target))).name, 'first', 'second, with another length');
      const bytes = await readFile(join(folder, target));
      // The end of central directory of a ZIP without a comment.
      if (bytes.readUInt32LE(bytes.length - 22) !== 0x06054b50) throw new Error('The ZIP is not whole.');
      const other = await mkdtemp(join(folder, 'other-'));
      await exportRun(join(folder, 'run'), { to: join(other, target), zip, formats: ['record', 'csv'] });
      const { length } = await readFile(join(other, target));
      await rm(other, { recursive: true });
      return bytes.length === length ? 'new' : 'old';
    },
  };
}

/** Names below a folder, for messages. */
export async function listing(folder: string): Promise<string> {
  return (await readdir(folder, { recursive: true })).join(', ');
}
