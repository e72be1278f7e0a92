import { describe, expect, it } from 'vitest';
import { type RunConfigInput, runConfigSchema } from '../../../../core/protocol/run/config.ts';
import { ownBatches } from '../../../../workers/data/batches.ts';
import { createDataset, createSplits, type Dataset, subset, take } from '../../../../workers/data/dataset.ts';
import { createSampler } from '../../../../workers/data/samplers.ts';
import { decodeSplits, encodeSplits } from '../../../../workers/data/share.ts';
import { openBatches } from '../../../../workers/data/streams/open-batches.ts';
import { requireStreamable } from '../../../../workers/session/preparation/require-usable-data.ts';
import { createStreamDataset, type StreamOptions } from '../../../../workers/data/streams/source-dataset.ts';
import type { StreamContext } from '../../../../workers/data/streams/sources.ts';
import { standardize } from '../../../../workers/data/standardize.ts';

/** Ten samples of two bytes. */
const inMemory = createDataset({
  name: 'bytes',
  featureShape: [2],
  features: Uint8Array.from({ length: 20 }, (_, i) => i),
  targets: Int32Array.from({ length: 10 }, (_, i) => i % 3),
  classCount: 3,
  weights: Float32Array.from({ length: 10 }, (_, i) => i),
  normalization: { mean: [0.5], std: [0.25] },
});

interface Watched {
  opened: StreamContext[];
  given: number;
  closed: number;
}

/** The same as a stream, in parts of these sizes, from epoch to epoch one sample further. */
function streamed(
  sizes: readonly number[],
  watched: Watched = { opened: [], given: 0, closed: 0 },
  more?: Partial<StreamOptions>,
): Dataset {
  const { name, featureShape, classCount, normalization } = inMemory;
  return createStreamDataset({
    name,
    featureShape,
    classCount,
    normalization,
    length: 10,
    type: 'uint8',
    async *batches(context) {
      watched.opened.push(context);
      let at = 0;
      try {
        for (const size of sizes) {
          const rows = Int32Array.from({ length: size }, (_, i) => (at + i + context.epoch) % 10);
          at += size;
          watched.given = at;
          const { features, targets, weights } = subset(inMemory, rows);
          yield { features, targets, weights };
        }
      } finally {
        watched.closed++;
      }
    },
    ...more,
  });
}

const sampler = createSampler({
  kind: 'sequential',
  length: 10,
  batchSize: 3,
  dropLast: false,
  seed: 4,
  sharedSeed: 4,
  rank: 0,
  worldSize: 1,
});
const positions = [0, 1].flatMap((epoch) =>
  [...sampler.batches(epoch)].map((indices, batch) => ({ indices, at: { epoch, batch, step: 4 * epoch + batch } })),
);

