import { describe, expect, it } from 'vitest';
import { optimumIndex } from '../../../workers/plots/ensemble-panels.ts';
import { comparisonBars, learningCurves, reliabilityDiagram } from '../../../workers/plots/index.ts';

const epochs = [1, 2, 3, 4];
const members = [
  [0.9, 0.5, 0.7, 0.8],
  [0.9, NaN, 0.6, 0.55],
];
const ensemble = [0.8, 0.5, 0.4, 0.6];

describe('learningCurves', () => {
  it('draws members thin and coloured, and the ensemble bold and black above them', () => {
    const lines = learningCurves({ label: 'NLL', epochs, members, ensemble }).marks.filter(
      ({ kind }) => kind === 'line',
    );
    expect(lines).toMatchObject([
      { y: members[0], width: 1, color: '#0072b2', label: 'Member 0' },
      { y: members[1], width: 1, color: '#d55e00', label: 'Member 1' },
      { y: ensemble, width: 2.5, color: '#1a1a1a', label: 'Ensemble' },
    ]);
  });

  it("marks each member's own optimum and the ensemble's", () => {
    const { marks } = learningCurves({ label: 'NLL', epochs, members, ensemble });
    expect(marks.filter(({ kind }) => kind === 'points')).toMatchObject([
      { x: [2], y: [0.5], color: '#0072b2', shape: 'triangle-down' },
      { x: [4], y: [0.55], color: '#d55e00', shape: 'triangle-down' },
    ]);
    expect(marks[0]).toMatchObject({ kind: 'vertical-line', at: 3, label: 'Best ensemble (3)' });
  });

  it('uses the largest values for `max`, or the epochs that another metric chose', () => {
    const accuracy = learningCurves({ label: 'Accuracy', epochs, members, ensemble, mode: 'max' }).marks;
    expect(accuracy[0]).toMatchObject({ at: 1 });
    const chosen = learningCurves({ label: 'ECE', epochs, members, ensemble, best: { members: [1, 3], ensemble: 4 } });
    expect(chosen.marks[0]).toMatchObject({ at: 4 });
    expect(chosen.marks.filter(({ kind }) => kind === 'points')).toMatchObject([
      { x: [1], y: [0.9] },
      { x: [3], y: [0.6] },
    ]);
  });

  it('has no optima without values', () => {
    const empty = learningCurves({ label: 'NLL', epochs: [], members: [[], []], ensemble: [] });
    expect(empty.marks.map(({ kind }) => kind)).toEqual(['line', 'line', 'line']);
    const failed = learningCurves({ label: 'NLL', epochs: [1], members: [[NaN]], ensemble: [NaN] });
    expect(failed.marks.map(({ kind }) => kind)).toEqual(['line', 'line']);
  });

  it('groups many members under one name', () => {
    const many = Array.from({ length: 16 }, () => ensemble);
    const labels = learningCurves({ label: 'NLL', epochs, members: many, ensemble }).marks.flatMap((mark) =>
      mark.kind === 'line' && mark.label !== '' ? [mark.label] : [],
    );
    expect(labels).toEqual(['16 members', 'Ensemble']);
  });
});

it('optimumIndex is the first of equal values and skips NaN', () => {
  expect(optimumIndex([NaN, 2, 1, 1, 3], 'min')).toBe(2);
  expect(optimumIndex(new Float32Array([NaN, 3, 1, 3]), 'max')).toBe(1);
  expect(optimumIndex([NaN], 'min')).toBe(-1);
  expect(optimumIndex([], 'max')).toBe(-1);
});

it('comparisonBars labels each bar with four significant digits', () => {
  const { yLabel, marks } = comparisonBars({ label: 'NLL', names: ['a', 'b', 'c'], values: [1.43214, 0.50999, NaN] });
  expect(yLabel).toBe('NLL');
  expect(marks).toMatchObject([{ kind: 'bars', labels: ['a', 'b', 'c'], valueLabels: ['1.432', '0.5100', 'NaN'] }]);
});

it("reliabilityDiagram draws accuracy against confidence, and each bin's share of the samples", () => {
  const { xRange, yRange, marks } = reliabilityDiagram({
    confidence: [NaN, 0.7],
    accuracy: [NaN, 0.6],
    counts: [0, 50],
    ece: 0.1,
  });
  expect([xRange, yRange]).toEqual([
    [0, 1],
    [0, 1],
  ]);
  expect(marks).toMatchObject([
    { kind: 'bars', positions: [0.25, 0.75], values: [0, 1], barWidth: 0.45 },
    { kind: 'line', x: [0, 1], y: [0, 1] },
    { kind: 'line', x: [NaN, 0.7], y: [NaN, 0.6] },
    { kind: 'points', x: [NaN, 0.7], y: [NaN, 0.6], label: 'Accuracy (ECE 0.100)' },
  ]);
});
