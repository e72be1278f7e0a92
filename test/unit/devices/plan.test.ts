import { describe, expect, it } from 'vitest';
import type { Device, Placement } from '../../../core/protocol/machine/devices.ts';
import { rankCount } from '../../../core/protocol/run/strategies/ranks-and-members.ts';
import { describePlan, planPlacement } from '../../../src-main/devices/plan.ts';

const unknown = { memoryTotalBytes: null, memoryUsedBytes: null, load: null, processCount: null };
const devices: Device[] = [0, 1].map((index) => ({
  id: `cpu:${index}`,
  kind: 'cpu',
  index,
  name: index === 0 ? 'Intel Xeon' : 'AMD EPYC 9654',
  ...unknown,
}));

function positions(plan: Placement[]): [rank: number, wave: number, device: string][] {
  return plan.map(({ rank, wave, device }) => [rank, wave, device.id]);
}

describe('planPlacement', () => {
  it('shares: all ranks in one wave, assigned to devices in turn', () => {
    expect(positions(planPlacement({ ranks: rankCount(3), devices, placement: 'share' }))).toEqual([
      [0, 0, 'cpu:0'],
      [1, 0, 'cpu:1'],
      [2, 0, 'cpu:0'],
    ]);
  });

  it('in waves: one rank per device at a time', () => {
    expect(positions(planPlacement({ ranks: rankCount(5), devices, placement: 'waves' }))).toEqual([
      [0, 0, 'cpu:0'],
      [1, 0, 'cpu:1'],
      [2, 1, 'cpu:0'],
      [3, 1, 'cpu:1'],
      [4, 2, 'cpu:0'],
    ]);
  });

  it('shares cores that no worker has as threads, at most eight', () => {
    const threads = (ranks: number, count: number, more: object = {}): (number | undefined)[] => {
      const cores = Array.from({ length: count }, (_, index) => ({ ...devices[0], index, id: `cpu:${index}` }));
      const request = { ranks: rankCount(ranks), devices: cores, placement: 'share', threads: 'auto' } as const;
      return planPlacement({ ...request, ...more }).map((place) => place.threads);
    };
    expect(threads(2, 5)).toEqual([2, 2]);
    expect(threads(3, 5)).toEqual([undefined, undefined, undefined]);
    expect(threads(1, 32)).toEqual([8]);
    // Two workers with two ranks each.
    expect(threads(4, 6, { membersPerWorker: 2 })).toEqual([3, 3, 3, 3]);
    // The second wave has one worker.
    expect(threads(3, 2, { placement: 'waves' })).toEqual([undefined, undefined, 2]);
    expect(threads(2, 2, { threads: 4 })).toEqual([4, 4]);
    const gpus: Device[] = [
      { ...devices[0], id: 'cuda:0', kind: 'cuda' },
      { ...devices[1], id: 'cuda:1', kind: 'cuda' },
    ];
    expect(threads(1, 2, { devices: gpus })).toEqual([undefined]);
  });

  it('gives the stages of a pipelined member different devices', () => {
    expect(positions(planPlacement({ ranks: rankCount(4), devices, placement: 'share', stages: 2 }))).toEqual([
      [0, 0, 'cpu:0'],
      [1, 0, 'cpu:0'],
      [2, 0, 'cpu:1'],
      [3, 0, 'cpu:1'],
    ]);
  });

  it('leaves devices free if there are fewer members, and needs one device', () => {
    expect(positions(planPlacement({ ranks: rankCount(1), devices, placement: 'waves' }))).toEqual([[0, 0, 'cpu:0']]);
    expect(() => planPlacement({ ranks: rankCount(2), devices: [], placement: 'share' })).toThrow(
      'Placing 2 ranks needs at least one device. Select one.',
    );
  });
});

describe('describePlan', () => {
  it('has one line per device', () => {
    expect(describePlan(planPlacement({ ranks: rankCount(3), devices, placement: 'share' }))).toEqual([
      'cpu:0  Intel Xeon     ranks 0, 2',
      'cpu:1  AMD EPYC 9654  rank 1',
    ]);
  });

  it('names the waves if there are several', () => {
    expect(describePlan(planPlacement({ ranks: rankCount(3), devices, placement: 'waves' }))).toEqual([
      'wave 1 of 2  cpu:0  Intel Xeon     rank 0',
      'wave 1 of 2  cpu:1  AMD EPYC 9654  rank 1',
      'wave 2 of 2  cpu:0  Intel Xeon     rank 2',
    ]);
  });

  it('puts stacked ranks in brackets', () => {
    const plan = planPlacement({ ranks: rankCount(5), devices, placement: 'share', membersPerWorker: 2 });
    expect(plan.map(({ stack, device }) => [stack, device.id])).toEqual([
      [0, 'cpu:0'],
      [0, 'cpu:0'],
      [1, 'cpu:1'],
      [1, 'cpu:1'],
      [2, 'cpu:0'],
    ]);
    expect(describePlan(plan)).toEqual(['cpu:0  Intel Xeon     ranks [0, 1], 4', 'cpu:1  AMD EPYC 9654  ranks [2, 3]']);
  });
});
