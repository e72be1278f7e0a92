import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { whyNotComputed } from '../../../core/metrics/registry/monitors.ts';
import { runConfigSchema } from '../../../core/protocol/run/config.ts';
import { startBackend } from '../../../workers/backends/backend.ts';
import { createDataset } from '../../../workers/data/dataset.ts';
import { gatherPredictions, predict, predictTogether } from '../../../workers/member/predict.ts';
import { joinStacks } from '../../../workers/member/predictions.ts';
import { RunFiles } from '../../../workers/member/run-files.ts';
import { hard } from '../../../workers/member/sample-losses.ts';
import { taskFor } from '../../../workers/member/tasks.ts';
import { taskLoss } from '../../../workers/member/weighted-loss.ts';
import { ensembleTask } from '../../../workers/strategies/strategy.ts';
import { type SymbolicTensor, tf } from '../../../workers/tensorflow/tf.ts';
import { splitByMember } from '../../../workers/training/evaluate-sets.ts';
import { createInMemoryGroup } from '../relay/in-memory-group.ts';

beforeAll(async () => void (await startBackend('cpu')));

const dataset = createDataset({
  name: 'two heads',
  featureShape: [1],
  features: Float32Array.of(1, 2, 3),
  targets: Float32Array.of(1, 3, 3),
  weights: Float32Array.of(1, 2, 1),
  extraTargets: { kind: { shape: [1], values: Uint8Array.of(0, 1, 1) } },
});
const spec = { task: 'regression', outputs: { kind: { task: 'classification', weight: 0.5, classCount: 2 } } } as const;
const task = taskFor(spec, dataset);

/** Predicts x, and the logits [0, x]. */
function build(...names: string[]) {
  const x = tf.input({ shape: [1] });
  const dense = (weights: number[], name?: string) => {
    const layer = tf.layers.dense({ units: weights.length, useBias: false, ...(name !== undefined && { name }) });
    const output = layer.apply(x) as SymbolicTensor;
    layer.setWeights([tf.tensor2d([weights])]);
    return output;
  };
  return tf.model({ inputs: x, outputs: [dense([1]), ...names.map((name) => dense([0, 1], name))] });
}

/** −log softmax([0, x]) at a label. */
const crossEntropy = (x: number, label: number) => Math.log(1 + Math.exp(x)) - label * x;

describe('a further output', () => {
  it('adds its loss, times its weight, with the weights of the samples', () => {
    const outputs = [
      tf.tensor2d([[1], [2], [3]]),
      tf.tensor2d([
        [0, 1],
        [0, 2],
        [0, 3],
      ]),
    ];
    const kind = tf.tensor2d([[0], [1], [1]], [3, 1], 'int32');
    const targets = tf.tensor1d([1, 3, 3]);
    const losses = [crossEntropy(1, 0), crossEntropy(2, 1), crossEntropy(3, 1)];
    const plain = taskLoss(task, outputs, targets, hard, { weights: null, mask: null, extraTargets: { kind } });
    // Squared errors 0, 1, 0.
    expect(plain.dataSync()[0]).toBeCloseTo(1 / 3 + (0.5 * (losses[0] + losses[1] + losses[2])) / 3, 5);
    const weights = tf.tensor1d([1, 2, 1]);
    const weighed = taskLoss(task, outputs, targets, hard, { weights, mask: null, extraTargets: { kind } });
    const expected = 2 / 3 + (0.5 * (losses[0] + 2 * losses[1] + losses[2])) / 3;
    expect(weighed.dataSync()[0]).toBeCloseTo(expected, 5);
    const stacked = taskLoss(
      task,
      outputs.map((output) => tf.stack([output, output])),
      tf.stack([targets, targets]),
      hard,
      {
        weights: tf.stack([weights, weights]),
        mask: null,
        extraTargets: { kind: tf.stack([kind, kind]) },
      },
    );
    expect(stacked.shape).toEqual([2]);
    for (const loss of stacked.dataSync()) expect(loss).toBeCloseTo(expected, 5);
  });

  it('is predicted, gathered, joined and kept beside the others, and has its own metrics', async () => {
    const model = build('kind');
    expect(() => task.check(model, dataset)).not.toThrow();
    const own = await predict(model, task, dataset);
    expect(own).toMatchObject({
      kind: 'values',
      width: 1,
      further: { kind: { kind: 'logits', samples: 3, width: 2 } },
    });
    expect([...(own.further?.kind.values[0] ?? [])]).toEqual([0, 1, 0, 2, 0, 3]);
    const { groups } = createInMemoryGroup([0, 1]);
    for (const together of await Promise.all(groups.map((group) => predictTogether(group, model, task, dataset)))) {
      expect(together).toEqual(own);
    }
    const [gathered] = await Promise.all(groups.map((group) => gatherPredictions(group, own)));
    const folder = await mkdtemp(join(tmpdir(), 'tutti-further-'));
    await new RunFiles(folder, 7).savePredictions('test', 'final', own, 3);
    const kept = await new RunFiles(folder, 0).readPredictions('test', 7, 'final');
    await rm(folder, { recursive: true });
    const stack = joinStacks([...(kept === null ? [] : [kept]), gathered]);
    expect(stack.ranks).toEqual([0, 1, 7]);
    expect(stack.further?.kind.values[0]).toHaveLength(18);
    const metrics = task.metrics(stack, dataset);
    expect(metrics.get('ens_mse')).toBeCloseTo(2 / 4, 6);
    const nll = (crossEntropy(1, 0) + 2 * crossEntropy(2, 1) + crossEntropy(3, 1)) / 4;
    expect(metrics.get('kind/ens_nll')).toBeCloseTo(nll, 6);
    const { ensemble, members } = splitByMember(metrics, stack.ranks);
    expect(ensemble['kind/acc']).toBeCloseTo(3 / 4, 12);
    expect(members['kind/nll']).toEqual([0, 1, 7].map(() => expect.closeTo(nll, 6) as number));
    expect(members.mse).toHaveLength(3);
  });

  it.each([
    [build.bind(null), 'the project needs 1 of its task, then kind'],
    [build.bind(null, 'sort'), 'the project needs 1 of its task, then kind'],
    [build.bind(null, 'kind', 'sort'), 'the project needs 1 of its task, then kind'],
  ])('is found by its name', (model, message) => {
    expect(() => task.check(model(), dataset)).toThrow(message);
  });

  it('is refused where the data lack its targets', () => {
    const { extraTargets: _, ...without } = dataset;
    expect(() => taskFor(spec, without)).toThrow('two heads has no extraTargets "kind"');
  });

  it('can be monitored', () => {
    const run = { task: 'regression', isJoint: false, own: [], outputs: [{ name: 'kind', task: 'classification' }] };
    expect(whyNotComputed('val/kind/ens_auroc', run, 'checkpoints.monitor')).toBeNull();
    expect(whyNotComputed('val/kind/ens_mse', run, 'checkpoints.monitor')).toContain(
      'Output kind: checkpoints.monitor',
    );
    expect(whyNotComputed('val/sort/ens_nll', run, 'checkpoints.monitor')).not.toBeNull();
    const config = runConfigSchema.parse({ checkpoints: { monitor: 'val/kind/ens_auroc' } });
    const watched = ensembleTask(task, config);
    expect([watched.ensembleMonitor, watched.memberMonitor]).toEqual([
      'val/kind/ens_auroc',
      'val/kind/member_{rank}_auroc',
    ]);
  });
});
