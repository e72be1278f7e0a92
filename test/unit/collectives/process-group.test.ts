import { type CollectiveArray, type CollectiveCall, describeCall } from '../../../core/protocol/wire/collectives.ts';
import { whyNotAnswer } from '../../../workers/collectives/calls-under-way.ts';
import { describe, expect, it } from 'vitest';
import { CollectiveError, noSignals, type ControlSignals } from '../../../core/protocol/wire/collectives.ts';
import type { CollectiveFrame } from '../../../core/protocol/wire/frames.ts';
import { ProcessGroup } from '../../../workers/collectives/process-group.ts';

describe('a group of one rank', () => {
  it('returns copies of its inputs', async () => {
    const group = ProcessGroup.alone(3);
    const array = new Float32Array([1, NaN]);
    expect([group.rank, group.worldSize, [...group.ranks]]).toStrictEqual([3, 1, [3]]);
    expect(await group.allGather(array)).toStrictEqual([array]);
    expect(await group.allReduce(array, 'mean')).toStrictEqual(array);
    expect(await group.allReduce(array, 'min')).not.toBe(array);
    expect(await group.broadcast(array, 3)).toStrictEqual(array);
    expect(await group.reduceScatter(array, 'sum')).toStrictEqual(array);
    await group.barrier();
    expect(group.statistics).toStrictEqual({ count: 6, bytesSent: 0, bytesReceived: 0 });
  });

  it('refuses what a larger group would refuse', async () => {
    const group = ProcessGroup.alone(0);
    await expect(group.broadcast(new Uint8Array(1), 1)).rejects.toThrow(/must be one of the ranks 0, not 1/);
    await expect(group.allReduce(new Int32Array(1), 'mean')).rejects.toThrow(/mean of int32 .* float32 or float64/);
    await expect(group.allGather(new Float32Array(6), [2, 2])).rejects.toThrow(
      /6 elements does not have the shape \[2, 2\]/,
    );
    expect(group.statistics.count).toBe(0);
  });
});

describe('a rank of a larger group', () => {
  const create = () => {
    const sent: CollectiveFrame[] = [];
    const group = new ProcessGroup(2, [2, 0], { send: (frame) => void sent.push(frame) });
    return { sent, group };
  };

  it('must belong to the group and have a link', () => {
    expect(() => new ProcessGroup(1, [0, 2], null)).toThrow(/Rank 1 is not in its own group of ranks 0, 2/);
    expect(() => new ProcessGroup(0, [0, 2], null)).toThrow(/A group of 2 ranks needs a link/);
  });

  it('numbers its calls, and sends an array only when others need it', () => {
    const { sent, group } = create();
    const array = new Float32Array(4);
    void group.allGather(array, [2, 2]);
    void group.broadcast(array, 0);
    void group.barrier();
    const none = { reduce: null, root: null, distance: null, stage: 'whole' };
    expect(sent).toStrictEqual([
      {
        kind: 'collective',
        phase: 'request',
        call: { ...none, operation: 'all-gather', dataType: 'float32', shape: [2, 2], sequence: 1 },
        signals: noSignals,
        data: array,
      },
      {
        kind: 'collective',
        phase: 'request',
        call: { ...none, operation: 'broadcast', dataType: 'float32', shape: [4], root: 0, sequence: 2 },
        signals: noSignals,
        data: null,
      },
      {
        kind: 'collective',
        phase: 'request',
        call: { ...none, operation: 'barrier', dataType: 'uint8', shape: [0], sequence: 3 },
        signals: noSignals,
        data: null,
      },
    ]);
    expect(group.statistics).toStrictEqual({ count: 3, bytesSent: 16, bytesReceived: 0 });
  });

  it('refuses slices of unequal length', async () => {
    const { group } = create();
    await expect(group.reduceScatter(new Float32Array(5), 'sum')).rejects.toThrow(
      /5 elements do not divide by 2 ranks/,
    );
  });

  it('sends its signals, and agrees on the answer to the marked call, regardless of later answers', async () => {
    const { sent, group } = create();
    const answer = (sequence: number, signals: ControlSignals): void => {
      const call = {
        operation: 'barrier',
        reduce: null,
        dataType: 'uint8',
        shape: [],
        root: null,
        distance: null,
        sequence,
        stage: 'whole',
      } as const;
      group.receive({ kind: 'collective', phase: 'result', call, signals, data: null });
    };
    group.signals = { controls: 1, halt: false };
    const marked = group.barrier();
    group.mark();
    const later = group.barrier();
    expect(sent[0]).toMatchObject({ signals: { controls: 1, halt: false } });
    const agreed = group.agreed();
    answer(1, { controls: 4, halt: false });
    answer(2, { controls: 5, halt: true });
    await Promise.all([marked, later]);
    expect(await agreed).toEqual({ controls: 4, halt: false });
    group.mark();
    expect(await group.agreed()).toEqual({ controls: 5, halt: true });
  });

  it('rejects pending and later calls after a failure, with the first reason', async () => {
    const { group } = create();
    const pending = group.barrier();
    group.fail(new Error('the wire was cut'));
    group.fail(new Error('something else'));
    await expect(pending).rejects.toThrow(CollectiveError);
    await expect(pending).rejects.toThrow('barrier, sequence number 1, failed on rank 2: the wire was cut');
    await expect(group.allReduce(new Float32Array(2), 'sum')).rejects.toThrow(
      'all-reduce(sum) of float32[2], sequence number 2, failed on rank 2: the wire was cut',
    );
  });

  it('fails when its channel does not accept the request', async () => {
    const group = new ProcessGroup(0, [0, 1], {
      send: () => {
        throw new Error('closed');
      },
    });
    await expect(group.barrier()).rejects.toThrow('barrier, sequence number 1, failed on rank 0: closed');
    await expect(group.barrier()).rejects.toThrow('sequence number 2, failed on rank 0: closed');
  });

  it('fails on an answer without a request or of another type', async () => {
    const unrequested = create().group;
    const call = {
      operation: 'barrier',
      reduce: null,
      dataType: 'uint8',
      shape: [],
      root: null,
      distance: null,
      sequence: 9,
      stage: 'whole',
    } as const;
    unrequested.receive({ kind: 'collective', phase: 'result', call, signals: noSignals, data: null });
    await expect(unrequested.barrier()).rejects.toThrow(
      /The hub sent a result for barrier, sequence number 9, which this rank did not request/,
    );

    const { group } = create();
    const pending = group.allReduce(new Float32Array(1), 'sum');
    group.receive({
      kind: 'collective',
      phase: 'result',
      call: { ...call, sequence: 1 },
      signals: noSignals,
      data: new Int32Array(1),
    });
    await expect(pending).rejects.toThrow(
      'The hub answered all-reduce(sum) of float32[1], sequence number 1 with that of barrier, sequence number 1.',
    );
  });
});

