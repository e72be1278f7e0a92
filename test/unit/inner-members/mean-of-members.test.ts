import { beforeAll, describe, expect, it } from 'vitest';
import type { TaskKind } from '../../../core/metrics/registry/metric.ts';
import { startBackend } from '../../../workers/backends/backend.ts';
import { batchEnsemble, tf } from '../../../workers/index.ts';
import { meanPrediction } from '../../../workers/tensorflow/layers/inner/mean-of-members.ts';
import type { Tensor } from '../../../workers/tensorflow/tf.ts';
import { readGolden } from '../../golden/read-golden.ts';
import { expectClose, tensorOf, type Values } from './describe-inner-layers.ts';

interface MeanCase {
  task: TaskKind;
  outputs?: Values[];
  probabilities?: Values;
}

const { means } = readGolden('inner-members/inner-members.json') as {
  means: { z: Values; variances: Values; cases: MeanCase[] };
};

beforeAll(() => startBackend('cpu'));

const valuesOf = (tensor: Tensor): number[] => [...tensor.dataSync()];

describe('the mean prediction of inner members', () => {
  it.each(means.cases.map((testCase) => [testCase.task, testCase] as const))(
    'equals PyTorch: %s',
    async (task, testCase) => {
      const z = tensorOf(means.z);
      const given = task === 'heteroscedastic-regression' ? [z, tensorOf(means.variances)] : [z];
      const found = meanPrediction(task, given);
      if (testCase.probabilities) await expectClose(tf.softmax(found[0]), testCase.probabilities, task);
      expect(found).toHaveLength(given.length);
      for (const [i, expected] of testCase.outputs?.entries() ?? [])
        await expectClose(found[i], expected, `${task} ${i}`);
    },
  );

  it('keeps members that are certain, and NaN', () => {
    const [opposite] = meanPrediction('classification', [tf.tensor3d([[[200, -200]], [[-200, 200]]])]);
    expect(valuesOf(tf.softmax(opposite))).toEqual([0.5, 0.5]);
    const [states] = meanPrediction('binary', [tf.tensor3d([[[200]], [[200]]])]);
    expect(valuesOf(states)[0]).toBeCloseTo(200, 4);
    const [unknown] = meanPrediction('ordinal', [tf.tensor3d([[[Number.NaN]], [[0]]])]);
    expect(valuesOf(unknown)).toEqual([Number.NaN]);
  });

  it('takes no samples, and the only member as it is', () => {
    const { outputs } = batchEnsemble({ members: 3 });
    const layer = outputs({ task: 'regression' });
    expect((layer.apply(tf.zeros([0, 2])) as Tensor).shape).toEqual([0, 2]);
    const alone = batchEnsemble({ members: 1 }).outputs({ task: 'ordinal' });
    const z = tf.tensor2d([
      [0.5, -1],
      [3, 2],
    ]);
    valuesOf(alone.apply(z) as Tensor).forEach((value, i) => expect(value).toBeCloseTo([0.5, -1, 3, 2][i], 5));
  });

  it('stays that of each member in training', () => {
    const layer = batchEnsemble({ members: 2 }).outputs({ task: 'classification' });
    const z = tf.tensor2d([[1, 2], [3, 4]]); // prettier-ignore
    expect(valuesOf(layer.apply(z, { training: true }) as Tensor)).toEqual([1, 2, 3, 4]);
  });

  it('needs the task, and both outputs of a Gaussian', () => {
    const { outputs } = batchEnsemble({ members: 2 });
    expect(() => outputs({ task: 'classes' as TaskKind })).toThrow(
      'is "classes": it is that of the project, one of classification',
    );
    const layer = outputs({ task: 'heteroscedastic-regression', name: 'gaussian' });
    expect(() => layer.apply(tf.input({ shape: [1] }))).toThrow(
      'Layer "gaussian" gets 1 outputs, but heteroscedastic-regression has 2',
    );
  });
});
