import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { improves, modeOfMetric, resolveMode } from '../../../core/metrics/metric-mode.ts';
import type { OwnMetric } from '../../../core/metrics/registry/metric.ts';
import { runConfigSchema } from '../../../core/protocol/run/config.ts';
import { findConflicts } from '../../../src-main/runs/configuration/combinations.ts';
import { withOwnModes } from '../../../src-main/runs/configuration/metric-combinations.ts';
import { taskOf } from '../../../workers/member/tasks.ts';

const larger = ['val/ens_acc', 'val/product_acc', 'val/member_12_acc', 'val/member_{rank}_acc', 'acc'];
const smaller = [
  'val/ens_nll',
  'val/avg_member_mse',
  'val/ens_ece',
  'val/ens_brier',
  'val/product_nll',
  'test/ens_mse',
  'nll',
];
const neither = ['val/ens_std', 'val/disagreement', 'val/ambiguity', 'val/mutual_information', 'ensemble_gain'];
const unknown = ['val/own', 'val/ens_', 'train/member_0_accuracy', 'own/acc', ''];

describe('modeOfMetric', () => {
  it.each(larger)('larger is better: %s', (metric) => expect(modeOfMetric(metric)).toBe('max'));
  it.each(smaller)('smaller is better: %s', (metric) => expect(modeOfMetric(metric)).toBe('min'));
  it.each(neither)('neither is better: %s', (metric) => expect(modeOfMetric(metric)).toBeNull());
  it.each(unknown)('unknown: "%s"', (metric) => expect(modeOfMetric(metric)).toBeUndefined());

  it('knows every metric that a task computes', () => {
    const stack = {
      kind: 'probabilities' as const,
      ranks: [0, 1],
      samples: 1,
      width: 2,
      values: [Float32Array.of(0.5, 0.5, 0.25, 0.75)],
    };
    const about = { name: 'one', length: 1, featureShape: [1], features: new Float32Array(1) };
    const labels = { ...about, targets: Int32Array.of(1), classCount: 2 };
    const values = { ...about, targets: Float32Array.of(1, 2) };
    const variances = { ...stack, values: [stack.values[0], Float32Array.of(1, 1, 1, 1)] };
    const names = [
      ...taskOf('classification').metrics(stack, labels).keys(),
      ...taskOf('heteroscedastic-regression').metrics(variances, values).keys(),
    ];
    expect(names.length).toBeGreaterThan(20);
    expect(names.filter((name) => modeOfMetric(`val/${name}`) === undefined)).toEqual([]);
  });
});

describe('resolveMode', () => {
  it('accepts a given mode for any metric', () => {
    expect(resolveMode('val/own', 'max', 'earlyStopping.mode')).toBe('max');
    expect(resolveMode('val/ens_acc', 'min', 'earlyStopping.mode')).toBe('min');
  });
});

describe('improves', () => {
  it('never holds for a non-finite score, and holds for one of the two orders of two different scores', () => {
    const number = fc.double({ noNaN: true, noDefaultInfinity: true });
    fc.assert(
      fc.property(number, number, fc.constantFrom('min' as const, 'max' as const), (a, b, mode) => {
        for (const broken of [NaN, Infinity, -Infinity]) {
          expect(improves(broken, a, mode)).toBe(false);
          expect(improves(broken, null, mode)).toBe(false);
        }
        expect(improves(a, b, mode)).toBe(mode === 'max' ? a > b : a < b);
      }),
      { seed: 5 },
    );
  });
});

describe('monitors of a configuration', () => {
  const problems = (config: object) =>
    findConflicts(runConfigSchema.parse(config), [], { task: 'classification', hasOwnLoss: false });

  it('are refused before anything is written if their direction is unknown', () => {
    expect(problems({ earlyStopping: { enabled: true, monitor: 'val/disagreement' } })).toMatchObject([
      { path: 'earlyStopping.monitor', message: expect.stringContaining('Set earlyStopping.mode to min or max') },
    ]);
    expect(problems({ checkpoints: { monitor: 'val/ens_ac' } })).toMatchObject([
      { path: 'checkpoints.monitor', message: expect.stringContaining('Did you mean val/ens_acc') },
    ]);
    expect(problems({ checkpoints: { monitor: 'val/member_{rank}_acc' } })).toMatchObject([
      { path: 'checkpoints.monitor', message: expect.stringContaining('differs from rank to rank') },
    ]);
  });

  it('are accepted if the direction is known or given', () => {
    expect(problems({ earlyStopping: { enabled: true, monitor: 'val/ens_acc' } })).toEqual([]);
    expect(problems({ earlyStopping: { enabled: true, monitor: 'val/disagreement', mode: 'min' } })).toEqual([]);
    expect(problems({ checkpoints: { monitor: 'val/ens_brier' } })).toEqual([]);
  });

  const own: OwnMetric = { name: 'recall', direction: 'max', of: 'prediction', help: '' };
  const ofProject = (config: object, metrics = [own]) =>
    findConflicts(runConfigSchema.parse(config), [], { task: 'classification', hasOwnLoss: false, metrics });

  it('must be computed by the run, even if their direction is given', () => {
    const message = expect.stringContaining('this classification run computes no such metric');
    for (const monitor of ['val/ens_mse', 'val/product_nll', 'ens_nll', 'val/ens_disagreement', 'val/own']) {
      expect(problems({ checkpoints: { monitor, mode: 'min' } }), monitor).toMatchObject([{ message }]);
    }
    const joint = { strategy: { kind: 'joint' }, checkpoints: { monitor: 'val/product_acc' } };
    expect(problems(joint)).toEqual([]);
    expect(problems({ checkpoints: { monitor: 'val/ens_auroc' } })).toEqual([]);
  });

  it("may be the project's own metrics, with their direction", () => {
    expect(ofProject({ checkpoints: { monitor: 'val/ens_recall' } })).toEqual([]);
    const neither = ofProject({ checkpoints: { monitor: 'val/ens_recall' } }, [{ ...own, direction: 'none' }]);
    expect(neither).toMatchObject([{ message: expect.stringContaining('Set checkpoints.mode to min or max') }]);
    expect(ofProject({ checkpoints: { monitor: 'val/ens_recal' } })).toMatchObject([
      { message: expect.stringContaining('Did you mean val/ens_recall?') },
    ]);
  });

  it('of own metrics get a mode that holds without the project', () => {
    const config = runConfigSchema.parse({ checkpoints: { monitor: 'val/ens_recall' } });
    const { checkpoints, earlyStopping } = withOwnModes(config, { task: 'classification', metrics: [own] });
    expect([checkpoints.mode, earlyStopping.mode]).toEqual(['max', 'max']);
    const given = runConfigSchema.parse({ checkpoints: { monitor: 'val/ens_recall', mode: 'min' } });
    expect(withOwnModes(given, { task: 'classification', metrics: [own] }).checkpoints.mode).toBe('min');
  });

  it('lists of metrics name those of the task', () => {
    expect(problems({ metrics: { more: 'auroc, f1' } })).toEqual([]);
    expect(problems({ metrics: { more: 'aurc' } })).toMatchObject([
      { path: 'metrics.more', message: expect.stringContaining('Did you mean auroc?') },
    ]);
    expect(problems({ metrics: { more: 'crps' } })).toHaveLength(1);
  });
});
