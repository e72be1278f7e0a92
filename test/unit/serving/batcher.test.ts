import { afterEach, describe, expect, it, vi } from 'vitest';
import type { ColumnWarning, ServePrediction, ServeRequest } from '../../../core/ensemble/serving.ts';
import { Batcher, type BatchLimits, type InferAnswer } from '../../../src-main/serving/batcher.ts';
import { RequestError } from '../../../src-main/serving/given-input.ts';
import { predicted, request } from './tensors.ts';

afterEach(() => void vi.useRealTimers());

/** A batcher whose batches wait until they are let go. */
function held(limits: Partial<BatchLimits> = {}) {
  const batches: { samples: number; go: () => void; fail: (error: Error) => void }[] = [];
  const predict = ({ tensors, parts }: ServeRequest) =>
    new Promise<ServePrediction>((succeed, fail) => {
      batches.push({ samples: tensors[0].shape[0], go: () => succeed(predicted(tensors, parts)), fail });
    });
  return { batches, batcher: new Batcher(predict, { maxBatch: 4, maxDelayMs: 0, maxQueue: 8, ...limits }) };
}

/** Lets the microtasks run that follow an answer. */
const settle = () => new Promise((done) => setImmediate(done));
const means = async (answer: Promise<InferAnswer>) => [...(await answer).outputs[0].values];

