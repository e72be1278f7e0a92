import { expect, it } from 'vitest';
import { type RunConfigInput, runConfigSchema } from '../../../core/protocol/run/config.ts';
import { type PointBatch, PointBuffer } from '../../../core/protocol/wire/points.ts';
import {
  EvaluationCollector,
  scoredRunOf,
  scoresOfRun,
  type WantedMetric,
} from '../../../src-main/studies/work/run-scores.ts';

/** Points of one evaluation, by name. */
function points(values: Record<string, number>, epoch = 0): PointBatch {
  const buffer = new PointBuffer();
  for (const [name, value] of Object.entries(values)) buffer.add(name, epoch, epoch, value);
  return buffer.take();
}

const nll: WantedMetric[] = [{ metric: 'nll', direction: 'minimize' }];

function collectorOf(config: RunConfigInput, { task = 'classification', metrics = nll } = {}): EvaluationCollector {
  return new EvaluationCollector(scoredRunOf(metrics, { config: runConfigSchema.parse(config), task }));
}

it.each<[string, RunConfigInput, number]>([
  ['data-parallel', { members: 4, strategy: { kind: 'data-parallel' } }, 1],
  ['sharded', { members: 4, strategy: { kind: 'sharded' } }, 1],
  ['hdet', { members: 4, strategy: { kind: 'hdet' } }, 1],
  ['pipeline', { members: 4, strategy: { kind: 'pipeline' } }, 1],
  ['two pipelines', { members: 4, strategy: { kind: 'pipeline', stages: 2 } }, 2],
  ['independent', { members: 4 }, 4],
])('an evaluation of %s is whole with the metrics of its members', (_, config, members) => {
  const collector = collectorOf(config);
  const ofMembers = Array.from({ length: members }, (__, member) => [`val/member_${member}_nll`, member + 1]);
  const last = ofMembers.pop() as [string, number];
  const first = { 'val/ens_nll': 0.25, ...(Object.fromEntries(ofMembers) as Record<string, number>) };
  expect(collector.take(points(first))).toEqual([]);
  const scores = [{ metric: 'nll', ensemble: 0.25, meanMember: (members + 1) / 2 }];
  expect(collector.take(points({ [last[0]]: last[1] }))).toEqual([{ step: 1, scores }]);
});

const joint: RunConfigInput = { members: 1, strategy: { kind: 'joint' } };

it.each(['classification', 'binary', 'multi-label', 'poisson-regression'])(
  'jointly trained members (%s) are scored by the product that they answer with',
  (task) => {
    const collector = collectorOf(joint, { task });
    // The mean alone does not make the evaluation whole.
    expect(collector.take(points({ 'val/ens_nll': 0.5, 'val/member_0_nll': 0.75 }))).toEqual([]);
    const scores = [{ metric: 'nll', ensemble: 0.25, meanMember: 0.75 }];
    expect(collector.take(points({ 'val/product_nll': 0.25 }))).toEqual([{ step: 1, scores }]);
  },
);

it('scores joint regression, whose product is the mean, by the mean, and own metrics by the product like all others', () => {
  const mse = [{ metric: 'mse', direction: 'minimize' as const }];
  const regression = collectorOf(joint, { task: 'regression', metrics: mse });
  expect(regression.take(points({ 'val/ens_mse': 2, 'val/member_0_mse': 3 }))).toEqual([
    { step: 1, scores: [{ metric: 'mse', ensemble: 2, meanMember: 3 }] },
  ]);
  const kappa = [{ metric: 'kappa', direction: 'maximize' as const }];
  const own = collectorOf(joint, { metrics: kappa });
  expect(own.take(points({ 'val/ens_kappa': 0.9, 'val/product_kappa': 0.5, 'val/member_0_kappa': 0.25 }))).toEqual([
    { step: 1, scores: [{ metric: 'kappa', ensemble: 0.5, meanMember: 0.25 }] },
  ]);
});

it('scores a metric of the whole ensemble, which members do not have', () => {
  const disagreement = [{ metric: 'disagreement', direction: 'maximize' as const }];
  const [evaluation] = collectorOf(joint, { metrics: disagreement }).take(points({ 'val/disagreement': 0.125 }, 4));
  expect(evaluation).toEqual({
    step: 5,
    scores: [{ metric: 'disagreement', ensemble: 0.125, meanMember: NaN }],
  });
});

it('takes the last evaluation, or the best of each kind apart, whatever its direction, and NaN only where there is nothing else', () => {
  const evaluation = (step: number, ensemble: number, meanMember: number) => ({
    step,
    scores: [{ metric: 'nll', ensemble, meanMember }],
  });
  const all = [evaluation(1, 3, 8), evaluation(2, NaN, 5), evaluation(3, 4, 7)];
  expect(scoresOfRun(all, nll, 'last')).toEqual([{ metric: 'nll', ensemble: 4, meanMember: 7 }]);
  expect(scoresOfRun(all, nll, 'best')).toEqual([{ metric: 'nll', ensemble: 3, meanMember: 5 }]);
  const largest = [{ metric: 'nll', direction: 'maximize' as const }];
  expect(scoresOfRun(all, largest, 'best')).toEqual([{ metric: 'nll', ensemble: 4, meanMember: 8 }]);
  expect(scoresOfRun([evaluation(1, NaN, NaN)], nll, 'best')).toEqual([
    { metric: 'nll', ensemble: NaN, meanMember: NaN },
  ]);
  expect(() => scoresOfRun([], nll, 'best')).toThrow('The run has no evaluation with nll of the ensemble');
});
