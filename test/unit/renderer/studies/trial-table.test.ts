import { describe, expect, it } from 'vitest';
import { orderSpace } from '../../../../core/studies/space/space.ts';
import { progressText, scoreText, valuesText } from '../../../../src-renderer/views/studies/figures.ts';
import { readTyped, sortTrials, trialColumns, typedOf } from '../../../../src-renderer/views/studies/trial-table.ts';
import { studyOf } from '../../studies/studies.ts';
import { trialOf } from '../study-fixtures.ts';

const study = studyOf({
  space: { decay: { kind: 'log', low: 1e-4, high: 1 }, kind: { kind: 'choice', choices: ['sgd', 2, true] } },
});
const columns = trialColumns(study, orderSpace(study.space));
const trials = [
  trialOf(0, { values: { decay: 0.01, kind: 'sgd' }, objectives: [0.5], standardErrors: [0.0123] }),
  trialOf(1, { state: 'failed', objectives: null, values: { decay: 1 }, endedAt: null }),
  trialOf(2, { state: 'pruned', objectives: null, values: { kind: 2 }, reports: [{ step: 1, value: 0.7 }] }),
  trialOf(3, {
    values: { decay: 0.1, kind: true },
    objectives: [NaN],
    isEnqueued: true,
    endedAt: '2026-11-23T07:02:00.000Z',
  }),
];
const order = (column: string, isDescending = false) =>
  sortTrials(trials, columns, { column, isDescending }).map(({ number }) => number);

describe('the table of trials', () => {
  it('shows failed trials as failed, and others with their errors', () => {
    expect(columns.map(({ title }) => title)).toEqual(['Trial', 'State', 'ensemble NLL', 'decay', 'kind', 'Duration']);
    expect(trials.map((trial) => columns.map(({ text }) => text(trial)))).toEqual([
      ['0', 'complete', '0.5000 ± 0.012', '0.01000', 'sgd', '8 s'],
      ['1', 'failed', '–', '1', '–', '–'],
      ['2', 'pruned', '0.7000 so far', '–', '2', '8 s'],
      ['3', 'complete, enqueued', '–', '0.1000', 'true', '1 m 30 s'],
    ]);
  });

  it('sorts by any column, with what has no value last', () => {
    expect(order('objective 0')).toEqual([0, 2, 1, 3]);
    expect(order('objective 0', true)).toEqual([2, 0, 1, 3]);
    expect(order('parameter decay')).toEqual([0, 3, 1, 2]);
    expect(order('parameter kind')).toEqual([3, 2, 0, 1]);
    expect(order('state')).toEqual([0, 3, 2, 1]);
    expect(order('seconds', true)).toEqual([3, 0, 2, 1]);
    expect(order('unknown', true)).toEqual([3, 2, 1, 0]);
  });
});

describe('words about a study', () => {
  it('count what ended, and name the rest', () => {
    const counts = { wanted: 100, running: 3, paused: 0, complete: 40, pruned: 0, failed: 2 };
    expect(progressText(counts)).toBe('42 of 100 trials ended, 3 running, 2 failed');
  });

  it('spell scores and values', () => {
    expect(scoreText({ objectives: [0.5525], standardErrors: [0.00312] })).toBe('0.5525 ± 0.0031');
    expect(scoreText({ objectives: [0.5525], standardErrors: [NaN] })).toBe('0.5525');
    expect(scoreText({ objectives: null, standardErrors: null })).toBe('–');
    expect(valuesText({ decay: 0.153, kind: 'sgd', flag: false })).toBe('decay 0.1530, kind sgd, flag false');
  });
});

describe('values that someone types', () => {
  const space = orderSpace({
    kind: { kind: 'choice', choices: ['sgd', 'adam', 5] },
    momentum: { kind: 'float', low: 0, high: 0.99, when: { path: 'kind', equals: ['sgd'] } },
    units: { kind: 'int', low: 1, high: 8 },
  });

  it('are read for the parameters that take part', () => {
    const read = readTyped(space, { kind: 'adam', units: '4', momentum: 'old' });
    expect(read).toMatchObject({ values: { kind: 'adam', units: 4 }, problem: null });
    expect(read.taking.map(({ path }) => path)).toEqual(['kind', 'units']);
    expect(readTyped(space, { kind: '5', units: '4' }).values).toEqual({ kind: 5, units: 4 });
    expect(readTyped(space, typedOf({ kind: 'sgd', units: 8, momentum: 0.5 })).values).toEqual({
      kind: 'sgd',
      units: 8,
      momentum: 0.5,
    });
  });

  it('say what is wrong', () => {
    const problem = (typed: Record<string, string>) => readTyped(space, typed).problem;
    expect(problem({ kind: 'adam' })).toBe('units is missing: give it a whole number from 1 to 8.');
    expect(problem({ kind: 'adam', units: '2.5' })).toBe('units is 2.5, but must be a whole number from 1 to 8.');
    expect(problem({ kind: 'adam', units: 'two' })).toBe('units is "two", but must be a whole number from 1 to 8.');
    expect(problem({ kind: 'sgd', units: '2', momentum: '' })).toBe(
      'momentum is missing: give it a number from 0 to 0.99.',
    );
  });
});
