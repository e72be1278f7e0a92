import { describe, expect, it } from 'vitest';
import {
  compareScores,
  deviceTimeline,
  frontLine,
  frontOf,
  historyLine,
  reportLines,
} from '../../../../src-renderer/views/studies/figures.ts';
import { groupsByState, parallelGroups } from '../../../../src-renderer/views/studies/trial-groups.ts';
import { studyOf } from '../../studies/studies.ts';
import { timeAt, trialOf } from '../study-fixtures.ts';

const all = () => true;
const run = (devices: string[], from: number, to: number | null) => ({
  part: { split: 0, seed: 0 },
  run: 'run',
  ranks: null,
  devices,
  startedAt: timeAt(from),
  endedAt: to === null ? null : timeAt(to),
  scores: [],
});

describe('the history of a study', () => {
  const values = [0.5, NaN, 0.495, 0.4, 0.6];
  const trials = values.map((value, number) => trialOf(number, { objectives: [value, -value] }));

  it('holds the best value until the last trial, and skips what is not better', () => {
    expect(historyLine(studyOf(), trials, 0)).toMatchObject({
      x: [0, 2, 3, 4],
      y: [0.5, 0.495, 0.4, 0.4],
      isStep: true,
    });
    const failed = trials.with(3, trialOf(3, { state: 'failed', objectives: null }));
    expect(historyLine(studyOf(), failed, 0)).toMatchObject({ x: [0, 2, 4], y: [0.5, 0.495, 0.495] });
    expect(historyLine(studyOf(), [], 0)).toMatchObject({ x: [], y: [] });
  });

  it('follows the minimum improvement, which belongs to the first objective', () => {
    const nll = { metric: 'nll', kind: 'ensemble', direction: 'minimize' } as const;
    const study = studyOf({ minimumImprovement: 0.01, objectives: [nll, { ...nll, direction: 'maximize' }] });
    expect(historyLine(study, trials, 0)).toMatchObject({ x: [0, 3, 4], y: [0.5, 0.4, 0.4] });
    expect(historyLine(study, trials, 1)).toMatchObject({ x: [0, 2, 3, 4], y: [-0.5, -0.495, -0.4, -0.4] });
  });
});

describe('the Pareto front', () => {
  const points = [[1, 3], [2, 2], [3, 1], [3, 3], [2, 2], [NaN, 0]]; // prettier-ignore
  const trials = [
    ...points.map((objectives, number) => trialOf(number, { objectives })),
    trialOf(6, { state: 'failed', objectives: null }),
  ];

  it('has the trials that none dominates, equal ones together', () => {
    const front = frontOf(trials, ['minimize', 'minimize']);
    expect([...front]).toEqual([0, 1, 2, 4]);
    expect(frontLine(trials, front)).toMatchObject({ x: [1, 2, 2, 3], y: [3, 2, 2, 1] });
    expect([...frontOf(trials, ['maximize', 'minimize'])]).toEqual([2]);
    expect([...frontOf([], ['minimize', 'minimize'])]).toEqual([]);
  });
});

describe('ensembles beside their members', () => {
  const score = (ensemble: number, meanMember: number, error = NaN) => [
    { metric: 'mse', ensemble, ensembleError: error, meanMember, meanMemberError: error },
  ];
  // As published for wine: tuned for the ensemble, less weight decay.
  const trials = [
    trialOf(0, { values: { decay: 0.153 }, scores: score(0.5525, 0.61, 0.01) }),
    trialOf(1, { values: { decay: 0.339 }, scores: score(0.5717, 0.58, 0.02) }),
    trialOf(2, { values: {}, scores: score(0.1, 0.1) }),
    trialOf(3, { values: { decay: 1 }, scores: [] }),
    trialOf(4, { state: 'failed', values: { decay: 2 }, scores: score(0.2, 0.2) }),
  ];

  it('have an optimum each', () => {
    const { groups, marks } = compareScores(trials, 'mse', 'minimize', ({ values }) => Number(values.decay ?? NaN));
    expect(groups.map(({ label, ids, x, y, errors }) => [label, ids, x, y, errors])).toEqual([
      ['ensemble', [0, 1], [0.153, 0.339], [0.5525, 0.5717], [0.01, 0.02]],
      ['mean member', [0, 1], [0.153, 0.339], [0.61, 0.58], [0.01, 0.02]],
    ]);
    expect(marks.map(({ x, label }) => [x, label])).toEqual([
      [0.153, 'ensemble: 0.5525 at 0.1530'],
      [0.339, 'mean member: 0.5800 at 0.3390'],
    ]);
  });

  it('are nothing without scores', () => {
    expect(compareScores(trials, 'nll', 'minimize', () => 1)).toEqual({ groups: [], marks: [] });
  });
});

