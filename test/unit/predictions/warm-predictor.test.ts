import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { WarmPredictor } from '../../../src-main/predictions/warm-predictor.ts';
import { idleMs } from '../../../src-main/processes/warm-process.ts';
import type { SourceToOpen } from '../../../src-main/predictions/ensemble-source.ts';
import { createRunFolder } from '../../../src-main/store/runs/run-folder.ts';
import { temporaryFolder } from '../data/temp-folder.ts';
import { runRecord } from '../store/records.ts';

const hash = 'a'.repeat(64);
const unknown = { memoryTotalBytes: null, memoryUsedBytes: null, load: null, processCount: null };
const device = { id: 'cpu:0', kind: 'cpu', index: 0, name: 'CPU', ...unknown } as const;
const question = { timeoutMs: 1000, subject: 'No answer' };

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }));
afterEach(() => void vi.useRealTimers());

/** A run of one member. */
async function openRun(name: string): Promise<SourceToOpen> {
  const folder = join(await temporaryFolder(), name);
  await createRunFolder(folder, runRecord({ id: name, status: 'finished', plan: [{ rank: 0, wave: 0, device }] }));
  await mkdir(join(folder, 'models', 'rank-0'), { recursive: true });
  await writeFile(join(folder, 'models', 'rank-0', `${hash}.json`), '{}');
  await saveCheckpoint(folder, 1);
  return { task: { folder, set: null, source: null, blas: null }, project: null };
}

async function saveCheckpoint(folder: string, step: number): Promise<void> {
  await mkdir(join(folder, 'checkpoints', 'rank-0'), { recursive: true });
  const saved = { monitor: null, score: null, sha256: hash, bytes: 1, savedAt: '2026-01-02T03:05:05.000Z' };
  const checkpoint = { format: 1, rank: 0, name: 'final', epoch: 0, step, model: hash, ...saved };
  await writeFile(join(folder, 'checkpoints', 'rank-0', 'final.json'), JSON.stringify(checkpoint));
}

/** A predictor whose processes are objects; `events` says which of them started, answered and ended. */
function openPredictor() {
  const events: string[] = [];
  let started = 0;
  const predictor = new WarmPredictor('/samples', () => {
    const number = (started += 1);
    const process = { isRunning: true, end };
    events.push(`start ${number}`);
    function end(): void {
      process.isRunning = false;
      events.push(`end ${number}`);
    }
    return Object.assign(process, {
      ask<Answer extends object>(): Promise<Answer> {
        events.push(`ask ${number}`);
        return Promise.resolve({} as Answer);
      },
    });
  });
  return { predictor, events };
}

it('asks one process again, until nobody has asked it for a while', async () => {
  const run = await openRun('run-1');
  const { predictor, events } = openPredictor();
  await predictor.ask(run, question);
  vi.advanceTimersByTime(idleMs - 1);
  await predictor.ask(run, question);
  vi.advanceTimersByTime(idleMs - 1);
  expect(events).toEqual(['start 1', 'ask 1', 'ask 1']);
  vi.advanceTimersByTime(1);
  expect(events.at(-1)).toBe('end 1');
  await predictor.ask(run, question);
  predictor.end();
  expect(events.slice(4)).toEqual(['start 2', 'ask 2', 'end 2']);
});

it('starts another process for another run, and for changed checkpoints', async () => {
  const [one, other] = [await openRun('run-1'), await openRun('run-2')];
  const { predictor, events } = openPredictor();
  await predictor.ask(one, question);
  await predictor.ask(other, question);
  expect(events).toEqual(['start 1', 'ask 1', 'end 1', 'start 2', 'ask 2']);
  await saveCheckpoint(other.task.folder, 2);
  await predictor.ask(other, question);
  expect(events.slice(5)).toEqual(['end 2', 'start 3', 'ask 3']);
});
