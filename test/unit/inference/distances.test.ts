import { createHash } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { type DistanceScore, fitReference, type Reference } from '../../../core/postprocessing/outside/distances.ts';
import { encodeReferences } from '../../../core/postprocessing/outside/reference-file.ts';
import { type Postprocessing, postprocessingPath, referencePath } from '../../../core/postprocessing/schema.ts';
import { toJson } from '../../../core/protocol/wire/numbers.ts';
import { exportRun } from '../../../src-main/export/export-run.ts';
import { startBackend } from '../../../workers/backends/backend.ts';
import { createDataset } from '../../../workers/data/dataset.ts';
import { openEnsemble } from '../../../workers/index.ts';
import { NoDistanceError, predictFeatures, preparedInputs, withFeatures } from '../../../workers/inference/features.ts';
import { distancesTo, fitPossibleReferences } from '../../../workers/postprocessing/training-distances.ts';
import { type LayersModel, type SymbolicTensor, tf } from '../../../workers/tensorflow/tf.ts';
import { temporaryFolder } from '../store/fixtures.ts';
import { runWithModels } from './run-with-models.ts';

beforeAll(() => startBackend('cpu'));

/** The features are the inputs times a factor, and the output their sum. */
function timesThenSum(factor: number): LayersModel {
  const model = tf.sequential({
    layers: [
      tf.layers.dense({ units: 2, useBias: false, inputShape: [2] }),
      tf.layers.dense({ units: 1, useBias: false }),
      tf.layers.activation({ activation: 'linear' }),
    ],
  });
  model.setWeights([tf.tensor2d([factor, 0, 0, factor], [2, 2]), tf.tensor2d([1, 1], [2, 1])]);
  return model;
}

const factors = [1, 3];
const training = Float32Array.of(0, 0, 2, 0, 0, 4, 2, 4);

/** A run of two members with a score that was fitted for it. */
async function runWith(score: DistanceScore, references: readonly Reference[], change: { sha256?: string } = {}) {
  const folder = await runWithModels(factors.map(timesThenSum), { task: 'regression' });
  const content = encodeReferences(references);
  const sha256 = createHash('sha256').update(content).digest('hex');
  const path = referencePath('ensemble-best', sha256);
  const { members } = (await openEnsemble(folder)).description;
  const fitted: Postprocessing = {
    format: 1,
    task: 'regression',
    set: {
      name: 'ensemble-best',
      members: members.map(({ rank, epoch }) => ({ rank, epoch, checkpoint: 'ensemble-best' })),
    },
    classNames: null,
    targetNames: null,
    combination: 'mean',
    judged: null,
    fittedOn: { split: 'validation', samples: 4, parts: null },
    calibration: null,
    conformal: null,
    outside: {
      score,
      threshold: 2.5,
      quantile: 0.95,
      others: [],
      reference: { path, bytes: content.byteLength, sha256, ...change },
    },
    selective: null,
    measured: null,
  };
  await mkdir(join(folder, 'postprocessing'));
  await writeFile(join(folder, path), content);
  await writeFile(join(folder, postprocessingPath('ensemble-best')), toJson(fitted));
  return folder;
}

const scaled = (factor: number) => training.map((value) => factor * value);

