import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Device } from '../../../core/protocol/machine/devices.ts';
import { rankCount } from '../../../core/protocol/run/strategies/ranks-and-members.ts';
import { planPlacement } from '../../../src-main/devices/plan.ts';
import {
  evenOut,
  moveRanks,
  selectOnTasks,
  spreadOver,
  type TaskOffer,
  taskOf,
} from '../../../src-main/nodes/place.ts';

const device = (kind: Device['kind'], index: number): Device => ({
  id: `${kind}:${index}`,
  kind,
  index,
  name: 'a device',
  memoryTotalBytes: null,
  memoryUsedBytes: null,
  load: null,
  processCount: null,
});
const cores = (count: number): Device[] => Array.from({ length: count }, (_, i) => device('cpu', i));
const offer = (worldRank: number, node: string, devices: Device[], more: Partial<TaskOffer> = {}): TaskOffer => ({
  worldRank,
  node,
  localRank: 0,
  localSize: 1,
  devices,
  isBound: false,
  ...more,
});
const ids = (devices: readonly Device[]): string[] => devices.map(({ id }) => id);

describe('devices of several nodes', () => {
  it('are selected on each node, and named after it', () => {
    const offers = [offer(0, 'a', cores(4)), offer(1, 'b', cores(2))];
    expect(ids(selectOnTasks('cpu', offers, ['cpu']))).toEqual([
      'a/cpu:0',
      'a/cpu:1',
      'a/cpu:2',
      'a/cpu:3',
      'b/cpu:0',
      'b/cpu:1',
    ]);
    expect(ids(selectOnTasks(1, offers, ['cpu']))).toEqual(['a/cpu:0', 'b/cpu:0']);
    expect(selectOnTasks(1, offers, ['cpu'])[1].node).toEqual({ name: 'b', task: 1 });
  });

  it('are shared out among the tasks of a node by local rank', () => {
    const two = [0, 1].map((rank) => offer(rank, 'a', cores(4), { localRank: rank, localSize: 2 }));
    const all = selectOnTasks('cpu', two, ['cpu']);
    expect(ids(all)).toEqual(['a/cpu:0', 'a/cpu:2', 'a/cpu:1', 'a/cpu:3']);
    expect(all.map(taskOf)).toEqual([0, 0, 1, 1]);
  });

  it('keep different names where each task is bound to one GPU that it calls cuda:0', () => {
    const two = [0, 1].map((rank) => offer(rank, 'a', [device('cuda', 0)], { localRank: rank, localSize: 2 }));
    expect(ids(selectOnTasks('auto', two, ['cuda', 'cpu']))).toEqual(['a/cuda:0', 'a.1/cuda:0']);
  });

  it('must be of one kind, and a missing one is named with its node', () => {
    const mixed = [offer(0, 'a', [device('cuda', 0)]), offer(1, 'b', cores(1))];
    expect(() => selectOnTasks('auto', mixed, ['cuda', 'cpu'])).toThrow('the nodes offer a/cuda:0 and b/cpu:0');
    expect(() => selectOnTasks('cpu:3', [offer(1, 'b', cores(2))], ['cpu'])).toThrow('On the node b: ');
  });
});

describe('fewer workers than devices', () => {
  it('are spread over all nodes', () => {
    const all = selectOnTasks('cpu', [offer(0, 'a', cores(4)), offer(1, 'b', cores(4))], ['cpu']);
    expect(ids(spreadOver(all, 2))).toEqual(['a/cpu:0', 'b/cpu:0']);
    expect(ids(spreadOver(all, 3))).toEqual(['a/cpu:0', 'a/cpu:1', 'b/cpu:0']);
    expect(spreadOver(all, 9)).toHaveLength(8);
  });
});