describe('requests', () => {
  it('that come while the models are busy are predicted together, and each gets its own samples', async () => {
    const { batches, batcher } = held();
    const answers = [request(1, 2), request(3, 4, 5, 6), request(7, 8)].map((own) => means(batcher.predict(own)));
    expect(batches.map(({ samples }) => samples)).toEqual([1]);
    batches[0].go();
    expect(await answers[0]).toEqual([3]);
    await settle();
    expect(batches.map(({ samples }) => samples)).toEqual([1, 3]);
    batches[1].go();
    expect(await Promise.all(answers.slice(1))).toEqual([[7, 11], [15]]);
  });

  it('that are predicted together get the warnings of their own samples', async () => {
    const warning = (column: string, rows: number): ColumnWarning => {
      const none = { mistyped: 0, mistypedValues: [], unseen: 0, unseenValues: [], outside: 0, outsideValues: [] };
      return { column, rows, missing: 1, ...none };
    };
    // Each row whose first feature is negative lacks a value.
    const predict = async ({ tensors, parts }: ServeRequest): Promise<ServePrediction> => {
      const values = tensors[0].values as Float32Array;
      let first = 0;
      const warnings = parts.map((samples) => {
        const own = Array.from({ length: samples }, (_, row) => values[2 * (first + row)]);
        first += samples;
        return own.some((value) => value < 0) ? [warning('x', samples)] : [];
      });
      return { ...predicted(tensors, parts), warnings };
    };
    const batcher = new Batcher(predict, { maxBatch: 6, maxDelayMs: 60_000, maxQueue: 8 });
    const answers = [request(1, 2), request(1, 2, -3, 4), request(5, 6), request(-7, 8)].map((own) =>
      batcher.predict(own),
    );
    batcher.hurry();
    expect(batcher.counts.waiting).toBe(0);
    const found = await Promise.all(answers);
    expect(found.map(({ warnings }) => warnings)).toEqual([[], [warning('x', 2)], [], [warning('x', 1)]]);
    expect(batcher.counts.batches).toBe(1);
  });

  it('fill at most a batch, in their order; a larger one is predicted alone', async () => {
    const { batches, batcher } = held();
    const large = request(...Array.from({ length: 12 }, () => 1));
    const answers = [request(0, 0), request(1, 1, 2, 2, 3, 3), request(4, 4, 5, 5), large, request(6, 6)];
    const all = Promise.all(answers.map((own) => batcher.predict(own)));
    for (let batch = 0; batch < 5; batch++) {
      batches[batch].go();
      await settle();
    }
    expect(batches.map(({ samples }) => samples)).toEqual([1, 3, 2, 6, 1]);
    expect((await all).map(({ outputs: [{ shape }] }) => shape)).toEqual([
      [1, 1],
      [3, 1],
      [2, 1],
      [6, 1],
      [1, 1],
    ]);
  });

  it('with other outputs or shapes are predicted by themselves', async () => {
    const { batches, batcher } = held();
    void batcher.predict(request(0, 0));
    void batcher.predict(request(1, 1));
    void batcher.predict({ ...request(2, 2), outputs: ['mean'] });
    batches[0].go();
    await settle();
    expect(batches.map(({ samples }) => samples)).toEqual([1, 1]);
  });

  it('wait for others as long as the limit says, or until the batch is full', async () => {
    vi.useFakeTimers();
    const { batches, batcher } = held({ maxDelayMs: 50 });
    void batcher.predict(request(0, 0));
    await vi.advanceTimersByTimeAsync(49);
    expect(batches).toEqual([]);
    void batcher.predict(request(1, 1));
    await vi.advanceTimersByTimeAsync(1);
    expect(batches.map(({ samples }) => samples)).toEqual([2]);
    batches[0].go();
    await vi.advanceTimersByTimeAsync(0);
    for (let i = 0; i < 4; i++) void batcher.predict(request(i, i));
    expect(batches.map(({ samples }) => samples)).toEqual([2, 4]);
  });

  it('do not wait for others once the server hurries to its end', () => {
    const { batches, batcher } = held({ maxDelayMs: 60_000 });
    void batcher.predict(request(0, 0));
    expect(batches).toEqual([]);
    batcher.hurry();
    expect(batches.map(({ samples }) => samples)).toEqual([1]);
  });

  it('of clients that disconnect leave the queue, and others take their places', async () => {
    const { batches, batcher } = held({ maxQueue: 2 });
    const clients = [0, 1, 2].map(() => new AbortController());
    const answers = clients.map(({ signal }, i) => batcher.predict(request(i, i), signal));
    clients[0].abort();
    clients[1].abort();
    await expect(answers[1]).rejects.toMatchObject({ statusCode: 499 });
    const late = means(batcher.predict(request(3, 3)));
    batches[0].go();
    await settle();
    batches[1].go();
    clients[2].abort();
    // The first one was under way already.
    expect(await means(answers[0])).toEqual([0]);
    expect([await means(answers[2]), await late]).toEqual([[4], [6]]);
    expect(batches.map(({ samples }) => samples)).toEqual([1, 2]);
    expect(batcher.counts).toEqual({ waiting: 0, answered: 3, samples: 3, batches: 2, failed: 0, refused: 0, left: 1 });
  });

  it('of another kind go on when the one before them is left', async () => {
    vi.useFakeTimers();
    const { batches, batcher } = held({ maxDelayMs: 50 });
    const client = new AbortController();
    const answer = batcher.predict(request(0, 0), client.signal);
    client.abort();
    await expect(answer).rejects.toThrow('disconnected');
    await vi.advanceTimersByTimeAsync(50);
    expect(batches).toEqual([]);
    void batcher.predict({ ...request(1, 1), outputs: ['mean'] });
    await vi.advanceTimersByTimeAsync(50);
    expect(batches.map(({ samples }) => samples)).toEqual([1]);
  });

  it('are refused when too many wait', async () => {
    const { batches, batcher } = held({ maxQueue: 2 });
    const accepted = [0, 1, 2].map((i) => batcher.predict(request(i, i)));
    await expect(batcher.predict(request(3, 3))).rejects.toMatchObject({ statusCode: 503 });
    batches[0].go();
    await settle();
    batches[1].go();
    expect(await Promise.all(accepted)).toHaveLength(3);
    expect(batcher.counts).toMatchObject({ answered: 3, refused: 1 });
  });
});

describe('a failure', () => {
  it('of one sample fails the request of that client alone', async () => {
    const predict = async ({ tensors, parts }: ServeRequest) => {
      if ((tensors[0].values as Float32Array).includes(9)) throw new RequestError(400, '9 does not fit');
      return predicted(tensors, parts);
    };
    const batcher = new Batcher(predict, { maxBatch: 4, maxDelayMs: 60_000, maxQueue: 8 });
    const answers = [1, 9, 2].map((value) => means(batcher.predict(request(value, 0))));
    batcher.hurry();
    const found = await Promise.allSettled(answers);
    expect(found.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    expect(found[2]).toMatchObject({ value: [2] });
  });

  it('of the models fails every request of the batch', async () => {
    const { batches, batcher } = held();
    const first = batcher.predict(request(0, 0));
    const answers = [1, 2].map((value) => batcher.predict(request(value, 0)));
    batches[0].go();
    await first;
    await settle();
    batches[1].fail(new RequestError(503, 'it died'));
    for (const answer of answers) await expect(answer).rejects.toThrow('it died');
    expect(batches).toHaveLength(2);
    expect(batcher.counts).toMatchObject({ answered: 1, failed: 2 });
  });
});
