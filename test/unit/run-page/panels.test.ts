import { describe, expect, it } from 'vitest';
import {
  binCountOf,
  joinLatest,
  lackOf,
  metricChoices,
  type Panel,
  panelSchema,
  scatterOfPanel,
  specOfPanel,
  titleOfPanel,
  unreadOfPanel,
  valuesOfPanel,
} from '../../../src-renderer/views/run/charts/panel-data.ts';

const points = (steps: number[], values: number[]) => ({
  step: Int32Array.from(steps),
  value: Float64Array.from(values),
  length: steps.length,
  isThinned: false,
  stepsPerPoint: 0,
});
const panel = (fields: Partial<Panel>): Panel => ({
  id: 'panel-1',
  title: 'Mine',
  kind: 'lines',
  metrics: [],
  over: 'ranks',
  ...fields,
});

describe('the metrics that a panel can show', () => {
  it('are those of the run, with the ranks as one, by their names', () => {
    const metrics = ['val/member_1_nll', 'val/member_0_nll', 'val/ens_nll', 'train/member_0_loss', 'val/disagreement'];
    expect(metricChoices(metrics)).toEqual([
      { metric: 'val/disagreement', label: 'Disagreement' },
      { metric: 'train/member_{rank}_loss', label: 'Loss, each rank (training)' },
      { metric: 'val/member_{rank}_nll', label: 'NLL, each rank' },
      { metric: 'val/ens_nll', label: 'NLL, ensemble' },
    ]);
  });

  it('give a panel its title, and say what it lacks', () => {
    expect(titleOfPanel({ kind: 'scatter', metrics: ['val/disagreement', 'val/ens_nll'] })).toBe(
      'NLL, ensemble over Disagreement',
    );
    expect(titleOfPanel({ kind: 'lines', metrics: ['val/ens_nll', 'val/ens_mse'] })).toBe(
      'NLL, ensemble and MSE, ensemble',
    );
    expect(lackOf({ kind: 'lines', metrics: [] })).toBe('Choose at least one metric.');
    expect(lackOf({ kind: 'scatter', metrics: ['val/ens_nll', ''] })).toBe('Choose both metrics.');
    expect(lackOf({ kind: 'histogram', metrics: [''] })).toBe('Choose a metric.');
    expect(lackOf({ kind: 'scatter', metrics: ['a', 'b'] })).toBeNull();
  });

  it('are stored with the panel, and nothing else is read', () => {
    const stored = panel({ metrics: ['val/ens_nll'] });
    expect(panelSchema.safeParse(stored).data).toEqual(stored);
    expect(panelSchema.safeParse({ ...stored, kind: 'pie' }).success).toBe(false);
    expect(panelSchema.safeParse({ ...stored, metrics: [] }).success).toBe(false);
  });
});

describe('a panel of lines', () => {
  it('has the lines of all ranks of the run that is shown', () => {
    const { lines, best, yLabel } = specOfPanel(panel({ metrics: ['val/member_{rank}_nll'] }), [0, 2]);
    expect(lines).toEqual([
      { metric: 'val/member_0_nll', label: 'rank 0', role: 'rank', rank: 0 },
      { metric: 'val/member_2_nll', label: 'rank 2', role: 'rank', rank: 2 },
    ]);
    expect([best, yLabel]).toEqual(['min', 'NLL, each rank']);
    const ofMembers = specOfPanel(panel({ metrics: ['val/member_{rank}_nll'] }), [0, 1], 'member');
    expect(ofMembers.lines.map(({ label }) => label)).toEqual(['member 0', 'member 1']);
  });

  it('names the metric of each line where it has several, whose directions may differ', () => {
    const metrics = ['val/member_{rank}_nll', 'val/ens_nll', 'val/ens_acc'];
    const { lines, best } = specOfPanel(panel({ metrics }), [1]);
    expect(lines.map(({ label, role }) => [label, role])).toEqual([
      ['NLL, rank 1', 'rank'],
      ['NLL, ensemble', 'ensemble'],
      ['Accuracy, ensemble', 'other'],
    ]);
    expect(best).toBeNull();
  });
});

