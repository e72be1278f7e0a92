import { beforeAll, describe, expect, it } from 'vitest';
import { startBackend } from '../../../workers/backends/backend.ts';
import type { Batch } from '../../../workers/data/dataset.ts';
import { Member } from '../../../workers/member/member.ts';
import { taskOf } from '../../../workers/member/tasks.ts';
import { createOptimizer } from '../../../workers/optimizers/optimizers.ts';
import { runConfigSchema } from '../../../core/protocol/run/config.ts';
import { Generator, installAsMathRandom } from '../../../workers/random/index.ts';
import type { Checkpointing } from '../../../workers/segments/checkpointed-model.ts';
import { unitsOf } from '../../../workers/segments/model-units.ts';
import { tf, type LayersModel } from '../../../workers/tensorflow/tf.ts';

/**
 * Layers of all kinds that recomputing could get wrong: statistics, dropout, a connection that skips layers,
 * recurrence, penalties.
 */
const networks: Record<string, { create: () => LayersModel; shape: number[] }> = {
  'batch normalization, dropout and a skipped block': { create: residual, shape: [8] },
  convolutions: { create: convolutional, shape: [6, 6, 2] },
  'a recurrent layer after masked ids': { create: recurrent, shape: [5] },
};

function residual(): LayersModel {
  const { dense, dropout, batchNormalization, add } = tf.layers;
  const input = tf.input({ shape: [8] });
  const l2 = () => tf.regularizers.l2({ l2: 0.01 });
  let x = dense({ units: 8, activation: 'relu', kernelRegularizer: l2() }).apply(input) as typeof input;
  for (let block = 0; block < 3; block++) {
    const inner = dropout({ rate: 0.3 }).apply(batchNormalization().apply(dense({ units: 8 }).apply(x)));
    x = add().apply([x, inner as typeof input]) as typeof input;
    x = tf.layers.activation({ activation: 'tanh' }).apply(x) as typeof input;
  }
  return tf.model({ inputs: input, outputs: dense({ units: 3 }).apply(x) as typeof input });
}

function convolutional(): LayersModel {
  const { conv2d, maxPooling2d, flatten, dense, batchNormalization } = tf.layers;
  return tf.sequential({
    layers: [
      conv2d({ filters: 4, kernelSize: 3, padding: 'same', activation: 'relu', inputShape: [6, 6, 2] }),
      batchNormalization(),
      conv2d({ filters: 4, kernelSize: 3, activation: 'relu' }),
      maxPooling2d({ poolSize: 2 }),
      flatten(),
      dense({ units: 5, activation: 'sigmoid' }),
      dense({ units: 3 }),
    ],
  });
}

function recurrent(): LayersModel {
  const { embedding, dense, lstm } = tf.layers;
  return tf.sequential({
    layers: [
      embedding({ inputDim: 7, outputDim: 4, maskZero: true, inputLength: 5 }),
      lstm({ units: 4, returnSequences: false }),
      dense({ units: 6, activation: 'relu' }),
      dense({ units: 3 }),
    ],
  });
}

function memberOf(create: () => LayersModel, checkpointing: Checkpointing): { member: Member; draws: () => void } {
  const generator = new Generator(3, 'member');
  const draws = () => void installAsMathRandom(generator);
  draws();
  const task = taskOf('classification');
  const { optimizer } = runConfigSchema.parse({ optimizer: { kind: 'adam', learningRate: 0.01 } });
  const member = new Member(
    create(),
    (outputs, targets) => task.loss(outputs, targets),
    (variables) => createOptimizer(optimizer, variables),
    { ...optimizer, checkpointing },
  );
  return { member, draws };
}

function batchOf(shape: readonly number[], step: number): Batch {
  const generator = new Generator(step, 'samples');
  const length = 6 * shape.reduce((product, size) => product * size, 1);
  const isIds = shape.length === 1 && shape[0] === 5;
  const features = Float32Array.from({ length }, () =>
    isIds ? Math.floor(generator.uniform() * 7) : generator.normal(),
  );
  return { features, featureShape: [6, ...shape], targets: Int32Array.from([0, 1, 2, 0, 1, 2]), targetShape: [6] };
}

