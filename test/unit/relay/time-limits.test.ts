import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { CollectiveStage } from '../../../core/protocol/wire/collective-stages.ts';
import type { CollectiveFrame } from '../../../core/protocol/wire/frames.ts';
import { barrierRequest, createInMemoryGroup, createRelay, reasons } from './in-memory-group.ts';

async function pass(ms: number): Promise<void> {
  vi.advanceTimersByTime(ms);
  await new Promise((resolve) => setImmediate(resolve));
}

describe('a collective that takes too long', () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }));
  afterEach(() => void vi.useRealTimers());

  it('fails for all, naming the missing ranks', async () => {
    const stuck: [number[], string][] = [];
    const { groups } = createInMemoryGroup([0, 1, 2, 3], {
      timeoutMs: () => 120_000,
      onStuck: (ranks, error) => stuck.push([ranks, error.message]),
    });
    const waiting = reasons([groups[2].barrier(), groups[0].barrier()]);
    await new Promise((resolve) => setImmediate(resolve));
    await pass(119_999);
    expect(stuck).toStrictEqual([]);
    await pass(1);
    const reason =
      'barrier, sequence number 1, timed out after 120000 ms: called by ranks 0, 2, never by ranks 1, 3. ' +
      'Rank 1 runs on cpu:1. Rank 3 runs on cpu:3.';
    expect(stuck).toStrictEqual([[[1, 3], reason]]);
    for (const message of await waiting) expect(message).toContain(reason);
    expect(await reasons([groups[1].barrier()])).toStrictEqual([expect.stringContaining(reason)]);
  });

  it('restarts its timeout as long as all missing ranks do steps', async () => {
    const stuck: number[][] = [];
    const steps = [5, 5, 5];
    const { groups } = createInMemoryGroup([0, 1, 2], {
      timeoutMs: () => 1000,
      stepsOf: (rank) => steps[rank],
      onStuck: (ranks) => stuck.push(ranks),
    });
    const waiting = reasons([groups[0].barrier()]);
    await new Promise((resolve) => setImmediate(resolve));
    [steps[1], steps[2]] = [6, 9];
    await pass(1000);
    expect(stuck).toEqual([]);
    steps[1] = 7;
    await pass(1000);
    expect(stuck).toEqual([[1, 2]]);
    expect(await waiting).toStrictEqual([expect.stringContaining('never by ranks 1, 2')]);
  });

  it('does not time out while the group is held, and restarts its timeout afterwards', async () => {
    const stuck: number[][] = [];
    const { relay, groups } = createInMemoryGroup([0, 1], {
      timeoutMs: () => 1000,
      onStuck: (ranks) => stuck.push(ranks),
    });
    const before = reasons([groups[0].barrier()]);
    await new Promise((resolve) => setImmediate(resolve));
    await pass(999);
    relay.hold();
    const within = reasons([groups[0].barrier()]);
    await new Promise((resolve) => setImmediate(resolve));
    await pass(3_600_000);
    expect(vi.getTimerCount()).toBe(0);
    relay.release();
    await pass(999);
    expect(stuck).toStrictEqual([]);
    await pass(1);
    expect(stuck).toStrictEqual([[1]]);
    await Promise.all([before, within]);
  });

  it('leaves no timer if all ranks awaiting one in memory withdraw, whatever they call meanwhile', () => {
    const relay = createRelay([0, 1, 2], { timeoutMs: () => 1000 });
    const heard: CollectiveFrame[] = [];
    for (const rank of [0, 1, 2]) relay.attach(rank, (frame) => void heard.push(frame));
    const send = (rank: number, stage: CollectiveStage, sequence: number) =>
      relay.receive(rank, { ...barrierRequest, call: { ...barrierRequest.call, stage, sequence } });
    send(0, 'awaited', 7);
    send(1, 'awaited', 7);
    send(0, 'withdrawn', 7);
    // Rank 2 has arrived, and continued, before rank 1 has noticed.
    for (const rank of [2, 0]) send(rank, 'whole', 8);
    send(1, 'withdrawn', 7);
    send(1, 'whole', 8);
    expect(heard.map(({ phase }) => phase)).toEqual(['result', 'result', 'result']);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('is never answered if all ranks await one in memory: each withdraws once it has seen the others', async () => {
    const relay = createRelay([0, 1], { timeoutMs: () => 1000 });
    const received: CollectiveFrame[] = [];
    for (const rank of [0, 1]) relay.attach(rank, (frame) => void received.push(frame));
    const send = (rank: number, stage: CollectiveStage, sequence: number) =>
      relay.receive(rank, { ...barrierRequest, call: { ...barrierRequest.call, stage, sequence } });
    for (const rank of [0, 1]) send(rank, 'awaited', 7);
    await pass(999);
    expect(received).toEqual([]);
    for (const rank of [0, 1]) send(rank, 'withdrawn', 7);
    for (const rank of [0, 1]) send(rank, 'whole', 8);
    expect(received.map(({ phase }) => phase)).toEqual(['result', 'result']);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('fails without blaming a rank if all have called one whose arrays never arrive; each part that does starts the limit anew', async () => {
    const stuck: number[][] = [];
    const relay = createRelay([0, 1], { timeoutMs: () => 1000, onStuck: (ranks) => void stuck.push(ranks) });
    const received: CollectiveFrame[] = [];
    for (const rank of [0, 1]) relay.attach(rank, (frame) => void received.push(frame));
    const send = (rank: number, stage: CollectiveStage) =>
      relay.receive(rank, { ...barrierRequest, call: { ...barrierRequest.call, stage, sequence: 7 } });
    for (const rank of [0, 1]) send(rank, 'awaited');
    await pass(900);
    send(1, 'withdrawn');
    send(1, 'awaited');
    await pass(999);
    expect(received).toEqual([]);
    await pass(1);
    const reason =
      'barrier, sequence number 7 (awaited), timed out after 1000 ms: all ranks have called it, but not all of ' +
      'their arrays have arrived. ' +
      'Check the network between the nodes; if it is only slow, raise timeouts.collectiveMs.';
    expect(received).toEqual([0, 1].map(() => ({ kind: 'collective', phase: 'failure', reason })));
    expect(stuck).toEqual([]);
  });

  it('still fails for a rank that awaits one in memory after another has withdrawn', async () => {
    const stuck: number[][] = [];
    const relay = createRelay([0, 1, 2], { timeoutMs: () => 1000, onStuck: (ranks) => void stuck.push(ranks) });
    for (const rank of [0, 1, 2]) relay.attach(rank, () => {});
    const send = (rank: number, stage: CollectiveStage) =>
      relay.receive(rank, { ...barrierRequest, call: { ...barrierRequest.call, stage } });
    send(0, 'awaited');
    send(1, 'awaited');
    send(0, 'withdrawn');
    await pass(1000);
    expect(stuck).toEqual([[0, 2]]);
  });

  it.each([
    ['that the ranks have not begun together', 2, [1]],
    ['without naming one of the group', 1, [5]],
    ['without naming any', 1, []],
  ])('is refused if a rank reports a wait in memory %s', (_what, sequence, named) => {
    const stuck: number[][] = [];
    const relay = createRelay([0, 1], { onStuck: (ranks) => void stuck.push(ranks) });
    const heard: CollectiveFrame[] = [];
    for (const rank of [0, 1]) relay.attach(rank, (frame) => void heard.push(frame));
    for (const rank of [0, 1])
      relay.receive(rank, { ...barrierRequest, call: { ...barrierRequest.call, stage: 'mapped' } });
    heard.length = 0;
    const call = { ...barrierRequest.call, stage: 'stuck', sequence } as const;
    relay.receive(0, { ...barrierRequest, call, data: Int32Array.from(named) });
    const reason = `Rank 0 waits in barrier, sequence number ${sequence} (stuck), which the ranks have not begun together.`;
    expect(heard).toEqual([0, 1].map(() => ({ kind: 'collective', phase: 'failure', reason })));
    expect(stuck).toEqual([]);
  });

  it('fails a rank that awaits one in memory like any other', async () => {
    const stuck: number[][] = [];
    const relay = createRelay([0, 1], { timeoutMs: () => 1000, onStuck: (ranks) => void stuck.push(ranks) });
    const heard: CollectiveFrame[] = [];
    for (const rank of [0, 1]) relay.attach(rank, (frame) => void heard.push(frame));
    relay.receive(0, { ...barrierRequest, call: { ...barrierRequest.call, stage: 'awaited', sequence: 7 } });
    await pass(1000);
    expect(stuck).toEqual([[1]]);
    const reason =
      'barrier, sequence number 7 (awaited), timed out after 1000 ms: called by rank 0, never by rank ' +
      '1. Rank 1 runs on cpu:1.';
    expect(heard).toEqual([0, 1].map(() => ({ kind: 'collective', phase: 'failure', reason })));
  });

  it('succeeds for a late rank that arrives in time, and leaves no timer', async () => {
    const { groups } = createInMemoryGroup([0, 1], { timeoutMs: () => 1000 });
    const first = groups[0].allReduce(Float32Array.of(1), 'sum');
    await new Promise((resolve) => setImmediate(resolve));
    await pass(999);
    const second = groups[1].allReduce(Float32Array.of(2), 'sum');
    expect(await Promise.all([first, second])).toStrictEqual([Float32Array.of(3), Float32Array.of(3)]);
    expect(vi.getTimerCount()).toBe(0);
  });
});
