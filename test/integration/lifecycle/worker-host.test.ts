import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { RunConfigInput } from '../../../core/protocol/run/config.ts';
import type { RunRecord } from '../../../core/protocol/run/record.ts';
import { startRun } from '../../../src-main/hub/start-run.ts';
import { WorkerHost } from '../../../src-main/runs/workers/worker-host.ts';
import { RunIndex } from '../../../src-main/store/index/run-index.ts';
import { projectFolder, useHub } from '../harness.ts';

const { hub, home } = useHub();
const path = projectFolder('blobs');
let host: WorkerHost;
let index: RunIndex;

beforeAll(async () => {
  host = await WorkerHost.open(join(home(), 'hosted'));
  index = await RunIndex.open(host.runs);
});
afterAll(async () => {
  await host.close();
  index.close();
});

/** Trains in a process of the host. @param strike called at the first points, with the process's id */
async function train(name: string, config: RunConfigInput, strike?: (pid: number) => void) {
  const two = { members: 2, membersPerDevice: 2, devices: 'cpu:0', maxEpochs: 3, ...config };
  const folder = join(host.runs, name);
  const planned = await hub().planRun({ projectFolder: path, overrides: [two], folder }, await hub().describe(path));
  let pid = 0;
  let isStruck = false;
  const session = startRun(
    planned,
    index,
    (update) => {
      if (update.type === 'worker' && update.pid !== null) pid = update.pid;
      // Once: the process may be gone before all of its points have arrived.
      if (update.type !== 'points' || isStruck) return;
      isStruck = true;
      strike?.(pid);
    },
    { host },
  );
  const record: RunRecord = await session.run();
  return { record, pid, weights: () => readFile(join(folder, 'checkpoints', 'rank-1', 'final.safetensors')) };
}

it('a process that stays trains the next run with the same bits as a new one, also with another seed before it', async () => {
  const first = await train('first', { seed: 3 });
  const other = await train('other', { seed: 4, optimizer: { kind: 'sgd', momentum: 0.9 } });
  const again = await train('again', { seed: 3 });
  expect([first, other, again].map(({ record }) => record.status)).toEqual(['finished', 'finished', 'finished']);
  expect(new Set([first.pid, other.pid, again.pid]).size).toBe(1);
  expect(await again.weights()).toEqual(await first.weights());
  expect(await other.weights()).not.toEqual(await first.weights());
});

it('a process that was killed, or whose run failed, is followed by a new one', async () => {
  const stopped = { onMemberLoss: { kind: 'stop' }, logEverySteps: 1 } as const;
  const killed = await train('killed', { ...stopped, maxEpochs: 1_000_000 }, (pid) => process.kill(pid, 'SIGKILL'));
  expect(killed.record).toMatchObject({ status: 'failed', error: { message: expect.stringContaining('SIGKILL') } });
  const failed = await train('failed', { optimizer: { kind: 'sgd', learningRate: 1e30 } });
  expect(failed.record.status).toBe('failed');
  const whole = await train('whole', {});
  expect(whole.record.status).toBe('finished');
  expect(new Set([killed.pid, failed.pid, whole.pid]).size).toBe(3);
});