describe('ranks after a node has joined', () => {
  const worker = ({ rank, stack }: { rank: number; stack?: number }): string => `${stack ?? `rank ${rank}`}`;

  it('move from full devices to free ones, as few as necessary', () => {
    const all = selectOnTasks('cpu', [offer(0, 'a', cores(1)), offer(1, 'b', cores(2))], ['cpu']);
    const before = planPlacement({ ranks: rankCount(4), devices: [all[0]], placement: 'share' });
    expect(evenOut(before, all).map(({ rank, device: { id } }) => `${rank} ${id}`)).toEqual([
      '0 a/cpu:0',
      '1 a/cpu:0',
      '2 b/cpu:1',
      '3 b/cpu:0',
    ]);
  });

  it('end with loads that differ by one at most, and stay where they already do', () => {
    const shape = fc.record({
      devices: fc.integer({ min: 1, max: 6 }),
      used: fc.integer({ min: 1, max: 6 }),
      members: fc.integer({ min: 1, max: 12 }),
      stack: fc.integer({ min: 1, max: 3 }),
    });
    fc.assert(
      fc.property(shape, ({ devices, used, members, stack }) => {
        const all = selectOnTasks('cpu', [offer(0, 'a', cores(devices))], ['cpu']);
        const plan = planPlacement({
          ranks: rankCount(members),
          devices: all.slice(0, used),
          placement: 'share',
          membersPerWorker: stack,
        });
        const even = evenOut(plan, all);
        const loads = all.map(
          ({ id }) => new Set(even.flatMap((one) => (one.device.id === id ? [worker(one)] : []))).size,
        );
        expect(Math.max(...loads) - Math.min(...loads)).toBeLessThan(2);
        expect(even.map(({ rank }) => rank)).toEqual(plan.map(({ rank }) => rank));
        expect(evenOut(even, all)).toEqual(even);
        expect(used >= devices ? even : plan).toEqual(plan);
      }),
    );
  });
});

describe('ranks of lost nodes', () => {
  it('move to the devices with the fewest workers, and the others stay', () => {
    const all = selectOnTasks('cpu', [offer(0, 'a', cores(2)), offer(1, 'b', cores(2))], ['cpu']);
    const plan = planPlacement({ ranks: rankCount(4), devices: all, placement: 'share' });
    const left = all.filter((one) => taskOf(one) === 0);
    expect(moveRanks(plan, left).map(({ rank, device: { id } }) => `${rank} ${id}`)).toEqual([
      '0 a/cpu:0',
      '1 a/cpu:1',
      '2 a/cpu:0',
      '3 a/cpu:1',
    ]);
  });

  it('keep their numbers, stacks and waves, and use only devices that are there', () => {
    const shape = fc.record({
      nodes: fc.integer({ min: 2, max: 4 }),
      each: fc.integer({ min: 1, max: 3 }),
      members: fc.integer({ min: 1, max: 12 }),
      stack: fc.integer({ min: 1, max: 3 }),
      lost: fc.nat(3),
    });
    fc.assert(
      fc.property(shape, ({ nodes, each, members, stack, lost }) => {
        const offers = Array.from({ length: nodes }, (_, i) => offer(i, `n${i}`, cores(each)));
        const all = selectOnTasks('cpu', offers, ['cpu']);
        const plan = planPlacement({
          ranks: rankCount(members),
          devices: all,
          placement: 'share',
          membersPerWorker: stack,
        });
        const left = all.filter((one) => taskOf(one) !== lost % nodes);
        const moved = moveRanks(plan, left);
        expect(moved.map(({ rank, wave, stack: of }) => [rank, wave, of])).toEqual(
          plan.map(({ rank, wave, stack: of }) => [rank, wave, of]),
        );
        expect(moved.every((of) => left.includes(of.device))).toBe(true);
        // The ranks of one computation stay together.
        for (const group of Map.groupBy(moved, (of) => of.stack ?? of.rank).values()) {
          expect(new Set(group.map((of) => of.device.id)).size).toBe(1);
        }
        expect(moved.filter((of, i) => taskOf(plan[i].device) !== lost % nodes && of !== plan[i])).toEqual([]);
      }),
    );
  });
});
