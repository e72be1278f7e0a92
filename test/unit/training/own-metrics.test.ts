import { describe, expect, it } from 'vitest';
import { runConfigSchema } from '../../../core/protocol/run/config.ts';
import { createDataset, type Dataset } from '../../../workers/data/dataset.ts';
import type { MemberOutputs } from '../../../workers/member/predictions.ts';
import { taskOf } from '../../../workers/member/tasks.ts';
import type { ProjectMetric } from '../../../workers/member/tasks/own-metrics.ts';
import { ensembleTask } from '../../../workers/strategies/strategy.ts';

/** Logits of ranks 0 and 3 for two samples of two classes; softmax of [ln 3, 0] is [3/4, 1/4]. */
const logits: MemberOutputs = {
  kind: 'logits',
  ranks: [0, 3],
  samples: 2,
  width: 2,
  values: [Float32Array.of(Math.log(3), 0, 0, 0, 0, Math.log(3), 0, 0)],
};
const data = createDataset({
  name: 'two',
  featureShape: [1],
  features: Float32Array.of(0, 1),
  targets: Int32Array.of(0, 1),
  classCount: 2,
});
const config = runConfigSchema.parse({ checkpoints: { monitor: 'val/ens_first', mode: 'max' } });
const metricsWith = (metrics: Record<string, ProjectMetric>) =>
  ensembleTask(taskOf('classification'), config, metrics).metrics(logits, data);

describe("a project's own metrics", () => {
  it('judge the probabilities of the ensemble and of each member', () => {
    const first: ProjectMetric = { direction: 'max', compute: ({ prediction }) => prediction.values[0][0] };
    const values = metricsWith({ first });
    expect(values.get('ens_first')).toBeCloseTo(0.5, 6);
    expect(values.get('member_0_first')).toBeCloseTo(0.75, 6);
    expect(values.get('member_3_first')).toBeCloseTo(0.25, 6);
    expect(values.has('ens_nll')).toBe(true);
  });

  it('judge the product of jointly trained members, which answers, and the mean beside it', () => {
    const joint = runConfigSchema.parse({ strategy: { kind: 'joint' } });
    const last: ProjectMetric['compute'] = ({ prediction }) => prediction.values[0].at(-1) ?? NaN;
    const metrics = {
      last: { direction: 'max', compute: last },
      whole: { direction: 'none', of: 'ensemble', compute: last },
    } as const;
    const valuesOf = (kind: Parameters<typeof taskOf>[0], stack: MemberOutputs, dataset: Dataset) =>
      ensembleTask(taskOf(kind), joint, metrics).metrics(stack, dataset);
    // Logits 1 and 3 of the second class: σ(2) for both of its values.
    const classes = { ...logits, samples: 1, values: [Float32Array.of(0, 1, 0, 3)] };
    const one = { ...data, length: 1, features: Float32Array.of(0), targets: Int32Array.of(0) };
    const ofClasses = valuesOf('classification', classes, one);
    const sigmoid = (z: number): number => 1 / (1 + Math.exp(-z));
    expect(ofClasses.get('product_last')).toBeCloseTo(sigmoid(2), 6);
    expect(ofClasses.get('whole')).toBeCloseTo(sigmoid(2), 6);
    expect(ofClasses.get('ens_last')).toBeCloseTo((sigmoid(1) + sigmoid(3)) / 2, 6);
    const binary = { ...logits, samples: 1, width: 1, values: [Float32Array.of(1, 3)] };
    expect(valuesOf('binary', binary, one).get('product_last')).toBeCloseTo(sigmoid(2), 6);
    const counts = createDataset({
      name: 'c',
      featureShape: [1],
      features: Float32Array.of(0),
      targets: Float32Array.of(3),
    });
    const rates = { ...binary, kind: 'values' as const, values: [Float32Array.of(2, 8)] };
    expect(valuesOf('poisson-regression', rates, counts).get('product_last')).toBeCloseTo(4, 6);
    const states = createDataset({
      name: 'l',
      featureShape: [1],
      features: Float32Array.of(0),
      targets: Float32Array.of(1),
    });
    const labels = { ...binary, kind: 'label-logits' as const };
    expect(valuesOf('multi-label', labels, states).get('product_last')).toBeCloseTo(sigmoid(2), 6);
  });

  it('may be one value of the ensemble', () => {
    const compute: ProjectMetric['compute'] = ({ members, targets }) => members.ranks.length * 10 + targets.length;
    expect(metricsWith({ size: { direction: 'none', of: 'ensemble', compute } }).get('size')).toBe(22);
  });

  it("of a mean and a variance: the ensemble's variance is aleatoric plus epistemic", () => {
    const values = [Float32Array.of(1, 3), Float32Array.of(0.5, 1.5)];
    const stack: MemberOutputs = { kind: 'values', ranks: [0, 1], samples: 1, width: 1, values };
    const variance: ProjectMetric = { direction: 'none', compute: ({ prediction }) => prediction.values[1][0] };
    const one = createDataset({
      name: 'one',
      featureShape: [1],
      features: Float32Array.of(0),
      targets: Float32Array.of(2),
    });
    const task = ensembleTask(taskOf('heteroscedastic-regression'), runConfigSchema.parse({}), { variance });
    expect(task.metrics(stack, one).get('ens_variance')).toBe(1 + 1);
  });

  it('change nothing: they get copies', () => {
    const compute: ProjectMetric['compute'] = ({ prediction, members, targets }) => {
      prediction.values[0].fill(9);
      members.values[0].fill(9);
      targets.fill(0);
      return 0;
    };
    const before = logits.values[0].slice();
    expect(metricsWith({ bad: { direction: 'min', compute } }).get('ens_acc')).toBe(0.5);
    expect(logits.values[0]).toEqual(before);
    expect([...data.targets]).toEqual([0, 1]);
  });

  it('decide what the monitors of members watch', () => {
    const first: ProjectMetric = { direction: 'max', compute: () => 1 };
    const task = ensembleTask(taskOf('classification'), config, { first });
    expect([task.ensembleMonitor, task.memberMonitor]).toEqual(['val/ens_first', 'val/member_{rank}_first']);
  });

  it('fail with their name', () => {
    const broken = (compute: () => number) => () => metricsWith({ own: { direction: 'min', compute } });
    const throwing = (): number => {
      throw new TypeError('x is undefined');
    };
    expect(broken(throwing)).toThrow('The project\'s metric "own" failed: x is undefined');
    expect(broken(() => '1' as unknown as number)).toThrow('The project\'s metric "own" returned string');
  });
});