describe('batches of a stream', () => {
  it.each([[[4, 4, 4]], [[1, 1, 1, 1, 1, 1, 1, 1, 1, 1]], [[10]], [[2, 7, 50]]])(
    'have their own size where the stream gives %j samples at a time, also after a resume',
    async (sizes) => {
      const own = ownBatches(inMemory);
      for (const from of [0, 2, 3, 5]) {
        const batches = openBatches(streamed(sizes), { seed: 7, rank: 1 });
        for (const { indices, at } of positions.slice(from)) {
          const rows = indices.map((index) => (index + at.epoch) % 10);
          expect(await batches.batch(indices, at)).toEqual(own.batch(rows));
        }
      }
    },
  );

  it('are decoded ahead, three at most, by a stream that is opened once an epoch and closed', async () => {
    const watched: Watched = { opened: [], given: 0, closed: 0 };
    const batches = openBatches(streamed([1, 1, 1, 1, 1, 1, 1, 1, 1, 1], watched, { length: 10 }), {
      seed: 7,
      rank: 1,
    });
    const small = createSampler({
      kind: 'sequential',
      length: 10,
      batchSize: 1,
      dropLast: false,
      seed: 4,
      sharedSeed: 4,
      rank: 0,
      worldSize: 1,
    });
    const [first, ...others] = [...small.batches(0)];
    await batches.batch(first, { epoch: 0, batch: 0, step: 0 });
    await new Promise(setImmediate);
    expect(watched.given).toBe(4);
    for (const [i, indices] of others.entries()) await batches.batch(indices, { epoch: 0, batch: i + 1, step: i + 1 });
    await batches.batch(first, { epoch: 1, batch: 0, step: 10 });
    expect(watched).toMatchObject({
      opened: [
        { epoch: 0, seed: 7, rank: 1 },
        { epoch: 1, seed: 7, rank: 1 },
      ],
      closed: 1,
    });
  });

  it('may come from an array of parts, and from an endless generator', async () => {
    const { features, targets } = inMemory;
    const array = createStreamDataset({
      name: 'parts',
      featureShape: [2],
      classCount: 3,
      length: 10,
      type: 'uint8',
      batches: () => [{ features, targets }],
    });
    const [{ indices, at }] = positions;
    expect((await openBatches(array).batch(indices, at)).targets).toEqual(targets.slice(0, 3));
    const endless = openBatches(streamed(Array.from({ length: 1000 }, () => 3)));
    for (const { indices: own, at: place } of positions) await endless.batch(own, place);
  });

  const failure = async (sizes: readonly number[], more?: Partial<StreamOptions>): Promise<string> => {
    const batches = openBatches(streamed(sizes, undefined, more));
    try {
      for (const { indices, at } of positions) await batches.batch(indices, at);
    } catch (error) {
      return (error as Error).message;
    }
    return 'trained';
  };

  it('report what does not fit', async () => {
    expect(await failure([4, 4])).toContain(
      'The stream of "bytes" ended after 8 samples of epoch 1, but an epoch has 10.',
    );
    const values = { features: new Float32Array(2), targets: Int32Array.of(0) };
    expect(await failure([], { batches: () => [values] })).toContain(
      'gave 2 features (Float32Array) and 1 targets (Int32Array)',
    );
    const label = { features: new Uint8Array(2), targets: Int32Array.of(3) };
    expect(await failure([], { batches: () => [label] })).toContain('Data set "bytes"');
    const part = { features: new Uint8Array(2), targets: Int32Array.of(1) };
    const weighted = { ...part, weights: Float32Array.of(1) };
    expect(await failure([], { batches: () => [part, weighted, weighted] })).toContain(
      'has weights for some samples only',
    );
  });
});

describe('a data set that is a stream', () => {
  it('is refused where single samples are needed', () => {
    const train = streamed([10]);
    for (const use of [() => take(train, 2), () => subset(train, Int32Array.of(1)), () => standardize({ train })]) {
      expect(use).toThrow('The samples of "bytes" come as a stream');
    }
    const check = (config: RunConfigInput) => () => requireStreamable(runConfigSchema.parse(config), { train });
    expect(check({ strategy: { kind: 'joint' } })).not.toThrow();
    expect(check({ strategy: { kind: 'data-parallel' } })).toThrow(
      'as the strategy data-parallel, whose ranks train one model',
    );
    expect(check({ data: { bagging: true } })).toThrow('as --data.bagging needs it');
    expect(check({ data: { holdOut: 0.1 } })).toThrow('as samples that ranks hold out');
    expect(check({ sampler: 'sharded' })).toThrow('as --sampler sharded needs it');
    const twice = () => requireStreamable(runConfigSchema.parse({}), { train: inMemory, test: train });
    expect(twice).toThrow('"bytes" is a stream, which only the training split can be');
  });

  it('is opened by each process itself', () => {
    const bytes = Buffer.concat(encodeSplits(createSplits({ train: streamed([10]), test: inMemory })));
    const { train } = decodeSplits(Buffer.from(new Uint8Array(bytes).buffer), 'data.bin');
    expect([train.length, train.stream?.length]).toEqual([10, 10]);
    expect(() => train.stream?.open({ epoch: 0, seed: 0, rank: 0 })).toThrow('this process has not opened it');
  });
});
