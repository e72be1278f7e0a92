import { beforeAll, describe, expect, it } from 'vitest';
import { type RunConfigInput, runConfigSchema } from '../../../core/protocol/run/config.ts';
import { samplesPerStep } from '../../../core/protocol/run/strategies/strategy-rules.ts';
import { startBackend } from '../../../workers/backends/backend.ts';
import { createSampler, type SamplerOptions } from '../../../workers/data/samplers.ts';
import { noteOnEqualMembers, noteOnSingleSamples } from '../../../workers/session/preparation/notes-on-start.ts';
import { tf, type LayersModel } from '../../../workers/tensorflow/tf.ts';

beforeAll(async () => void (await startBackend('cpu')));

const { layers } = tf;

function normalized(options: { trainable?: boolean } = {}): LayersModel {
  const inner = tf.sequential({
    layers: [
      layers.dense({ units: 4, inputShape: [2] }),
      layers.batchNormalization({ name: 'normal', momentum: 0.9, ...options }),
    ],
  });
  return tf.sequential({ layers: [inner, layers.dense({ units: 2 })] });
}

function noteFor(
  length: number,
  config: RunConfigInput,
  { model = normalized(), kind = 'shuffled' }: { model?: LayersModel; kind?: SamplerOptions['kind'] } = {},
): string | null {
  const parsed = runConfigSchema.parse({ members: 2, batchSize: 64, ...config });
  const { dropLast } = parsed;
  const about = { kind, length, batchSize: samplesPerStep(parsed), dropLast, seed: 1, sharedSeed: 1, worldSize: 2 };
  return noteOnSingleSamples(parsed, model, () => [0, 1].map((rank) => createSampler({ ...about, rank })));
}

describe('the note on single samples', () => {
  it('names the remedy and the share of the variance', () => {
    const note = noteFor(65, {});
    expect(note).toContain('--drop-last');
    // v = m (m v + (1 - m)) has the solution m / (1 + m) = 0.474 for m = 0.9.
    expect(note).toContain('47 %');
    // With 3 batches m (1 - m²) / (1 - m³) = 0.631.
    expect(noteFor(129, {})).toContain('63 %');
  });

  it('is absent where no part is a single sample', () => {
    expect(noteFor(65, { dropLast: true })).toBeNull();
    expect(noteFor(64, {})).toBeNull();
    expect(noteFor(66, {})).toBeNull();
    expect(noteFor(65, {}, { model: normalized({ trainable: false }) })).toBeNull();
    expect(
      noteFor(65, {}, { model: tf.sequential({ layers: [layers.dense({ units: 2, inputShape: [2] })] }) }),
    ).toBeNull();
  });

  it('is absent for images, of which one sample has many values of a channel', () => {
    const model = tf.sequential({ layers: [layers.batchNormalization({ inputShape: [4, 4, 3] })] });
    expect(noteFor(65, {}, { model })).toBeNull();
  });

  it('looks at all ranks of an uneven split, and at the parts of an accumulated batch', () => {
    // 131 = 66 + 65 samples.
    expect(noteFor(131, {}, { kind: 'sharded-uneven' })).toContain('--drop-last');
    expect(noteFor(193, { strategy: { kind: 'data-parallel', accumulate: 2 } })).toContain('--drop-last');
  });

  it('says that every step computes with single samples', () => {
    expect(noteFor(30, { batchSize: 1 })).toContain('Raise batchSize');
    // Micro-batches of ceil(9 / 8) = 2 samples leave one.
    expect(noteFor(27, { batchSize: 9, strategy: { kind: 'pipeline', microBatches: 8 } })).toContain('Raise batchSize');
  });
});

describe('the note on equal members', () => {
  const noteOf = (digests: readonly number[], config: RunConfigInput = {}): string | null =>
    noteOnEqualMembers(
      runConfigSchema.parse({ members: digests.length, ...config }),
      digests.map((_, rank) => rank),
      digests.map((digest) => Uint8Array.of(digest)),
    );

  it('names the members, the cause and the remedy', () => {
    expect(noteOf([7, 7, 7])).toMatch(/^Members 0, 1, 2 start with the same weights: their initializers .*Leave out/);
    expect(noteOf([7, 8, 7, 8])).toContain('Members 0, 2 and members 1, 3 start');
    expect(noteOf([7, 8, 9])).toBeNull();
  });

  it('blames a common checkpoint', () => {
    const note = noteOf([7, 7], { warmStart: { checkpoint: '/base/final.safetensors' } });
    expect(note).toContain('all start from /base/final.safetensors');
    expect(note).toContain('--warm-start.noise');
  });

  it('compares whole pipelines, of which one stage alone may be equal', () => {
    const strategy = { kind: 'pipeline', stages: 2 } as const;
    expect(noteOf([1, 1, 2, 3], { strategy })).toBeNull();
    expect(noteOf([1, 1, 2, 2], { strategy })).toContain('start with the same weights');
  });
});
