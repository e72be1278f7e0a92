import { describe, expect, it } from 'vitest';
import { runConfigSchema } from '../../../core/protocol/run/config.ts';
import type { Device, Placement } from '../../../core/protocol/machine/devices.ts';
import type { RankView } from '../../../core/protocol/pages/run-views.ts';
import type { RunEvent } from '../../../core/protocol/run/record.ts';
import { groupByNode, nameOnNode, sumOf } from '../../../src-renderer/views/run/live/run-times.ts';
import { describeBatch, timeLimitOf } from '../../../src-renderer/views/run/run-facts.ts';
import { attempt, runRecord, runView } from '../renderer/run-fixtures.ts';

function device(id: string, name?: string, task = 0): Device {
  const load = { memoryTotalBytes: null, memoryUsedBytes: null, load: null, processCount: null };
  const node = name === undefined ? {} : { node: { name, task } };
  return { id, kind: 'cpu', index: 0, name: 'core', ...load, ...node };
}

function view(devices: Device[]) {
  const plan: Placement[] = devices.map((of, rank) => ({ rank, wave: 0, device: of }));
  const [like] = runView().ranks;
  const ranks: RankView[] = devices.map(({ id }, rank) => ({ ...like, rank, device: id, samplesPerSecond: 10 * rank }));
  return runView({ record: runRecord({ plan }), ranks });
}

describe('the nodes of a run', () => {
  it('group its ranks in the order of their first ranks', () => {
    const run = view([device('a/cpu:0', 'a'), device('b.c/cpu:0', 'b.c', 1), device('a/cpu:1', 'a')]);
    const groups = groupByNode(run).map(({ node, ranks }) => [node, ranks.map(({ rank }) => rank)]);
    expect(groups).toEqual([
      ['a', [0, 2]],
      ['b.c', [1]],
    ]);
    expect(groupByNode(view([device('cpu:0'), device('cpu:1')])).map(({ node }) => node)).toEqual([null]);
  });

  it.each([
    [device('cuda:3'), 'cuda:3'],
    [device('n1/cuda:3', 'n1'), 'cuda:3'],
    [device('n1.cluster/cpu:0', 'n1.cluster'), 'cpu:0'],
    [device('n1.cluster.2/cpu:0', 'n1.cluster', 5), 'cpu:0 of task 2'],
  ])('need no prefix before a device: %o', (of, name) => {
    expect(nameOnNode(of)).toBe(name);
  });

  it('have the sum of what is known of their ranks', () => {
    const { ranks } = view([device('a/cpu:0', 'a'), device('a/cpu:1', 'a'), device('a/cpu:2', 'a')]);
    expect(sumOf(ranks, ({ samplesPerSecond }) => samplesPerSecond)).toBe(30);
    expect(sumOf(ranks, ({ rank, samplesPerSecond }) => (rank === 1 ? null : samplesPerSecond))).toBe(20);
    expect(sumOf(ranks, () => null)).toBeNull();
  });
});

describe('the batch of an update', () => {
  it.each([
    [{ members: 4 }, null],
    [{ members: 1, strategy: { kind: 'data-parallel' as const } }, null],
    [{ members: 4, batchSize: 300, strategy: { kind: 'data-parallel' as const } }, 'batch 1,200 = 300 × 4 ranks'],
    [
      {
        members: 2,
        batchSize: 8,
        strategy: { kind: 'sharded' as const, accumulate: 3, learningRateScaling: 'linear' as const },
      },
      'batch 48 = 8 × 2 ranks × 3 accumulated, learning rate × 6',
    ],
  ])('%o', (config, text) => {
    expect(describeBatch(runConfigSchema.parse(config))).toBe(text);
  });
});

describe('the time limit of a job', () => {
  const endsAt = '2027-01-15T08:00:00.000Z';
  const limit: RunEvent = {
    time: '2026-01-01T00:00:00.000Z',
    attempt: 1,
    rank: null,
    kind: 'time-limit',
    epoch: null,
    step: null,
    message: 'It may train until then.',
    data: { job: '4711', endsAt },
  };

  it('is that of the attempt that trains now', () => {
    const found = { job: '4711', endsAt, message: 'It may train until then.' };
    expect(timeLimitOf(runView({ events: [limit] }))).toEqual(found);
    const resumed = runRecord({ attempts: [attempt(1), attempt(2)] });
    expect(timeLimitOf(runView({ events: [limit], record: resumed }))).toBeNull();
    expect(timeLimitOf(runView({ events: [limit, { ...limit, attempt: 2 }], record: resumed }))).toEqual(found);
    expect(timeLimitOf(runView({ events: [limit], record: runRecord({ status: 'finished' }) }))).toBeNull();
    expect(timeLimitOf(runView({ events: [{ ...limit, data: { job: '4711', endsAt: null } }] }))).toBeNull();
  });
});
