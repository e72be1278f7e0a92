import { describe, expect, it } from 'vitest';
import { chartSpecs, inOrder, moved } from '../../../src-renderer/views/run/charts/chart-specs.ts';
import { LineColumnsCache } from '../../../src-renderer/views/run/charts/line-columns.ts';
import { bestIndex, optimumMarker, patienceBand } from '../../../src-renderer/views/run/charts/marks.ts';
import { heldLayers, timeMsAt } from '../../../src-renderer/views/run/live/run-times.ts';
import { runConfigSchema } from '../../../core/protocol/run/config.ts';
import { countMembers } from '../../../core/protocol/run/strategies/ranks-and-members.ts';
import type { RunEvent } from '../../../core/protocol/run/record.ts';
import { chartedRank, describePlace, memberMetric } from '../../../src-renderer/views/run/run-facts.ts';
import type { MetricColumns } from '../../../src-renderer/stores/metric-columns.ts';

function metric(steps: number[], values: number[], fields: Partial<MetricColumns> = {}): MetricColumns {
  return {
    name: 'val/ens_nll',
    epoch: Int32Array.from(steps, (step) => Math.ceil(step / 10) - 1),
    step: Int32Array.from(steps),
    timeMs: new Float64Array(steps.length).fill(NaN),
    value: Float64Array.from(values),
    length: steps.length,
    version: 0,
    isThinned: false,
    stepsPerPoint: 0,
    ...fields,
  };
}

const anchors = [
  { step: 0, timeMs: 1000 },
  { step: 10, timeMs: 11_000 },
  { step: 20, timeMs: 31_000 },
];
const newCache = () => new LineColumnsCache({ stepsPerEpoch: 10, startMs: 1000, anchors: () => anchors });

