import { describe, expect, it } from 'vitest';
import { orderSpace } from '../../../../core/studies/space/space.ts';
import { isWithin, readBrushes, withBrush, writeBrushes } from '../../../../src-renderer/charts/brushes.ts';
import {
  numberAxis,
  objectiveAxis,
  objectiveValue,
  parameterAxes,
} from '../../../../src-renderer/views/studies/trial-groups.ts';
import { trialOf } from '../study-fixtures.ts';

const space = orderSpace({
  decay: { kind: 'log', low: 1e-4, high: 1 },
  kind: { kind: 'choice', choices: ['sgd', 'adam'] },
  units: { kind: 'int', low: 1, high: 11 },
});
const axes = parameterAxes(space);
const nll = { metric: 'nll', kind: 'ensemble', direction: 'minimize' } as const;

describe('axes of a study', () => {
  it('have the scales of their parameters', () => {
    const [decay, kind, units] = axes;
    expect([decay.id, decay.label]).toEqual(['parameter decay', 'decay']);
    expect([decay.scale.isLog, units.scale.isLog]).toEqual([true, false]);
    expect(Math.log10(decay.scale.from)).toBeCloseTo(-4.12, 9);
    expect(units.scale.from).toBeCloseTo(0.7, 9);
    expect([decay.keyStep, kind.keyStep, units.keyStep]).toEqual([0.02, 0.5, 1 / 11]);
    expect(kind.scale).toEqual({ from: -0.5, to: 1.5, isLog: false });
    expect(kind.ticks).toEqual([
      { value: 0, label: 'sgd' },
      { value: 1, label: 'adam' },
    ]);
  });

  it('place a trial, and leave out one whose parameter takes no part', () => {
    const trial = trialOf(3, { values: { decay: 0.1, kind: 'adam' } });
    expect(axes.map(({ valueOf }) => valueOf(trial))).toEqual([0.1, 1, NaN]);
    expect(numberAxis([trial]).valueOf(trial)).toBe(3);
    // A journal of another program may hold a choice that the space has lost.
    expect(axes[1].valueOf(trialOf(3, { values: { kind: 'lamb' } }))).toBeNaN();
  });

  it('show a trial that has not ended by its last report, and never score a failed one', () => {
    const reports = [
      { step: 1, value: 0.9 },
      { step: 2, value: 0.7 },
    ];
    expect(objectiveValue(trialOf(0, { objectives: [0.5, 0.6] }), 1)).toBe(0.6);
    expect(objectiveValue(trialOf(0, { state: 'pruned', objectives: null, reports }), 0)).toBe(0.7);
    expect(objectiveValue(trialOf(0, { state: 'pruned', objectives: null, reports }), 1)).toBeNaN();
    expect(objectiveValue(trialOf(0, { state: 'failed', objectives: null, reports }), 0)).toBeNaN();
    expect(objectiveValue(trialOf(0, { state: 'running', objectives: null }), 0)).toBeNaN();
  });

  it('show an objective on a logarithmic scale only where all its values are above 0', () => {
    const above = [0.1, 10].map((value, number) => trialOf(number, { objectives: [value] }));
    const below = [...above, trialOf(2, { objectives: [-1] })];
    expect(objectiveAxis(nll, 0, above, true)).toMatchObject({ label: 'ensemble NLL', scale: { isLog: true } });
    expect(objectiveAxis(nll, 0, below, true).scale.isLog).toBe(false);
    expect(objectiveAxis({ ...nll, kind: 'mean-member' }, 0, above, false)).toMatchObject({
      label: 'mean member NLL',
      scale: { isLog: false },
    });
  });
});

describe('brushes', () => {
  const brushes = { 'parameter decay': { from: 0.01, to: 1 }, 'parameter kind': { from: 0.5, to: 1.5 } };
  const within = (values: Record<string, number | string>) => isWithin(trialOf(0, { values }), axes, brushes);

  it('select the trials that lie in all of them', () => {
    expect(within({ decay: 0.1, kind: 'adam' })).toBe(true);
    expect(within({ decay: 0.01, kind: 'adam' })).toBe(true);
    expect(within({ decay: 0.1, kind: 'sgd' })).toBe(false);
    expect(within({ decay: 0.001, kind: 'adam' })).toBe(false);
    expect(within({ kind: 'adam' })).toBe(false);
    expect(isWithin(trialOf(0), axes, { unknown: { from: 0, to: 1 } })).toBe(true);
  });

  it('are kept in the address', () => {
    expect(readBrushes(writeBrushes(brushes))).toEqual(brushes);
    expect(writeBrushes({})).toBe('');
    expect(writeBrushes({ number: { from: 1 / 3, to: 12 } })).toBe('{"number":[0.333333,12]}');
    for (const text of ['', '{', '[]', '{"a":[1]}', '{"a":["b","c"]}']) expect(readBrushes(text)).toEqual({});
  });

  it('are replaced and removed by axis', () => {
    const range = { from: 2, to: 3 };
    expect(withBrush(brushes, 'parameter decay', range)['parameter decay']).toEqual(range);
    expect(Object.keys(withBrush(brushes, 'parameter decay', null))).toEqual(['parameter kind']);
  });
});
