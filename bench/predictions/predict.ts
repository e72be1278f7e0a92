import type { EnsembleDescription } from '../../core/ensemble/schema.ts';
import type { Preprocessing } from '../../core/preprocessing/schema.ts';
import { startBackend } from '../../workers/backends/backend.ts';
import { Ensemble } from '../../workers/inference/ensemble.ts';
import { predictFile } from '../../workers/inference/predict-file.ts';
import type { WriteOptions } from '../../workers/inference/write-predictions.ts';
import { type LayersModel, tf, type Tensor } from '../../workers/tensorflow/tf.ts';

/**
 * Predicts the rows of a CSV with an ensemble of MLPs, next to the forward passes alone on the same number of rows in
 * memory: `<csv> <output> <csv | jsonl | parquet> <units> <rows> <rounds>`. Prints the milliseconds of each round and
 * the largest resident memory as JSON.
 */

const [input, output, format, units, rowCount, roundCount] = process.argv.slice(2);
const [features, members, forwardBatch] = [8, 8, 4096];
const rows = Number(rowCount);

await startBackend('wasm');
const models = Array.from({ length: members }, () => multilayerPerceptron(Number(units)));
const ensemble = new Ensemble(describe(), models, { preprocessing: preprocessing() });
const samples = Float32Array.from({ length: forwardBatch * features }, (_, i) => Math.sin(i));
const rounds: { forwardMs: number; predictMs: number }[] = [];
// The first round warms up.
for (let round = 0; round <= Number(roundCount); round++) {
  const forwardMs = await timed(forwardPasses);
  const predictMs = await timed(() =>
    predictFile(ensemble, { input, output, format: format as WriteOptions['format'], withMembers: false }),
  );
  if (round > 0) rounds.push({ forwardMs, predictMs });
}
// In KiB.
const residentBytes = process.resourceUsage().maxRSS * 1024;
console.log(JSON.stringify({ rounds, residentBytes }));

async function timed(work: () => Promise<unknown>): Promise<number> {
  const startMs = performance.now();
  await work();
  return performance.now() - startMs;
}

/** All members' outputs, read back. */
async function forwardPasses(): Promise<void> {
  for (let first = 0; first < rows; first += forwardBatch) {
    const count = Math.min(forwardBatch, rows - first);
    for (const model of models) {
      const predicted = tf.tidy(() =>
        model.predict(tf.tensor2d(samples.subarray(0, count * features), [count, features]), { batchSize: count }),
      ) as Tensor;
      await predicted.data();
      predicted.dispose();
    }
  }
}

function multilayerPerceptron(hidden: number): LayersModel {
  const layers = [
    tf.layers.dense({ units: hidden, activation: 'relu', inputShape: [features] }),
    tf.layers.dense({ units: hidden, activation: 'relu' }),
    tf.layers.dense({ units: 1 }),
  ];
  return tf.sequential({ layers });
}

function describe(): EnsembleDescription {
  const file = { model: 'model.json', weights: 'weights.safetensors', bytes: 1, sha256: '0'.repeat(64) };
  return {
    format: 1,
    name: 'bench',
    run: 'bench',
    set: 'final',
    task: 'regression',
    combination: 'mean',
    classNames: null,
    quantiles: null,
    outputs: [],
    members: models.map((_, rank) => ({ rank, epoch: 0, step: 0, ...file })),
    preprocessing: 'preprocessing.json',
    postprocessing: null,
  };
}

function preprocessing(): Preprocessing {
  const columns = Array.from({ length: features }, (_, i) => ({
    name: `x${i}`,
    type: 'number' as const,
    impute: null,
    mean: 0.1,
    std: 5.7,
    smallest: -10,
    largest: 10,
  }));
  return {
    format: 1,
    steps: [{ kind: 'table', columns }],
    target: { kind: 'values', columns: ['y'], mean: [3], std: [2] },
  };
}
