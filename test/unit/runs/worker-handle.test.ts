import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { type Channel, createChannelPair } from '../../../core/protocol/wire/channel.ts';
import type { CollectiveStage } from '../../../core/protocol/wire/collective-stages.ts';
import { timeoutsSchema } from '../../../core/protocol/run/config.ts';
import { LogFile } from '../../../src-main/runs/recording/log-file.ts';
import { WorkerHandle } from '../../../src-main/runs/workers/worker-handle.ts';
import type { WorkerProcess } from '../../../src-main/runs/workers/worker-process.ts';
import { barrierRequest } from '../relay/in-memory-group.ts';

const unknown = { memoryTotalBytes: null, memoryUsedBytes: null, load: null, processCount: null };
const neverEnding = {
  pid: 4711,
  ended: new Promise<string>(() => undefined),
} as unknown as WorkerProcess;

let folder: string;
let handle: WorkerHandle;
let worker: Channel;
let overdue: string[];
let pace: string[];

beforeEach(async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  folder = await mkdtemp(join(tmpdir(), 'tutti-handle-'));
  overdue = [];
  pace = [];
  handle = new WorkerHandle({
    placement: { rank: 0, wave: 0, device: { id: 'cpu:0', kind: 'cpu', index: 0, name: 'A core', ...unknown } },
    process: neverEnding,
    timeouts: timeoutsSchema.parse({ silenceMs: 1000 }),
    log: new LogFile(folder, 0, { onError: () => undefined }),
    listener: {
      frame: () => undefined,
      lost: () => undefined,
      slow: (reason) => pace.push(reason),
      back: () => pace.push('back'),
      overdue: (reason) => overdue.push(reason),
    },
  });
  const [hub, other] = createChannelPair();
  worker = other;
  handle.attach(hub, 4711);
  handle.enter('running');
});
afterEach(async () => {
  vi.useRealTimers();
  await rm(folder, { recursive: true });
});

/** The rank reports its state in a barrier to the relay. */
async function tell(stage: CollectiveStage): Promise<void> {
  worker.send({ ...barrierRequest, call: { ...barrierRequest.call, stage } });
  await new Promise((resolve) => setImmediate(resolve));
}

/** Time passes, and then a turn of the event loop in which waiting messages would be read. */
async function pass(ms: number): Promise<void> {
  vi.advanceTimersByTime(ms);
  await new Promise((resolve) => setImmediate(resolve));
}

describe('a silent rank', () => {
  it('is named at half of its limit, and once more when it is back', async () => {
    await pass(499);
    expect(pace).toEqual([]);
    await pass(1);
    const slow = 'has said nothing for 0.5 s while running; it counts as hung after 1 s';
    expect(pace).toEqual([slow]);
    await tell('whole');
    expect(pace).toEqual([slow, 'back']);
    expect(overdue).toEqual([]);
  });

  it('is overdue after its limit', async () => {
    await pass(999);
    expect(overdue).toEqual([]);
    await pass(1);
    expect(overdue).toEqual(['said nothing for 1000 ms while running']);
  });

  it.each<CollectiveStage>(['whole', 'awaited'])(
    'is not overdue while it waits for others in a collective (%s)',
    async (stage) => {
      await tell(stage);
      await pass(60_000);
      expect(overdue).toEqual([]);
    },
  );

  it('has a limit again after a collective in memory completes', async () => {
    await tell('awaited');
    await tell('withdrawn');
    await pass(1000);
    expect(overdue).toEqual(['said nothing for 1000 ms while running']);
  });
});

describe('a rank counts as having trained', () => {
  it('once it is past its starting step, which may come from an earlier attempt', () => {
    handle.moveTo({ epoch: 0, step: 0 });
    handle.moveTo({ epoch: 5, step: 600 });
    handle.state = 'training';
    handle.moveTo({ epoch: 5, step: 600 });
    expect(handle.hasStepped).toBe(false);
    handle.moveTo({ epoch: 5, step: 601 });
    expect(handle.hasStepped).toBe(true);
  });
});