describe('the charts of a run', () => {
  const run = { task: 'classification', ranks: [0, 1], memberCount: 2, metrics: new Set<string>(), isLive: true };

  it('exist before the first point of a live run, with the NLL of ranks and ensemble first', () => {
    const [nll, gain] = chartSpecs(run);
    expect(nll.lines.map(({ metric, role }) => [metric, role])).toEqual([
      ['val/member_0_nll', 'rank'],
      ['val/member_1_nll', 'rank'],
      ['val/ens_nll', 'ensemble'],
    ]);
    expect(gain.title).toBe('Diversity gain');
  });

  it('include only metrics with points once the run has ended', () => {
    const metrics = new Set(['val/ens_acc', 'train/member_1_loss', 'train/loss']);
    expect(chartSpecs({ ...run, metrics, isLive: false }).map(({ id }) => id)).toEqual(['accuracy', 'loss']);
  });

  it('show traffic and products of experts once they have points', () => {
    expect(chartSpecs(run).map(({ id }) => id)).not.toContain('traffic');
    const metrics = new Set(['val/product_nll', 'train/member_1_bytes_per_step']);
    const specs = chartSpecs({ ...run, metrics });
    expect(specs[0].lines.at(-1)).toMatchObject({ metric: 'val/product_nll', role: 'variant' });
    expect(specs.find(({ id }) => id === 'traffic')?.lines).toMatchObject([{ label: 'rank 1' }]);
  });

  it('take the product of jointly trained members for the ensemble, also before its first point', () => {
    const metrics = new Set(['val/product_nll', 'val/ens_own', 'val/product_own']);
    const specs = chartSpecs({ ...run, combination: 'product', metrics });
    expect(specs[0].lines.map(({ metric, label, role }) => [metric, label, role]).slice(2)).toEqual([
      ['val/ens_nll', 'mean of members', 'variant'],
      ['val/product_nll', 'ensemble', 'ensemble'],
    ]);
    expect(specs.at(-1)?.lines.map(({ metric, role }) => [metric, role])).toEqual([
      ['val/ens_own', 'other'],
      ['val/product_own', 'ensemble'],
    ]);
  });

  it('show one model on two ranks alone, without metrics that need several members', () => {
    const metrics = new Set(['val/ambiguity', 'val/disagreement', 'val/member_0_nll', 'val/mutual_information']);
    const specs = chartSpecs({ ...run, memberCount: 1, metrics });
    const [nll, ...others] = specs;
    expect(nll.lines).toEqual([{ metric: 'val/ens_nll', label: 'model', role: 'ensemble' }]);
    expect(others.map(({ id }) => id)).toEqual([
      'accuracy',
      'ece',
      'brier',
      'uncertainty',
      'loss',
      'learning-rate',
      'throughput',
    ]);
    const linesOf = (id: string) => specs.find((spec) => spec.id === id)?.lines.map(({ metric }) => metric);
    expect(linesOf('uncertainty')).toEqual(['val/predictive_entropy']);
    expect(linesOf('loss')).toEqual(['train/member_0_loss', 'train/member_1_loss']);
  });

  it('show the two members of four ranks that share their layers', () => {
    const specs = chartSpecs({ ...run, ranks: [0, 1, 2, 3] });
    const ranksIn = (id: string) => specs.find((spec) => spec.id === id)?.lines.flatMap(({ rank }) => rank ?? []);
    expect(ranksIn('nll')).toEqual([0, 1]);
    expect(ranksIn('loss')).toEqual([0, 1, 2, 3]);
  });

  it('show one line for each pipelined member, whose later stages report the same', () => {
    const metrics = new Set([
      'train/member_0_loss',
      'train/member_3_loss',
      'val/own',
      'val/member_1_own',
      'val/member_2_own',
    ]);
    const linesOf = (memberCount: number) => {
      const specs = chartSpecs({ ...run, ranks: [0, 1, 2, 3], memberCount, metrics, isPipelined: true });
      return (id: string) => specs.find((spec) => spec.id === id)?.lines.map(({ label, metric }) => [label, metric]);
    };
    expect(linesOf(2)('loss')).toEqual([
      ['member 0', 'train/member_0_loss'],
      ['member 1', 'train/member_1_loss'],
    ]);
    expect(
      linesOf(2)('nll')
        ?.slice(0, 2)
        .map(([label]) => label),
    ).toEqual(['member 0', 'member 1']);
    expect(linesOf(2)('val/own')).toEqual([
      ['val/own', 'val/own'],
      ['member 1', 'val/member_1_own'],
    ]);
    expect(linesOf(1)('loss')).toEqual([['model', 'train/member_0_loss']]);
  });

  it('show metrics of HDET and coupled members, with titles in words', () => {
    const metrics = new Set([
      'train/member_1_weight_distance',
      'train/base_learning_rate',
      'train/velocity_weight_decay',
      'train/member_0_dropout_rate',
      'train/member_0_coupling_loss',
    ]);
    const titles = chartSpecs({ ...run, metrics, isLive: false }).map(({ title }) => title);
    expect(titles).toEqual([
      'Coupling loss',
      'Distance between ranks',
      'Adapted learning rate',
      'Velocity of weight decay',
      'Dropout rate',
    ]);
  });

  it("include the project's own metrics, ensemble and members in one chart", () => {
    const metrics = new Set(['val/top5', 'val/member_1_own', 'val/ens_own']);
    const specs = chartSpecs({ ...run, metrics, isLive: false });
    expect(specs.map(({ id, lines }) => [id, lines.map(({ role, rank }) => [role, rank])])).toEqual([
      ['val/top5', [['other', undefined]]],
      [
        'val/own',
        [
          ['rank', 1],
          ['ensemble', undefined],
        ],
      ],
    ]);
  });

  it('of a regression start with the MSE, or with the NLL if variances are predicted', () => {
    expect(chartSpecs({ ...run, task: 'regression' })[0].id).toBe('mse');
    expect(chartSpecs({ ...run, task: 'heteroscedastic-regression' })[0].id).toBe('nll');
  });

  it('keep the chosen order, with new ones last', () => {
    const ids = inOrder(chartSpecs(run), ['ece', 'nll']).map(({ id }) => id);
    expect(ids.slice(0, 3)).toEqual(['ece', 'nll', 'ambiguity']);
    expect(moved(['a', 'b', 'c', 'd'], 'a', 'c')).toEqual(['b', 'c', 'a', 'd']);
    expect(moved(['a', 'b', 'c', 'd'], 'd', 'b')).toEqual(['a', 'd', 'b', 'c']);
  });
});

describe('the axes of a line', () => {
  it('has fractional epochs, and interpolates times linearly between known ones', () => {
    const { epoch, time } = newCache().columnsOf(metric([5, 10, 15], [3, 2, 1])).x;
    expect([...epoch]).toEqual([0.5, 1, 1.5]);
    expect([...(time ?? [])]).toEqual([5, 10, 20]);
    expect(timeMsAt(99, anchors)).toBe(31_000);
  });

  it('has whole epochs if the steps per epoch are unknown', () => {
    const cache = new LineColumnsCache({ stepsPerEpoch: null, startMs: 0, anchors: () => anchors });
    expect([...cache.columnsOf(metric([5, 10, 15], [3, 2, 1])).x.epoch]).toEqual([1, 1, 2]);
  });

  it('replaces estimates by measurements, and never decreases', () => {
    const timeMs = Float64Array.of(NaN, NaN, 9000, 51_000);
    const { time } = newCache().columnsOf(metric([5, 10, 15, 20], [4, 3, 2, 1], { timeMs })).x;
    expect([...(time ?? [])]).toEqual([5, 10, 10, 50]);
  });

  it('has no time if only the start is known', () => {
    const cache = new LineColumnsCache({ stepsPerEpoch: 10, startMs: 1000, anchors: () => anchors.slice(0, 1) });
    expect(cache.columnsOf(metric([5], [1])).x.time).toBeNull();
  });

  it('keeps computed values as points are appended, even into larger arrays', () => {
    const cache = newCache();
    const timeMs = Float64Array.of(7000, 8000, 9000, 0);
    const first = cache.columnsOf(metric([5, 10, 0, 0], [3, 2, 0, 0], { timeMs, length: 2 }));
    const second = cache.columnsOf(metric([5, 10, 15, 0], [3, 2, 1, 0], { timeMs, length: 3 }));
    expect(second.x.time).toBe(first.x.time);
    expect([...second.x.epoch.subarray(0, 3)]).toEqual([0.5, 1, 1.5]);
    const steps = [5, 10, 15, 20, 25];
    const third = cache.columnsOf(metric(steps, steps, { timeMs: Float64Array.of(0, 0, 0, 11_000, 12_000) }));
    expect([...(third.x.time ?? [])]).toEqual([6, 7, 8, 10, 11]);
  });

  it('recomputes for another version', () => {
    const cache = newCache();
    cache.columnsOf(metric([5, 10], [3, 2]));
    const { x, version } = cache.columnsOf(metric([15, 20], [3, 2], { version: 1 }));
    expect([version, ...x.epoch]).toEqual([1, 1.5, 2]);
  });
});

