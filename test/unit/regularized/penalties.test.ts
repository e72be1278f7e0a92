import { beforeAll, describe, expect, it } from 'vitest';
import { startBackend } from '../../../workers/backends/backend.ts';
import { independentStrategy } from '../../../workers/strategies/independent.ts';
import { tf, type LayersModel, type SymbolicTensor, type Variable } from '../../../workers/tensorflow/tf.ts';
import { Member } from '../../../workers/member/member.ts';
import { createOptimizer } from '../../../workers/optimizers/optimizers.ts';
import { penaltiesOf } from '../../../workers/member/penalties.ts';
import { taskOf } from '../../../workers/member/tasks.ts';
import { readWeights, writeWeights } from '../../../workers/member/weights.ts';

beforeAll(async () => void (await startBackend('wasm')));

const { layers, regularizers } = tf;
const l1 = (factor: number) => regularizers.l1({ l1: factor });
const l2 = (factor: number) => regularizers.l2({ l2: factor });
const ones = { kernelInitializer: 'ones', recurrentInitializer: 'ones', biasInitializer: 'ones' } as const;

/** Σ of a model's penalties. */
function penaltyOf(model: LayersModel): number {
  return penaltiesOf(model).reduce((sum, penalty) => sum + penalty().dataSync()[0], 0);
}

function memberOf(model: LayersModel, learningRate = 0.1): Member {
  return new Member(
    model,
    ([values], targets) => taskOf('regression').loss([values], targets),
    (variables) =>
      createOptimizer({ kind: 'sgd', learningRate, momentum: 0, nesterov: false, weightDecay: 0 }, variables),
  );
}

const position = { epoch: 0, step: 0, totalSteps: 1 };
const oneSample = (x: number, y: number) => ({
  features: Float32Array.of(x),
  featureShape: [1, 1],
  targets: Float32Array.of(y),
  targetShape: [1],
});

describe('the penalties of layers', () => {
  it('are part of the loss and of its gradient: (2 - 0)² + 0.5 · 2² = 6, 2 · 2 + 2 · 0.5 · 2 = 6', async () => {
    const kernelInitializer = tf.initializers.constant({ value: 2 });
    const dense = layers.dense({
      units: 1,
      inputShape: [1],
      useBias: false,
      kernelInitializer,
      kernelRegularizer: l2(0.5),
    });
    const member = memberOf(tf.sequential({ layers: [dense] }));
    const { loss, gradients } = await member.lossAndGradients(oneSample(1, 0), position);
    expect(loss).toBe(6);
    expect(gradients[0]?.dataSync()[0]).toBe(6);
  });

  it('leave a weight of 0 unchanged for |w|, as in PyTorch', async () => {
    const dense = layers.dense({ units: 1, inputShape: [1], kernelInitializer: 'zeros', kernelRegularizer: l1(0.5) });
    const { loss, gradients } = await memberOf(tf.sequential({ layers: [dense] })).lossAndGradients(
      oneSample(0, 0),
      position,
    );
    expect(loss).toBe(0);
    expect(gradients[0]?.dataSync()[0]).toBe(0);
  });

  it('include recurrent cells: 2 units of 3 inputs have 24 + 16 + 8 ones in an LSTM', () => {
    const lstm = layers.lstm({
      ...ones,
      units: 2,
      unitForgetBias: false,
      kernelRegularizer: l2(1),
      recurrentRegularizer: l2(10),
      biasRegularizer: l1(100),
      inputShape: [4, 3],
    });
    expect(penaltyOf(tf.sequential({ layers: [lstm] }))).toBe(24 + 160 + 800);
  });

  it('include both directions of a bidirectional layer, and wrapped layers', () => {
    const gru = layers.gru({ ...ones, units: 2, kernelRegularizer: l2(1), returnSequences: true }) as never;
    const wrapped = layers.timeDistributed({ layer: layers.dense({ ...ones, units: 5, kernelRegularizer: l1(1) }) });
    const bidirectional = layers.bidirectional({ layer: gru, mergeMode: 'concat', inputShape: [4, 3] });
    expect(penaltyOf(tf.sequential({ layers: [bidirectional, wrapped] }))).toBe(2 * 3 * 6 + 4 * 5);
  });

  it('include nested models, and count once for a layer that is called twice', () => {
    const inner = tf.sequential({
      layers: [layers.dense({ ...ones, units: 3, kernelRegularizer: l1(1), inputShape: [3] })],
    });
    const shared = layers.dense({ ...ones, units: 3, kernelRegularizer: l1(10), biasRegularizer: l1(100) });
    const x = tf.input({ shape: [3] });
    const twice = shared.apply(shared.apply(inner.apply(x))) as SymbolicTensor;
    expect(penaltyOf(tf.model({ inputs: x, outputs: twice }))).toBe(9 + 90 + 300);
  });

  it('include the terms that a custom layer adds to the loss', () => {
    class Added extends tf.layers.Layer {
      static className = 'Added';
      constructor() {
        super({});
        this.addLoss(() => tf.scalar(7));
      }
    }
    expect(penaltyOf(tf.sequential({ layers: [layers.dense({ units: 1, inputShape: [1] }), new Added()] }))).toBe(7);
  });
});

describe('constraints of layers', () => {
  it('apply after each update: w = 1 - 0.1 · 2 · (1 · 5 - 0) · 5 would be -4, and is 0 with nonNeg', async () => {
    const dense = layers.dense({
      units: 1,
      inputShape: [1],
      useBias: false,
      kernelInitializer: 'ones',
      kernelConstraint: tf.constraints.nonNeg(),
    });
    const member = memberOf(tf.sequential({ layers: [dense] }));
    await independentStrategy().trainStep(member, oneSample(5, 0), { learningRate: 0.1 }, position);
    expect(member.variables[0].dataSync()[0]).toBe(0);
  });

  it('keep weights read from a file unchanged, bit for bit', async () => {
    const create = () =>
      tf.sequential({
        layers: [layers.dense({ units: 7, inputShape: [5], kernelConstraint: tf.constraints.unitNorm({}) })],
      });
    const [from, to] = [create(), create()];
    (from.trainableWeights[0].read() as Variable).assign(tf.randomNormal([5, 7], 0, 1, 'float32', 4));
    memberOf(from).constrain();
    writeWeights(to, await readWeights(from), 'This checkpoint');
    expect(to.getWeights()[0].dataSync()).toEqual(from.getWeights()[0].dataSync());
  });
});
