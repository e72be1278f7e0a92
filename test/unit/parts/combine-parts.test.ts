import { cp, mkdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { runConfigSchema } from '../../../core/protocol/run/config.ts';
import { type CombineTask, combineTaskSchema } from '../../../core/protocol/run/checkpoint-tasks.ts';
import type { NamedTensor } from '../../../core/safetensors/safetensors.ts';
import { createRunFolder } from '../../../src-main/store/runs/run-folder.ts';
import { startBackend } from '../../../workers/backends/backend.ts';
import { readCheckpoint, saveCheckpoint } from '../../../workers/checkpoints/checkpoint-store.ts';
import { readWeights } from '../../../workers/member/weights.ts';
import { type Dataset, take } from '../../../workers/data/dataset.ts';
import { openEnsemble } from '../../../workers/index.ts';
import { RunFiles } from '../../../workers/member/run-files.ts';
import { combineParts } from '../../../workers/parts/combine-parts.ts';
import { sampledTopology } from '../../../workers/parts/draft-members.ts';
import { noiseOf, sampleWeights, Trajectory } from '../../../workers/parts/swag.ts';
import { RunModels } from '../../../workers/project/rebuild-model.ts';
import { Generator } from '../../../workers/random/index.ts';
import { type LayersModel, tf } from '../../../workers/tensorflow/tf.ts';
import { modelFromTopology, topologyOf } from '../../../workers/tensorflow/topology.ts';
import { runWithModels } from '../inference/run-with-models.ts';
import { temporaryFolder } from '../store/fixtures.ts';
import { runRecord } from '../store/records.ts';

beforeAll(() => startBackend('cpu'));

/** Logits W x + b for three classes of points in the plane. */
function classifier(weights: number[], bias: number[], units = 3): LayersModel {
  const model = tf.sequential({ layers: [tf.layers.dense({ units, inputShape: [2] })] });
  model.setWeights([tf.tensor2d(weights, [2, units]), tf.tensor1d(bias)]);
  return model;
}

const right = () => classifier([1, 0, -1, 0, 1, 0], [0, 0, 0]);
const wrong = () => classifier([-3, 2, 1, 4, -2, 0], [5, 0, -5]);

function sourceOf(runFolder: string) {
  return {
    id: 'run-1',
    runFolder,
    projectFolder: resolve('test/integration/projects/blobs'),
    projectRefusal: null,
    task: 'classification',
    sourceChange: null,
    sourceFolder: null,
    dataFolders: { lookup: null, cache: runFolder },
    config: runConfigSchema.parse({ hyperparameters: { samples: 60 } }),
  };
}

async function validationOf(folder: string): Promise<Dataset> {
  const { data } = await new RunModels(sourceOf(folder)).project();
  if (data.validation === undefined) throw new Error('The project has a validation split.');
  return data.validation;
}

/** A run whose kept targets are those of the project's data. */
async function run(models: LayersModel[], change = (validation: Dataset) => validation): Promise<string> {
  const folder = await runWithModels(models, { task: 'classification' });
  const validation = change(await validationOf(folder));
  await new RunFiles(folder, 0).saveTargets({ train: validation, validation });
  return folder;
}

async function request(folder: string, ranks: number, changes: Partial<CombineTask>): Promise<CombineTask> {
  const into = join(await temporaryFolder(), 'new');
  await mkdir(into);
  return combineTaskSchema.parse({
    runs: [sourceOf(folder)],
    candidates: Array.from({ length: ranks }, (_, rank) => ({ run: 0, rank, name: 'ensemble-best' })),
    method: 'greedy',
    rounds: 5,
    tolerance: 0,
    samples: 3,
    deviations: 20,
    set: 'ensemble-best',
    into,
    blas: null,
    ...changes,
  });
}

/** What the new folder predicts once it has a record. */
async function meanOf({ into }: CombineTask, members: number, prepared: Float32Array): Promise<ArrayLike<number>> {
  const device = { id: 'cpu:0', kind: 'cpu' as const, index: 0, name: '', ...nothingKnown };
  const plan = Array.from({ length: members }, (_, rank) => ({ rank, wave: 0, device }));
  const record = runRecord({ status: 'finished', task: 'classification', plan });
  const folder = join(await temporaryFolder(), 'run');
  await createRunFolder(folder, record);
  for (const entry of ['checkpoints', 'models']) await cp(join(into, entry), join(folder, entry), { recursive: true });
  const ensemble = await openEnsemble(folder);
  const { mean } = await ensemble.predict({ prepared });
  ensemble.dispose();
  return mean;
}
const nothingKnown = { memoryTotalBytes: null, memoryUsedBytes: null, load: null, processCount: null };

function probabilities(models: LayersModel[], prepared: Float32Array): number[] {
  const inputs = tf.tensor2d(prepared, [prepared.length / 2, 2]);
  const each = models.map((model) => [
    ...tf.softmax(model.predict(inputs) as ReturnType<typeof tf.tensor2d>).dataSync(),
  ]);
  return each[0].map((_, i) => each.reduce((sum, own) => sum + own[i] / models.length, 0));
}

/** Normalizes its inputs, by running statistics that are all `scale`. */
function normalized(scale: number): LayersModel {
  const model = tf.sequential({
    layers: [
      tf.layers.batchNormalization({ inputShape: [2] }),
      tf.layers.dense({ units: 3, kernelInitializer: tf.initializers.randomNormal({ seed: 1 }) }),
    ],
  });
  const [norm] = model.layers;
  norm.setWeights([tf.ones([2]), tf.zeros([2]), tf.tensor1d([scale, scale]), tf.tensor1d([scale, scale])]);
  return model;
}

/** The running mean among the weights of {@link normalized}. */
function movingMean(tensors: readonly NamedTensor[]): number[] {
  return Array.from(tensors.find(({ name }) => name.endsWith('moving_mean'))?.data ?? [], Number);
}

/** Mean of the training split's inputs, as the model takes them. */
async function trainingMeans(folder: string): Promise<number[]> {
  const { data } = await new RunModels(sourceOf(folder)).project();
  const { features, length, normalization } = data.train;
  const sums = [0, 0];
  features.forEach((value, i) => (sums[i % 2] += value / length));
  return sums.map((mean, c) => (mean - (normalization?.mean[c] ?? 0)) / (normalization?.std[c] ?? 1));
}

const points = Float32Array.of(0.5, 1, -2, 0.25, 3, -1);

function expectClose(found: ArrayLike<number>, expected: ArrayLike<number>, digits = 6): void {
  expect(found).toHaveLength(expected.length);
  Array.from(expected).forEach((value, i) => expect(found[i]).toBeCloseTo(value, digits));
}

describe('an ensemble from parts', () => {
  it('of snapshots predicts the mean of what they predict, and keeps their predictions', async () => {
    const models = [right(), wrong()];
    const task = await request(await run(models), 2, { method: 'snapshots' });
    const { members, evaluated, losses, validation } = await combineParts(task);
    expect(members).toEqual([[0], [1]]);
    expect(evaluated).toMatchObject({ set: 'ensemble-best', split: 'test', ranks: [0, 1], epochs: [3, 3] });
    expect(validation['val/ens_nll']).toBeCloseTo(losses.chosen, 10);
    expectClose(await meanOf(task, 2, points), probabilities(models, points));
    const kept = await new RunFiles(task.into, 1).readPredictions('test', 1, 'ensemble-best');
    expect(kept).toMatchObject({ kind: 'logits', samples: 12, width: 3, epoch: 3 });
  });

  it('of averaged weights predicts with their mean', async () => {
    const task = await request(await run([right(), wrong()]), 2, { method: 'soup' });
    expect((await combineParts(task)).members).toEqual([[0, 1]]);
    const mean = classifier([-1, 1, 0, 2, -0.5, 0], [2.5, 0, -2.5]);
    expectClose(await meanOf(task, 1, points), probabilities([mean], points));
  });

  it('of averaged weights has the running statistics of these weights, not the mean of others', async () => {
    const folder = await run([normalized(1), normalized(2)]);
    const task = await request(folder, 2, { method: 'soup' });
    expect((await combineParts(task)).members).toEqual([[0, 1]]);
    const { tensors } = await readCheckpoint(task.into, 0, 'ensemble-best');
    expectClose(movingMean(tensors), await trainingMeans(folder), 4);
  });

  it('of averaged weights keeps statistics that were frozen', async () => {
    const task = await request(await run([normalized(2), normalized(2)]), 2, { method: 'soup' });
    await combineParts(task);
    const { tensors } = await readCheckpoint(task.into, 0, 'ensemble-best');
    expect(tensors.find(({ name }) => name.endsWith('moving_variance'))?.data).toEqual(Float32Array.of(2, 2));
  });

  it('chosen greedily is no worse than the best alone, also from predictions that a run kept', async () => {
    const folder = await run([wrong(), right(), wrong()]);
    const chosen = await combineParts(await request(folder, 3, {}));
    expect(chosen.losses.chosen).toBeLessThanOrEqual(Math.min(...chosen.losses.candidates));
    expect(chosen.path[0].candidate).toBe(chosen.losses.candidates.indexOf(Math.min(...chosen.losses.candidates)));
    const { targets } = await validationOf(folder);
    // Kept predictions that are right with certainty count in place of what the weights predict.
    const values = Float32Array.from({ length: targets.length * 3 }, (_, i) =>
      targets[Math.floor(i / 3)] === i % 3 ? 50 : 0,
    );
    const kept = { kind: 'logits' as const, samples: targets.length, width: 3, values: [values] };
    await new RunFiles(folder, 2).savePredictions('validation', 'best', kept, 3);
    const again = await combineParts(await request(folder, 3, {}));
    expect(again.members).toEqual([[2]]);
    expect(again.losses.chosen).toBeCloseTo(0, 12);
  });

  it('drawn with SWAG has weights around the mean of a trajectory', async () => {
    const folder = await run([right()]);
    const trajectory = [right(), wrong(), classifier([0, 1, 1, 2, 0, -1], [1, 1, 1])];
    const { record } = await readCheckpoint(folder, 0, 'ensemble-best');
    for (const [epoch, model] of trajectory.entries()) {
      const tensors = await readWeights(model);
      await saveCheckpoint(folder, { ...record, name: `epoch-${epoch}`, epoch, step: 10 * epoch, tensors });
    }
    const names = trajectory.map((_, epoch) => ({ run: 0, rank: 0, name: `epoch-${epoch}` }));
    const task = await request(folder, 1, { method: 'swag', candidates: names });
    const { members, evaluated } = await combineParts(task);
    expect(members).toEqual([
      [0, 1, 2],
      [0, 1, 2],
      [0, 1, 2],
    ]);
    expect(evaluated.epochs).toEqual([2, 2, 2]);

    const expected = new Trajectory(20);
    for (const { name } of names) expected.add((await readCheckpoint(folder, 0, name)).tensors);
    const noise = noiseOf(new Generator(runConfigSchema.parse({}).seed, 'swag/1'), 3);
    const { tensors } = await readCheckpoint(task.into, 1, 'ensemble-best');
    expect(tensors).toEqual(sampleWeights(expected.moments(), noise));
    const again = await request(folder, 1, { method: 'swag', candidates: names });
    await combineParts(again);
    expect((await readCheckpoint(again.into, 1, 'ensemble-best')).tensors).toEqual(tensors);
  });

  it('drawn with SWAG has the running statistics of the training split', async () => {
    const folder = await run([normalized(1), normalized(2)]);
    const { record } = await readCheckpoint(folder, 0, 'ensemble-best');
    await saveCheckpoint(folder, { ...record, name: 'epoch-1', tensors: await readWeights(normalized(2)) });
    const candidates = ['ensemble-best', 'epoch-1'].map((name) => ({ run: 0, rank: 0, name }));
    const task = await request(folder, 1, { method: 'swag', candidates, samples: 1 });
    await combineParts(task);
    const { tensors } = await readCheckpoint(task.into, 0, 'ensemble-best');
    const found = movingMean(tensors);
    expectClose(found, await trainingMeans(folder), 4);
  });

  it('drawn with MC dropout predicts the mean of networks with their masks', async () => {
    const model = tf.sequential({
      layers: [
        tf.layers.dense({ units: 16, inputShape: [2], activation: 'tanh' }),
        tf.layers.dropout({ rate: 0.5 }),
        tf.layers.dense({ units: 3 }),
      ],
    });
    const task = await request(await run([model]), 1, { method: 'mc-dropout' });
    expect((await combineParts(task)).members).toEqual([[0], [0], [0]]);
    const draws = await Promise.all(
      [0, 1, 2].map(async (draw) => {
        const { seed } = runConfigSchema.parse({});
        const drawn = await modelFromTopology(sampledTopology(topologyOf(model), { seed, draw }, 'a'), 'a');
        drawn.setWeights(model.getWeights());
        return drawn;
      }),
    );
    expectClose(await meanOf(task, 3, points), probabilities(draws, points));
    const none = await request(await run([right()]), 1, { method: 'mc-dropout' });
    await expect(combineParts(none)).rejects.toThrow(
      'The model of checkpoint "ensemble-best" of rank 0 of the run run-1 has no dropout layer',
    );
  });

  it('is refused for other targets, no targets, and weights of other architectures', async () => {
    const shorter = await run([right()], (validation) => take(validation, 5));
    await expect(combineParts(await request(shorter, 1, {}))).rejects.toThrow(/run run-1 has 5 targets.* 12 /);
    const none = await runWithModels([right()], { task: 'classification' });
    await expect(combineParts(await request(none, 1, {}))).rejects.toThrow('run-1 kept no targets');
    const small = tf.sequential({
      layers: [tf.layers.dense({ units: 4, inputShape: [2] }), tf.layers.dense({ units: 3 })],
    });
    const mixed = await run([right(), small]);
    await expect(combineParts(await request(mixed, 2, { method: 'soup' }))).rejects.toThrow(
      'only in the same architecture, but in checkpoint "ensemble-best" of rank 1 of the run run-1',
    );
  });
});