export function describeCheckpointing(backend: 'cpu' | 'wasm'): void {
  beforeAll(async () => void (await startBackend(backend)));

  describe.each(Object.entries(networks))(`activation checkpointing on ${backend}: %s`, (_, { create, shape }) => {
    it.each(['layers', 'sqrt'] as const)(
      'gives with %s the bits of a pass that keeps its activations',
      async (mode) => {
        const expected = await train(create, shape, 'none');
        expect(await train(create, shape, mode)).toEqual(expected);
      },
    );

    it('leaves no tensor behind', async () => {
      const { member } = memberOf(create, 'layers');
      const counts: number[] = [];
      for (let step = 0; step < 3; step++) {
        const { gradients } = await member.lossAndGradients(batchOf(shape, step), { epoch: 0, step, totalSteps: 3 });
        for (const gradient of gradients) gradient?.dispose();
        counts.push(tf.memory().numTensors);
      }
      expect(new Set(counts).size).toBe(1);
    });

    it('also serves a backward pass that comes after updates of the weights', () => {
      const gradients: number[][][] = [];
      for (const mode of ['none', 'sqrt'] as const) {
        const { member } = memberOf(create, mode);
        const pass = member.forward(batchOf(shape, 0));
        const other = member.forward(batchOf(shape, 1));
        other.discard();
        const before = tf.memory().numTensors;
        for (const variable of member.variables) tf.tidy(() => variable.assign(tf.add(tf.mul(variable, 3), 0.5)));
        const dy = tf.ones(pass.output.shape);
        const all = pass.backward(dy);
        gradients.push(all.map((gradient) => (gradient === null ? [] : [...gradient.dataSync()])));
        tf.dispose([dy, ...all.filter((gradient) => gradient !== null)]);
        expect(tf.memory().numTensors).toBeLessThan(before);
      }
      expect(gradients[1]).toEqual(gradients[0]);
    });
  });

  it('cuts between blocks only, and nowhere after a mask', () => {
    const model = residual();
    const units = unitsOf(model).map(({ calls }) => calls.map(({ layer }) => model.layers[layer].getClassName()));
    const block = ['Dense', 'BatchNormalization', 'Dropout', 'Add'];
    expect(units).toEqual([['Dense'], block, ['Activation'], block, ['Activation'], block, ['Activation'], ['Dense']]);
    expect(unitsOf(recurrent())).toHaveLength(1);
  });

  it('holds a fraction of the activations of a deep model', async () => {
    const deep = () =>
      tf.sequential({
        layers: Array.from({ length: 36 }, () =>
          tf.layers.dense({ units: 8, inputShape: [8], activation: 'tanh', useBias: true }),
        ).concat(tf.layers.dense({ units: 3 })),
      });
    const held = (mode: Checkpointing): number => {
      const { member } = memberOf(deep, mode);
      const pass = member.forward(batchOf([8], 0));
      const bytes = pass.keptBytes(member.variables);
      pass.discard();
      return bytes;
    };
    const all = held('none');
    expect(held('sqrt')).toBeLessThan(all / 2);
  });

  async function train(create: () => LayersModel, shape: readonly number[], mode: Checkpointing) {
    const { member, draws } = memberOf(create, mode);
    draws();
    const losses: number[] = [];
    for (let step = 0; step < 4; step++) {
      const { loss, gradients } = await member.lossAndGradients(batchOf(shape, step), {
        epoch: 0,
        step,
        totalSteps: 4,
      });
      losses.push(loss);
      member.applyGradients(gradients, { learningRate: 0.01 });
      for (const gradient of gradients) gradient?.dispose();
    }
    return { losses, weights: member.model.getWeights().map((weight) => [...weight.dataSync()]), next: Math.random() };
  }
}