describe('groups of trials', () => {
  const trials = [trialOf(0), trialOf(1, { state: 'failed' }), trialOf(2), trialOf(3, { state: 'pruned' })];

  it('differ by state and by whether they are selected', () => {
    const groups = groupsByState(
      trials,
      ({ number }) => number > 0,
      ({ number }) => ({ x: number, y: 2 * number }),
    );
    expect(groups.map(({ label, isFaded, symbol, ids, y }) => [label, isFaded, symbol, ids, y])).toEqual([
      ['complete', true, 'dot', [0], [0]],
      ['complete', false, 'dot', [2], [4]],
      ['pruned', false, 'ring', [3], [6]],
      ['failed', false, 'cross', [1], [2]],
    ]);
    expect(groups.every((group) => !('errors' in group))).toBe(true);
  });

  it('have errors where some are known', () => {
    const [group] = groupsByState(trials.slice(0, 1), all, () => ({ x: 0, y: 0, error: 0.1 }));
    expect(group.errors).toEqual([0.1]);
  });

  it('are stronger as lines the better they are', () => {
    const many = Array.from({ length: 20 }, (_, number) => trialOf(number, { objectives: [number] }));
    const shown = [...many, trialOf(20, { state: 'failed', objectives: null })];
    const axis = { id: 'a', label: 'a', scale: { from: 0, to: 1, isLog: false }, keyStep: 1 };
    const axes = [{ ...axis, valueOf: ({ number }: { number: number }) => number }];
    const groups = parallelGroups(shown, ({ number }) => number !== 0, axes, 0, 'maximize');
    expect(groups.map(({ label, ids }) => [label, ids.length])).toEqual([
      ['not selected', 1],
      ['best tenth', 2],
      ['better half', 8],
      ['worse half', 9],
      ['failed', 1],
    ]);
    expect(groups[1]).toMatchObject({ ids: [19, 18], rows: [[19], [18]] });
  });
});

describe('the timeline of devices', () => {
  const trials = [
    trialOf(0, { runs: [run(['cpu:0', 'cpu:10'], 5, 8)] }),
    trialOf(1, { state: 'running', endedAt: null, runs: [run(['cpu:2'], 6, null)] }),
    trialOf(2, { state: 'failed', endedAt: timeAt(9), runs: [run(['cpu:2'], 7, null)] }),
  ];

  it('counts from the first run, by device', () => {
    const { devices, groups } = deviceTimeline(trials, all, Date.parse(timeAt(20)));
    expect(devices).toEqual(['cpu:0', 'cpu:2', 'cpu:10']);
    expect(groups.map(({ label, spans }) => [label, spans])).toEqual([
      [
        'complete',
        [
          { id: 0, row: 0, from: 0, to: 3 },
          { id: 0, row: 2, from: 0, to: 3 },
        ],
      ],
      ['running', [{ id: 1, row: 1, from: 1, to: 15 }]],
      ['failed', [{ id: 2, row: 1, from: 2, to: 4 }]],
    ]);
  });

  it('is empty without runs', () => {
    expect(deviceTimeline([trialOf(0)], all, 0)).toEqual({ devices: [], groups: [] });
  });
});

describe('intermediate values', () => {
  it('are one line with gaps for each state', () => {
    const reports = (...values: number[]) => values.map((value, index) => ({ step: index + 1, value }));
    const trials = [
      trialOf(0, { reports: reports(3, 2) }),
      trialOf(1, { reports: reports(5) }),
      trialOf(2, { state: 'pruned', reports: reports(9, NaN) }),
      trialOf(3),
    ];
    const { lines, shown, reporting } = reportLines(trials, ({ number }) => number !== 1);
    expect([shown.length, reporting]).toEqual([3, 3]);
    expect(lines.map(({ label, isFaded, x, y }) => [label, isFaded, x, y])).toEqual([
      ['complete', true, [1, NaN], [5, NaN]],
      ['complete', false, [1, 2, NaN], [3, 2, NaN]],
      ['pruned', false, [1, 2, NaN], [9, NaN, NaN]],
    ]);
  });

  it('are drawn for the newest of many, the selected ones first', () => {
    const many = Array.from({ length: 1000 }, (_, number) => trialOf(number, { reports: [{ step: 1, value: 1 }] }));
    const { shown, reporting } = reportLines(many, ({ number }) => number < 100);
    expect([shown.length, reporting]).toEqual([300, 1000]);
    expect([shown[0].number, shown[99].number, shown[100].number]).toEqual([0, 99, 800]);
  });
});
