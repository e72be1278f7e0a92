import { expect } from 'vitest';
import type { EnsembleDescription } from '../../../core/ensemble/schema.ts';
import type { Calibration } from '../../../core/postprocessing/schema.ts';
import type { Preprocessing } from '../../../core/preprocessing/schema.ts';
import { OnnxEnsembleWriter } from '../../../workers/onnx/ensemble-file.ts';
import { type LayersModel, tf } from '../../../workers/tensorflow/tf.ts';

const unused = { model: 'm', weights: 'w', bytes: 1, sha256: '' };

/** What the file says of an ensemble. */
export const about = (task: EnsembleDescription['task'], members = 2): EnsembleDescription => ({
  name: 'a run',
  run: 'run-1',
  set: 'final',
  task,
  combination: 'mean',
  classNames: null,
  quantiles: null,
  outputs: [],
  members: Array.from({ length: members }, (_, rank) => ({ rank, epoch: 0, step: 1, ...unused })),
  format: 1,
  preprocessing: null,
  postprocessing: null,
});

/** A model whose outputs are its inputs times a factor. */
export function scaledBy(factor: number, width: number): LayersModel {
  const kernel = tf.mul(tf.eye(width), factor);
  const layer = tf.layers.dense({ units: width, useBias: false, inputShape: [width] });
  const model = tf.sequential({ layers: [layer] });
  layer.setWeights([kernel]);
  return model;
}

/** The file of an ensemble, which has one part. */
export function fileOf(
  ensemble: EnsembleDescription,
  models: readonly LayersModel[],
  preprocessing: Preprocessing | null = null,
  calibration: Calibration | null = null,
) {
  const writer = new OnnxEnsembleWriter(ensemble, preprocessing, calibration);
  for (const model of models) writer.add(model);
  return writer.finish('1.2.3')[0].content as Uint8Array;
}

/** Gives a model weights from a seed. */
export function seeded(model: LayersModel): LayersModel {
  model.setWeights(model.weights.map(({ shape }, i) => tf.randomNormal(shape as number[], 0, 0.5, 'float32', i + 1)));
  return model;
}

/** Compares within 1e-5. */
export function expectClose(found: Iterable<number>, expected: Iterable<number>): void {
  const others = [...expected];
  const largest = Math.max(...[...found].map((value, i) => Math.abs(value - others[i])));
  expect([...found]).toHaveLength(others.length);
  expect(largest).toBeLessThan(1e-5);
}

/** To five decimals, and 0 in place of −0. */
export const rounded = (values: Iterable<number>): number[] =>
  [...values].map((value) => Math.round(value * 1e5) / 1e5 + 0);
