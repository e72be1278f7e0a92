import { describe, expect, it } from 'vitest';
import { runConfigSchema } from '../../../core/protocol/run/config.ts';
import { createDataset, type Dataset } from '../../../workers/data/dataset.ts';
import { taskFor, taskOf } from '../../../workers/member/tasks.ts';
import { ensembleTask } from '../../../workers/strategies/strategy.ts';

/** Three samples; members 0 and 2 held out the first, 0 and 1 the second, 1 and 2 the third. */
const dataset: Dataset = {
  ...createDataset({
    name: 'held out',
    featureShape: [1],
    features: Float32Array.of(10, 20, 30),
    targets: Int32Array.of(0, 1, 0),
    classCount: 2,
  }),
  heldOutBy: Int32Array.of(0, 2, 0, 1, 1, 2),
};
const no = Number.NaN;

/** Probabilities `[M, N, 2]`; a member's predictions of samples that it trained on are NaN. */
const stack = {
  kind: 'probabilities' as const,
  ranks: [0, 1, 2],
  samples: 3,
  width: 2,
  values: [Float32Array.of(0.75, 0.25, 0.5, 0.5, no, no, no, no, 0.25, 0.75, 0.5, 0.5, 0.25, 0.75, no, no, 0.75, 0.25)],
};
const task = ensembleTask(taskOf('classification'), runConfigSchema.parse({}), {
  first: { direction: 'none', compute: ({ dataset: own }) => own.features[0] },
});
const nll = (...chosen: number[]) => -chosen.reduce((sum, p) => sum + Math.log(p), 0) / chosen.length;

describe('metrics of members that held out different samples', () => {
  it('judge a sample by the members that did not train on it', () => {
    const metrics = task.metrics(stack, dataset);
    // The means of the right class: (3/4 + 1/4) / 2, (1/2 + 3/4) / 2, (1/2 + 3/4) / 2.
    expect(metrics.get('ens_nll')).toBeCloseTo(nll(0.5, 0.625, 0.625), 6);
    expect(metrics.get('member_0_nll')).toBeCloseTo(nll(0.75, 0.5), 6);
    expect(metrics.get('member_1_nll')).toBeCloseTo(nll(0.75, 0.5), 6);
    expect(metrics.get('member_2_nll')).toBeCloseTo(nll(0.25, 0.75), 6);
    expect(metrics.get('member_2_acc')).toBe(0.5);
    expect([metrics.get('ens_first'), metrics.get('member_0_first'), metrics.get('member_1_first')]).toEqual([
      10, 10, 20,
    ]);
    expect([...metrics.values()].some(Number.isNaN)).toBe(false);
  });

  it('leave out the ensemble while a member is missing', () => {
    const values = stack.values.map((output) => output.subarray(0, 12));
    const metrics = task.metrics({ ...stack, ranks: [0, 1], values }, dataset);
    expect([...metrics.keys()].every((name) => /^member_[01]_/.test(name))).toBe(true);
    expect(metrics.get('member_1_nll')).toBeCloseTo(nll(0.75, 0.5), 6);
  });

  it('are those of all samples where nobody held any out', () => {
    const whole = Float32Array.of(0.75, 0.25, 0.5, 0.5, 0.25, 0.75);
    const { heldOutBy: _, ...plain } = dataset;
    expect(task.metrics({ ...stack, ranks: [0], values: [whole] }, plain).get('ens_nll')).toBeCloseTo(
      nll(0.75, 0.5, 0.25),
      6,
    );
  });

  it('judge each step of a sequence that a member held out', () => {
    const data: Dataset = {
      ...createDataset({
        name: 'two steps',
        featureShape: [1],
        features: Float32Array.of(1, 2),
        targets: Int32Array.of(0, 1, 1, 1),
        targetShape: [2],
        classCount: 2,
        mask: Uint8Array.of(1, 1, 1, 0),
      }),
      heldOutBy: Int32Array.of(0, 1),
    };
    const own = Float32Array.of(0.75, 0.25, 0.5, 0.5, no, no, no, no, no, no, no, no, 0.25, 0.75, 0.5, 0.5);
    const ofSteps = ensembleTask(taskFor({ task: 'classification' }, data), runConfigSchema.parse({}));
    const found = ofSteps.metrics({ kind: 'probabilities', ranks: [0, 1], samples: 4, width: 2, values: [own] }, data);
    expect(found.get('ens_nll')).toBeCloseTo(nll(0.75, 0.5, 0.75), 6);
    expect(found.get('member_0_nll')).toBeCloseTo(nll(0.75, 0.5), 6);
    expect(found.get('member_1_nll')).toBeCloseTo(nll(0.75), 6);
  });
});
