import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { CollectiveStage } from '../../../core/protocol/wire/collective-stages.ts';
import { type CollectiveArray, noSignals } from '../../../core/protocol/wire/collectives.ts';
import type { CollectiveFrame } from '../../../core/protocol/wire/frames.ts';
import { reduceArrays } from '../../../core/protocol/wire/reduce.ts';
import { barrierRequest, createInMemoryGroup, createRelay, ranksOf, reasons } from './in-memory-group.ts';

it('returns the merged signals to each rank: the most controls, and a halt if any rank must', async () => {
  const { groups } = createInMemoryGroup([0, 1, 2]);
  const signals = [
    { controls: 2, halt: false },
    { controls: 7, halt: false },
    { controls: 0, halt: true },
  ];
  groups.forEach((group, i) => (group.signals = signals[i]));
  await Promise.all(groups.map((group) => group.allReduce(Float32Array.of(1), 'sum')));
  for (const group of groups) {
    group.mark();
    expect(await group.agreed()).toEqual({ controls: 7, halt: true });
  }
});

describe('ranks that disagree', () => {
  const float = (length: number) => new Float32Array(length);

  it.each([
    ['operation', 'barrier', 'all-reduce(sum) of float32[4]'],
    ['reduce operation', 'all-reduce(sum) of float32[4]', 'all-reduce(max) of float32[4]'],
    ['data type', 'all-reduce(sum) of float32[4]', 'all-reduce(sum) of int32[4]'],
    ['shape', 'all-gather of float32[2, 2]', 'all-gather of float32[4, 1]'],
    ['number of dimensions', 'all-gather of float32[4]', 'all-gather of float32[4, 1]'],
    ['root', 'broadcast(root 0) of float32[4]', 'broadcast(root 1) of float32[4]'],
  ])("on the %s all fail immediately, with each rank's call in the message", async (_what, first, second) => {
    const { groups } = createInMemoryGroup([0, 1, 2]);
    const makeCall: Record<string, (rank: number) => Promise<unknown>> = {
      barrier: async (rank) => await groups[rank].barrier(),
      'all-reduce(sum) of float32[4]': async (rank) => await groups[rank].allReduce(float(4), 'sum'),
      'all-reduce(max) of float32[4]': async (rank) => await groups[rank].allReduce(float(4), 'max'),
      'all-reduce(sum) of int32[4]': async (rank) => await groups[rank].allReduce(new Int32Array(4), 'sum'),
      'all-gather of float32[4]': async (rank) => await groups[rank].allGather(float(4)),
      'all-gather of float32[2, 2]': async (rank) => await groups[rank].allGather(float(4), [2, 2]),
      'all-gather of float32[4, 1]': async (rank) => await groups[rank].allGather(float(4), [4, 1]),
      'broadcast(root 0) of float32[4]': async (rank) => await groups[rank].broadcast(float(4), 0),
      'broadcast(root 1) of float32[4]': async (rank) => await groups[rank].broadcast(float(4), 1),
    };
    // Rank 1 never calls. The disagreement of the two others is enough.
    const messages = await reasons([makeCall[first](0), makeCall[second](2)]);
    const who = `rank 0 called ${first}, sequence number 1; rank 2 called ${second}, sequence number 1.`;
    for (const message of messages) expect(message).toContain(`The ranks disagree: ${who}`);
    expect(await reasons([groups[1].barrier()])).toStrictEqual([expect.stringContaining(who)]);
  });

  it.each([
    [
      'omits a call that others have made',
      [1],
      [8],
      'Rank 1 called barrier, sequence number 8, where barrier, sequence number 1 was due.',
    ],
    [
      'has skipped a call of the others',
      [8],
      [1],
      'Rank 1 called barrier, sequence number 1, which rank 0 has skipped.',
    ],
    ['goes back', [8], [8, 8], 'Rank 1 called barrier, sequence number 8, after sequence number 8.'],
  ])('all fail if a rank %s', (_what, first, second, reason) => {
    const relay = createRelay([0, 1]);
    const heard: CollectiveFrame[] = [];
    for (const rank of [0, 1]) relay.attach(rank, (frame) => void heard.push(frame));
    const call = (rank: number, sequence: number) =>
      relay.receive(rank, { ...barrierRequest, call: { ...barrierRequest.call, sequence } });
    for (const sequence of first) call(0, sequence);
    for (const sequence of second) call(1, sequence);
    expect(heard.slice(-2)).toStrictEqual([0, 1].map(() => ({ kind: 'collective', phase: 'failure', reason })));
  });

  it.each<[CollectiveStage, CollectiveStage, string]>([
    ['whole', 'reduced', 'Rank 0 requested barrier, sequence number 2 (reduced) as its first request'],
    [
      'reserve',
      'reduced',
      'Rank 0 requested barrier, sequence number 1 (reduced) after barrier, sequence number 1 (reserve)',
    ],
  ])('a stage "%s" that no "%s" follows fails all', (first, second, reason) => {
    const relay = createRelay([0, 1]);
    const received: CollectiveFrame[] = [];
    for (const rank of [0, 1]) relay.attach(rank, (frame) => void received.push(frame));
    const send = (rank: number, stage: CollectiveStage, sequence: number) =>
      relay.receive(rank, { ...barrierRequest, call: { ...barrierRequest.call, stage, sequence } });
    for (const rank of [0, 1]) send(rank, first, 1);
    received.length = 0;
    send(0, second, first === 'reserve' ? 1 : 2);
    const failure = { kind: 'collective', phase: 'failure', reason: `${reason}, which no collective does.` };
    expect(received).toEqual([failure, failure]);
  });

  it('an invalid request fails all, and does not break the hub', async () => {
    const { groups, workerChannels } = createInMemoryGroup([0, 1]);
    const waiting = groups[0].allReduce(float(2), 'sum');
    const call = {
      operation: 'all-reduce',
      reduce: 'sum',
      dataType: 'float32',
      shape: [2],
      root: null,
      distance: null,
      sequence: 1,
      stage: 'whole',
    } as const;
    workerChannels[1].send({ kind: 'collective', phase: 'request', call, signals: noSignals, data: null });
    expect(await reasons([waiting])).toStrictEqual([expect.stringContaining('Rank 1 sent no array.')]);
  });

  it('an integer sum that overflows fails all, naming the element', async () => {
    const { groups } = createInMemoryGroup([0, 1]);
    const messages = await reasons(
      groups.map(async (group) => await group.allReduce(Int32Array.of(1, 2 ** 30), 'sum')),
    );
    for (const message of messages) {
      expect(message).toContain('Element 1 adds up to 2147483648, which int32 cannot hold; send float64 instead.');
    }
  });
});