describe('an ensemble with distances to the training samples', () => {
  it('says how far new samples are, by the features of each member', async () => {
    const references = factors.map((factor) => fitReference('mahalanobis', scaled(factor), 2, null));
    const folder = await runWith('mahalanobis', references);
    const into = await temporaryFolder();
    await exportRun(folder, { to: join(into, 'taken'), zip: false, formats: ['ensemble'] });
    for (const place of [folder, join(into, 'taken')]) {
      const ensemble = await openEnsemble(place);
      // The samples' means are 1 and 2, their deviations 1 and 2, without correlation: lengths do not depend on the
      // factor.
      const found = await ensemble.predict({ prepared: Float32Array.of(1, 2, 1, 6, 4, 2) });
      expect([...found.mean]).toEqual([6, 14, 12]);
      const { outsideScores, isOutside } = found.judgement ?? {};
      [0, 2, 3].forEach((distance, i) => expect(outsideScores?.[i]).toBeCloseTo(distance, 5));
      expect([...(isOutside ?? [])]).toEqual([0, 0, 1]);
      ensemble.dispose();
    }
  });

  it('measures inputs once for all members', async () => {
    const ensemble = await openEnsemble(await runWith('input-knn', [fitReference('input-knn', training, 2, null)]));
    const { judgement } = await ensemble.predict({ prepared: Float32Array.of(1, 2, 9, 9) });
    // Four samples, all of which are √2 deviations away from the first.
    expect(judgement?.outsideScores?.[0]).toBeCloseTo(Math.SQRT2, 6);
    expect([...(judgement?.isOutside ?? [])]).toEqual([0, 1]);
  });

  it('is refused where the reference is missing, damaged or of other members', async () => {
    const one = [fitReference('knn', training, 2, null)];
    await expect(runWith('knn', one).then((folder) => openEnsemble(folder))).rejects.toThrow('is for 1 members, not 2');
    const damaged = await runWith('input-knn', one, { sha256: '0'.repeat(64) });
    await expect(openEnsemble(damaged)).rejects.toThrow('was damaged or changed');
  });
});

describe('what distances look at', () => {
  const dataset = createDataset({
    name: 'pairs',
    featureShape: [2],
    features: training,
    targets: Float32Array.of(1, 2, 3, 4),
    normalization: { mean: [1, 2], std: [1, 2] },
  });

  it('are inputs as the model takes them, and what enters the last layer with weights', async () => {
    const model = timesThenSum(3);
    const standardized = [-1, -1, 1, -1, -1, 1, 1, 1];
    const inputs = await preparedInputs(model, dataset);
    expect([[...inputs.values], inputs.size]).toEqual([standardized, 2]);
    const features = await predictFeatures(withFeatures(model), dataset);
    expect([[...features.values], features.size]).toEqual([standardized.map((value) => 3 * value), 2]);
  });

  it('are averaged over pixels, and one for each step of a sequence', async () => {
    const images = createDataset({
      name: 'images',
      featureShape: [2, 2, 1],
      features: Float32Array.of(1, 2, 3, 6),
      targets: Float32Array.of(0),
    });
    const convolution = tf.sequential({
      layers: [
        tf.layers.conv2d({ filters: 1, kernelSize: 1, inputShape: [2, 2, 1], kernelInitializer: 'ones' }),
        tf.layers.conv2d({ filters: 3, kernelSize: 1 }),
        tf.layers.globalAveragePooling2d({ dataFormat: 'channelsLast' }),
      ],
    });
    expect(await predictFeatures(withFeatures(convolution), images)).toEqual({ values: Float32Array.of(3), size: 1 });
    const steps = { ...dataset, featureShape: [2, 1], length: 4, normalization: undefined };
    const sequence = tf.sequential({ layers: [tf.layers.dense({ units: 3, inputShape: [2, 1] })] });
    expect(await predictFeatures(withFeatures(sequence), steps)).toEqual({ values: training, size: 1 });
    expect(await preparedInputs(sequence, steps)).toEqual({ values: training, size: 1 });
  });

  it('exist only for some models: others are left out unless they were asked for', async () => {
    const ids = tf.sequential({
      layers: [
        tf.layers.embedding({ inputDim: 5, outputDim: 2, inputLength: 2 }),
        tf.layers.flatten(),
        tf.layers.dense({ units: 1 }),
      ],
    });
    await expect(preparedInputs(ids, dataset)).rejects.toThrow(NoDistanceError);
    const whole = { ...dataset, normalization: undefined };
    const models = () =>
      (async function* () {
        yield await Promise.resolve(ids);
      })();
    const references = await fitPossibleReferences(['knn', 'input-knn'], whole, models, 'regression');
    expect([...references.keys()]).toEqual(['knn']);
    const { knn } = await distancesTo(references, whole, models, Int32Array.of(2, 0));
    expect(knn).toHaveLength(2);
    const inputs = [tf.input({ shape: [2] }), tf.input({ shape: [2] })];
    const sum = tf.model({ inputs, outputs: tf.layers.add().apply(inputs) as SymbolicTensor });
    expect(() => withFeatures(sum)).toThrow('no values before a last layer');
  });
});
