import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, expect, it } from 'vitest';
import type { Postprocessing } from '../../../core/postprocessing/schema.ts';
import { exportRun } from '../../../src-main/export/export-run.ts';
import { startBackend } from '../../../workers/backends/backend.ts';
import { openEnsemble } from '../../../workers/index.ts';
import { tf, type LayersModel } from '../../../workers/tensorflow/tf.ts';
import { runWithModels } from '../inference/run-with-models.ts';
import { temporaryFolder } from '../store/fixtures.ts';
import { runOnnx } from './run-onnx.ts';

beforeAll(() => startBackend('cpu'));

/** A classifier of small images with weights from a seed. */
function classifier(seed: number): LayersModel {
  const model = tf.sequential({
    layers: [
      tf.layers.conv2d({
        filters: 3,
        kernelSize: 2,
        strides: 2,
        padding: 'same',
        activation: 'relu',
        inputShape: [5, 4, 1],
      }),
      tf.layers.batchNormalization(),
      tf.layers.flatten(),
      tf.layers.dense({ units: 3 }),
    ],
  });
  const isVariance = (name: string): boolean => name.includes('variance');
  model.setWeights(
    model.weights.map(({ shape, originalName }, i) => {
      const values = tf.randomNormal(shape as number[], 0, 0.7, 'float32', 10 * seed + i);
      return isVariance(originalName) ? tf.add(tf.abs(values), 0.5) : values;
    }),
  );
  return model;
}

const images = (samples: number): Uint8Array => Uint8Array.from({ length: 20 * samples }, (_, i) => (i * 37) % 256);

it('writes a run as an ONNX file with the predictions of the opened ensemble', async () => {
  const folder = await runWithModels([classifier(1), classifier(2), classifier(3)], {
    task: 'classification',
    preprocessing: {
      format: 1,
      steps: [
        { kind: 'images', height: 5, width: 4, channels: 1, fit: 'cover' },
        { kind: 'standardize', mean: [0.4], std: [0.2] },
      ],
    },
  });
  const to = join(await temporaryFolder(), 'exported');
  const report = await exportRun(folder, { to, zip: false, formats: ['onnx'] });
  expect(report.paths).toEqual(['preprocessing.json', 'onnx/ensemble.onnx']);
  const values = images(7);
  const ensemble = await openEnsemble(folder);
  const expected = await ensemble.predict({ values });
  if (expected.kind !== 'classes') throw new Error('Classes were expected.');
  const found = await runOnnx(await readFile(join(to, 'onnx/ensemble.onnx')), {
    images: { shape: [7, 5, 4, 1], data: values },
  });
  const largest = (a: ArrayLike<number>, b: ArrayLike<number>): number =>
    Math.max(...Array.from(a, (value, i) => Math.abs(value - b[i])));
  expect(found.mean.shape).toEqual([7, 3]);
  expect(largest(found.mean.data, expected.mean)).toBeLessThan(1e-5);
  expect(largest(found.entropy.data, expected.entropy)).toBeLessThan(1e-5);
  expect(largest(found.mutual_information.data, expected.mutualInformation)).toBeLessThan(1e-5);
  // Members come after the samples: [N, M, K] in the file, [M, N, K] in the library.
  const members = tf.transpose(tf.tensor3d(found.members.data, [7, 3, 3]), [1, 0, 2]).dataSync();
  expect(largest(members, expected.members)).toBeLessThan(1e-5);
  ensemble.dispose();
});

it('bakes in the temperature that was fitted for the set', async () => {
  const folder = await runWithModels([classifier(1)], { task: 'classification', set: 'final' });
  const fitted: Postprocessing = {
    format: 1,
    task: 'classification',
    set: { name: 'final', members: [{ rank: 0, checkpoint: 'final', epoch: 3 }] },
    classNames: null,
    targetNames: null,
    combination: 'mean',
    judged: null,
    fittedOn: { split: 'validation', samples: 10, parts: null },
    calibration: { method: 'pooled-temperature', temperature: 2 },
    conformal: null,
    outside: null,
    selective: null,
    measured: null,
  };
  await mkdir(join(folder, 'postprocessing'));
  await writeFile(join(folder, 'postprocessing/final.json'), JSON.stringify(fitted));
  const to = join(await temporaryFolder(), 'exported');
  await exportRun(folder, { to, zip: false, formats: ['onnx'], set: 'final' });
  const data = Float32Array.from(images(1), (value) => value / 100);
  const { mean, members } = await runOnnx(await readFile(join(to, 'onnx/ensemble.onnx')), {
    features: { shape: [1, 5, 4, 1], data },
  });
  const roots = members.data.map(Math.sqrt);
  const sum = roots.reduce((total, value) => total + value, 0);
  expect(mean.data).toHaveLength(3);
  mean.data.forEach((value, k) => expect(value).toBeCloseTo(roots[k] / sum, 5));
});