describe('an answer of the hub', () => {
  const base = {
    reduce: null,
    dataType: 'float32',
    shape: [6],
    root: null,
    distance: null,
    sequence: 1,
    stage: 'whole',
  };
  const call = (what: Partial<CollectiveCall>) => ({ ...base, ...what }) as CollectiveCall;
  const group = { rank: 1, ranks: [0, 1, 4] };
  const floats = (length: number) => new Float32Array(length);

  it.each<[string, CollectiveCall, CollectiveArray | null]>([
    ['all-gather: 3 ranks of 6', call({ operation: 'all-gather' }), floats(18)],
    ['all-reduce', call({ operation: 'all-reduce', reduce: 'sum' }), floats(6)],
    ['reduce-scatter: 6 / 3', call({ operation: 'reduce-scatter', reduce: 'sum' }), floats(2)],
    ['broadcast, to another rank', call({ operation: 'broadcast', root: 0 }), floats(6)],
    ['broadcast, to its root', call({ operation: 'broadcast', root: 1 }), null],
    ['shift, from a rank', call({ operation: 'shift', distance: 1 }), floats(6)],
    ['shift, from nowhere', call({ operation: 'shift', distance: 1 }), null],
    ['barrier', call({ operation: 'barrier', dataType: 'uint8', shape: [0] }), null],
    ['through memory', call({ operation: 'all-gather', stage: 'written' }), null],
  ])('fits: %s', (_name, own, data) => {
    expect(whyNotAnswer(own, { call: { ...own, shape: [data?.length ?? 0] }, data }, group)).toBeNull();
  });

  it.each<[string, CollectiveCall, CollectiveArray | null, string]>([
    ['too short', call({ operation: 'all-gather' }), floats(12), 'with float32[12], not float32[18]'],
    [
      'of another type',
      call({ operation: 'all-reduce', reduce: 'sum' }),
      new Int32Array(6),
      'with int32[6], not float32[6]',
    ],
    ['missing', call({ operation: 'broadcast', root: 0 }), null, 'with no array'],
    [
      'unasked',
      call({ operation: 'barrier', dataType: 'uint8', shape: [0] }),
      new Uint8Array(1),
      'with uint8[1], not uint8[0]',
    ],
  ])('is refused: %s', (_name, own, data, end) => {
    expect(whyNotAnswer(own, { call: own, data }, group)).toBe(`answered ${describeCall(own)} ${end}`);
  });
});