describe('a rank that leaves', () => {
  it('fails pending and later calls of the others', async () => {
    const { relay, groups } = createInMemoryGroup([0, 1, 2]);
    const waiting = [groups[0].barrier(), groups[2].barrier()];
    await new Promise((resolve) => setImmediate(resolve));
    relay.rankLeft(1, 'killed by SIGKILL');
    const left = 'Rank 1 left the group: killed by SIGKILL. Rank 1 runs on cpu:1.';
    expect(await reasons(waiting)).toStrictEqual([
      `barrier, sequence number 1, failed on rank 0: ${left}`,
      `barrier, sequence number 1, failed on rank 2: ${left}`,
    ]);
    expect(await reasons([groups[0].allGather(new Uint8Array(1))])).toStrictEqual([expect.stringContaining(left)]);
  });

  it('is noticed when an answer cannot be sent to it', () => {
    const relay = createRelay([0, 1]);
    const answers: CollectiveFrame[] = [];
    relay.attach(0, () => {
      throw new Error('The channel was closed by the peer');
    });
    relay.attach(1, (frame) => void answers.push(frame));
    for (const rank of [1, 0]) relay.receive(rank, barrierRequest);
    expect(answers[0]).toStrictEqual({
      kind: 'collective',
      phase: 'failure',
      reason: 'Rank 0 left the group: The channel was closed by the peer. Rank 0 runs on cpu:0.',
    });
  });

  it('fails a rank that joins afterwards', () => {
    const relay = createRelay([0, 1]);
    relay.rankLeft(0, 'exit code 1');
    const frames: CollectiveFrame[] = [];
    relay.attach(1, (frame) => void frames.push(frame));
    expect(frames).toStrictEqual([
      { kind: 'collective', phase: 'failure', reason: 'Rank 0 left the group: exit code 1. Rank 0 runs on cpu:0.' },
    ]);
  });

  it('must be a member', () => {
    expect(() => createRelay([0, 2]).rankLeft(1, 'x')).toThrow('Rank 1 is not in the group of ranks 0, 2.');
  });
});

/** Time passes, and then a turn of the event loop in which waiting messages would be read. */
describe('the order of arrival', () => {
  it('changes no bit of a result', async () => {
    const float = fc.float({ noDefaultInfinity: true, noNaN: true });
    const property = fc.asyncProperty(
      fc.array(fc.tuple(float, float, float), { minLength: 4, maxLength: 4 }),
      fc.shuffledSubarray([0, 1, 2, 3], { minLength: 4 }),
      fc.constantFrom('sum' as const, 'mean' as const),
      async (values, order, operation) => {
        const { groups } = createInMemoryGroup(ranksOf(4));
        const results: Promise<CollectiveArray>[] = [];
        for (const rank of order) {
          results.push(groups[rank].allReduce(Float32Array.from(values[rank]), operation));
          await Promise.resolve();
        }
        const expected = [0, 1, 2].map((index) => {
          const sum = values.slice(1).reduce((total, array) => Math.fround(total + array[index]), values[0][index]);
          return operation === 'sum' ? sum : sum / 4;
        });
        for (const result of await Promise.all(results)) expect(result).toStrictEqual(Float32Array.from(expected));
      },
    );
    await fc.assert(property, { numRuns: 100 });
  });

  it('is rank order in float32: 2^24 + 1 + 1 stays, 1 + 1 + 2^24 does not', () => {
    const sum = (...values: number[]) =>
      reduceArrays(
        values.map((value) => Float32Array.of(value)),
        'sum',
      )[0];
    expect(sum(2 ** 24, 1, 1)).toBe(2 ** 24);
    expect(sum(1, 1, 2 ** 24)).toBe(2 ** 24 + 2);
  });

  it('changes no element, for any length', () => {
    for (let length = 0; length < 10; length += 1) {
      const counting = Float64Array.from({ length }, (_, index) => index);
      expect(reduceArrays([counting.slice(), counting.slice(), counting.slice()], 'mean')).toStrictEqual(counting);
    }
  });

  it('allows partial integer sums to exceed the type', () => {
    const sum = reduceArrays([Uint8Array.of(200), Uint8Array.of(55)], 'sum');
    expect(sum).toStrictEqual(Uint8Array.of(255));
    const balanced = reduceArrays([Int32Array.of(2 ** 31 - 1), Int32Array.of(1), Int32Array.of(-5)], 'sum');
    expect(balanced).toStrictEqual(Int32Array.of(2 ** 31 - 5));
  });
});
