import { beforeAll, describe, expect, it } from 'vitest';
import { optimizerSchema } from '../../../core/protocol/run/optimizer-config.ts';
import { startBackend } from '../../../workers/backends/backend.ts';
import { Member } from '../../../workers/member/member.ts';
import { weightVariables } from '../../../workers/member/weights.ts';
import { taskOf } from '../../../workers/member/tasks.ts';
import { createOptimizer } from '../../../workers/optimizers/optimizers.ts';
import { tf, type LayersModel } from '../../../workers/tensorflow/tf.ts';

const { layers } = tf;
const task = taskOf('regression');

function createModel(): LayersModel {
  return tf.sequential({
    layers: [
      layers.dense({ name: 'base', units: 3, inputShape: [2], kernelInitializer: 'ones' }),
      layers.batchNormalization({ name: 'normal' }),
      layers.dense({ name: 'head', units: 1, kernelInitializer: 'ones' }),
    ],
  });
}

function memberOf(model: LayersModel, options: object): Member {
  const config = optimizerSchema.parse({ kind: 'adam', learningRate: 0.1, ...options });
  return new Member(
    model,
    (outputs, targets) => task.loss(outputs, targets),
    (variables) => createOptimizer(config, variables),
    config,
  );
}

const values = (model: LayersModel): Record<string, number[]> =>
  Object.fromEntries([...weightVariables(model)].map(([name, variable]) => [name, [...variable.dataSync()]]));

async function step(member: Member, learningRate = 0.1): Promise<void> {
  const batch = {
    features: Float32Array.of(1, 2, 3, -1, 0.5, 4),
    featureShape: [3, 2],
    targets: Float32Array.of(1, -2, 3),
    targetShape: [3],
  };
  const { gradients } = await member.lossAndGradients(batch, { epoch: 0, step: 0, totalSteps: 1 });
  member.applyGradients(gradients, { learningRate });
  tf.dispose(gradients.filter((gradient) => gradient !== null));
}

/** The names of weights that differ. */
function changed(before: Record<string, number[]>, after: Record<string, number[]>): string[] {
  return Object.keys(before).filter((name) => before[name].some((value, i) => value !== after[name][i]));
}

describe.each(['cpu', 'wasm'] as const)('frozen weights on %s', (backend) => {
  beforeAll(async () => void (await startBackend(backend)));

  it('of layers that are not trainable stay, including running statistics, and have no slots', async () => {
    const model = createModel();
    model.layers[0].trainable = false;
    model.layers[1].trainable = false;
    const member = memberOf(model, {});
    const before = values(model);
    await step(member);
    expect(changed(before, values(model))).toEqual(['head/kernel', 'head/bias']);
    expect(member.optimizer.slots.size).toBe(4);
  });

  it('of a nested model that is not trainable stay, including running statistics', async () => {
    const base = tf.sequential({ name: 'base', layers: createModel().layers.slice(0, 2) });
    base.trainable = false;
    const model = tf.sequential({ layers: [base, layers.dense({ name: 'head', units: 1 })] });
    const before = values(model);
    await step(memberOf(model, {}));
    expect(changed(before, values(model))).toEqual(['head/kernel', 'head/bias']);
  });

  it('of groups with factor 0 stay, and have no slots', async () => {
    const model = createModel();
    const member = memberOf(model, { groups: [{ weights: '^(base|normal)/', rateFactor: 0 }] });
    const before = values(model);
    await step(member);
    expect(changed(before, values(model))).toEqual(['head/kernel', 'head/bias']);
    expect(member.optimizer.slots.size).toBe(4);
  });
});

describe('groups of weights', () => {
  beforeAll(async () => void (await startBackend('cpu')));

  it('scale the learning rate: Adam moves a weight by the rate in its first step', async () => {
    const model = createModel();
    const groups = [
      { weights: '^head', rateFactor: 0.1 },
      { weights: 'bias', rateFactor: 3 },
    ];
    const member = memberOf(model, { groups, epsilon: 1e-12 });
    const before = values(model);
    await step(member);
    const after = values(model);
    const moved = (name: string): number => Math.abs(after[name][0] - before[name][0]);
    expect(moved('head/bias')).toBeCloseTo(0.01, 6);
    expect(moved('normal/beta')).toBeCloseTo(0.1, 6);
  });

  it('have their own weight decay: AdamW keeps 1 - 0.1 * 0.5 of a weight, then moves it', async () => {
    const model = createModel();
    const member = memberOf(model, { kind: 'adamw', weightDecay: 0, groups: [{ weights: 'gamma', weightDecay: 0.5 }] });
    await step(member);
    const { 'normal/gamma': gamma } = values(model);
    for (const value of gamma) expect(Math.min(Math.abs(value - 0.85), Math.abs(value - 1.05))).toBeLessThan(1e-4);
  });

  it('refuse patterns without weights and invalid ones', () => {
    expect(() => memberOf(createModel(), { groups: [{ weights: 'conv' }] })).toThrow(
      'optimizer.groups: "conv" matches none of the trained weights base/kernel, base/bias, normal/gamma',
    );
    expect(() => memberOf(createModel(), { groups: [{ weights: '(' }] })).toThrow('is not a regular expression');
  });
});