it('a member belongs to the charts of both the mean of probabilities and the product of experts', () => {
  expect(['val/ens_nll', 'val/product_nll'].map((metric) => memberMetric(metric, 3))).toEqual([
    'val/member_3_nll',
    'val/member_3_nll',
  ]);
});

describe('optimum and patience', () => {
  const columns = newCache().columnsOf(metric([10, 20, 30], [NaN, 1, 2]));

  it('the best point is the first of equally good ones, and never NaN', () => {
    expect(bestIndex(columns, 'min')).toBe(1);
    expect(bestIndex({ y: Float64Array.of(2, 5, 5), length: 3 }, 'max')).toBe(1);
    expect(bestIndex({ y: Float64Array.of(NaN), length: 1 }, 'min')).toBe(-1);
    expect(optimumMarker({ id: 'a', label: 'rank 0', columns }, 'min')).toMatchObject({
      seriesId: 'a',
      x: { step: 20, epoch: 2 },
      y: 1,
      label: 'rank 0, best after epoch 2',
    });
  });

  it('the patience window extends over future evaluations at the past interval', () => {
    expect(patienceBand(columns, 'min', 1)?.to.step).toBe(30);
    expect(patienceBand(columns, 'min', 3)?.to.step).toBe(50);
    expect(patienceBand(newCache().columnsOf(metric([10], [1])), 'min', 2)?.to).toMatchObject({ step: 30, epoch: 3 });
  });
});

describe('the ranks of a run', () => {
  it('of pipelines have the place of their layers', () => {
    const placesOf = (members: number, stages: number) => {
      const config = runConfigSchema.parse({ members, strategy: { kind: 'pipeline', stages } });
      return [countMembers(config), ...[0, members - 1].map((rank) => describePlace(config, rank))];
    };
    expect(placesOf(4, 2)).toEqual(['2 members on 4 ranks', 'member 0, stage 1 of 2', 'member 1, stage 2 of 2']);
    expect(placesOf(3, 0)).toEqual(['1 model on 3 ranks', 'stage 1 of 3', 'stage 3 of 3']);
    expect(describePlace(runConfigSchema.parse({ members: 2 }), 1)).toBeNull();
    const pipelined = runConfigSchema.parse({ members: 4, strategy: { kind: 'pipeline', stages: 2 } });
    expect([0, 1, 2, 3].map((rank) => chartedRank(pipelined, rank))).toEqual([0, 1, 0, 1]);
    expect(chartedRank(runConfigSchema.parse({ members: 4 }), 3)).toBe(3);
  });

  it('of pipelines hold the layers of the last cut', () => {
    const cut = (stages: unknown): RunEvent => ({
      time: '2026-01-01T00:00:00.000Z',
      attempt: 1,
      rank: 0,
      kind: 'stages',
      message: '',
      epoch: 0,
      step: 0,
      data: { stages },
    });
    const first = cut([{ rank: 0, ranks: [0, 1], layers: ['a', 'c'], weights: 4 }]);
    const last = cut([
      { rank: 0, ranks: [0, 1], layers: ['a', 'a'], weights: 3 },
      { rank: 2, ranks: [2, 3], layers: ['b', 'c'], weights: 1 },
    ]);
    const held = heldLayers({ events: [first, last] });
    expect(held.get(1)).toEqual({ layers: 'a', weights: 3, share: 0.75 });
    expect(held.get(2)).toEqual({ layers: 'b to c', weights: 1, share: 0.25 });
    expect([held.size, heldLayers({ events: [] }).size, heldLayers({ events: [cut('damaged')] }).size]).toEqual([
      4, 0, 0,
    ]);
  });
});