describe('a scatter panel', () => {
  it('pairs the values of a step; of a metric that is measured less often, its steps', () => {
    const often = points([0, 5, 10, 15, 20], [0, 1, 2, 3, 4]);
    const rare = points([7, 20], [10, 20]);
    // At step 7 the latest value of the other is that of step 5.
    expect(joinLatest(often, rare)).toEqual({ x: [1, 4], y: [10, 20] });
    expect(joinLatest(rare, often)).toEqual({ x: [10, 20], y: [1, 4] });
    // Before the first point of the other one there is no pair.
    expect(joinLatest(points([1, 9], [5, 6]), points([4, 8, 12], [7, 8, 9]))).toEqual({ x: [6], y: [8] });
    expect(joinLatest(undefined, often)).toEqual({ x: [], y: [] });
  });

  it('has a group for each rank, also against a metric of the ensemble', () => {
    const known = new Map([
      ['val/ens_nll', points([1, 2], [0.5, 0.25])],
      ['val/member_0_nll', points([1, 2], [1, 2])],
      ['val/member_1_nll', points([1, 2], [3, 4])],
    ]);
    const metrics = ['val/ens_nll', 'val/member_{rank}_nll'];
    const { groups, shown, total } = scatterOfPanel(panel({ kind: 'scatter', metrics }), [0, 1], (name) =>
      known.get(name),
    );
    expect(groups.map(({ label, x, y, ids }) => [label, x, y, ids])).toEqual([
      ['rank 0', [0.5, 0.25], [1, 2], [0, 1]],
      ['rank 1', [0.5, 0.25], [3, 4], [2, 3]],
    ]);
    expect([shown, total]).toEqual([4, 4]);
  });

  it('says how many points were measured where the page holds only some of them', () => {
    // Every fifth of the 41 points at steps 0 to 40.
    const held = { ...points([0, 5, 10, 40], [1, 2, 3, 4]), isThinned: true, stepsPerPoint: 1 };
    const scatter = panel({ kind: 'scatter', metrics: ['a', 'b'] });
    expect(scatterOfPanel(scatter, [], () => held)).toMatchObject({ shown: 4, total: 41 });
    const histogram = panel({ kind: 'histogram', metrics: ['a'], over: 'steps' });
    expect(unreadOfPanel(histogram, [], () => held)).toBe(37);
    expect(unreadOfPanel({ ...histogram, over: 'ranks' }, [], () => held)).toBe(0);
  });

  it('thins many points evenly and says of how many', () => {
    const steps = Array.from({ length: 5000 }, (_, step) => step);
    const { groups, shown, total } = scatterOfPanel(panel({ kind: 'scatter', metrics: ['a', 'b'] }), [], () =>
      points(steps, steps),
    );
    expect([shown, total]).toEqual([2000, 5000]);
    expect([groups[0].x.at(0), groups[0].x.at(-1)]).toEqual([0, 4999]);
  });
});

describe('a histogram panel', () => {
  const known = new Map([
    ['train/member_0_loss', points([1, 2, 3], [3, 1, NaN])],
    ['train/member_1_loss', points([1, 2], [4, 2])],
  ]);
  const values = (over: Panel['over']) => [
    ...valuesOfPanel(panel({ kind: 'histogram', metrics: ['train/member_{rank}_loss'], over }), [0, 1, 2], (name) =>
      known.get(name),
    ),
  ];

  it('counts the last finite value of each rank, or all finite values', () => {
    expect(values('ranks')).toEqual([1, 2]);
    expect(values('steps')).toEqual([3, 1, 4, 2]);
  });

  it('has bins after the rule of Rice, from 5 to 30', () => {
    // 2 · 64^(1/3) = 8, 2 · 1000^(1/3) = 20.
    expect([0, 8, 64, 1000, 100_000].map(binCountOf)).toEqual([5, 5, 8, 20, 30]);
  });
});
