import { describe, expect, it } from 'vitest';
import { trainingTimeMs } from '../../../core/protocol/history/history.ts';
import { runConfigSchema } from '../../../core/protocol/run/config.ts';
import { columnsOf, type MetricColumns } from '../../../src-renderer/stores/metric-columns.ts';
import { endReason } from '../../../src-renderer/views/run/run-facts.ts';
import { sparklinePath, summaryFigures } from '../../../src-renderer/views/run/live/summary-figures.ts';
import { runRecord, runView } from './run-fixtures.ts';

/**
 * Columns of evaluations after epochs 0, 1, ... of 10 steps each. `total`: how many the hub had before it thinned them.
 */
function columns(name: string, value: readonly number[], total = value.length): MetricColumns {
  const epoch = Int32Array.from(value, (_, i) => i);
  const step = Int32Array.from(value, (_, i) => 10 * (i + 1));
  return columnsOf({ name, epoch, step, value: Float64Array.from(value), total }, 0);
}

function figuresOf(metrics: Record<string, readonly number[]>, changes: Parameters<typeof runView>[0] = {}) {
  const all = new Map(Object.entries(metrics).map(([name, values]) => [name, columns(name, values)]));
  const figures = summaryFigures(runView({ ensembleMonitor: 'val/ens_nll', ...changes }), (name) => all.get(name));
  return figures.map(({ title, value, detail, isBetter }) => [title, value, detail, isBetter]);
}

const stopping = (patience: number, minDelta = 0): ReturnType<typeof runRecord> => {
  const record = runRecord();
  const earlyStopping = { ...record.config.earlyStopping, enabled: true, joint: true, patience, minDelta };
  return { ...record, config: { ...record.config, earlyStopping } };
};

describe('the summary of a run', () => {
  it('shows the monitored metric, its best, the gain, two further metrics and patience', () => {
    const figures = figuresOf(
      {
        'val/ens_nll': [0.9, 0.5, 0.625, 0.75],
        'val/ambiguity': [0.01, 0.02, 0.03, 0.04],
        'val/ens_acc': [0.5, 0.75],
        'val/ens_ece': [0.25, 0.25],
        'val/ens_mse': [1, 2],
      },
      { record: stopping(5) },
    );
    expect(figures).toEqual([
      ['Ensemble NLL', '0.7500', '+0.13 since the last evaluation', false],
      ['Best epoch', '2', 'NLL 0.5000', null],
      ['Diversity gain', '0.04000', 'below the mean member’s NLL', null],
      ['Accuracy', '0.7500', '+0.25 since the last evaluation', true],
      ['MSE', '2', '+1 since the last evaluation', false],
      ['Patience', '2 of 5', 'evaluations without an improvement, 40 %', null],
    ]);
  });

  it('shows no gain of a single model, which has no mean member', () => {
    const record = runRecord();
    const config = runConfigSchema.parse({ members: 2, strategy: { kind: 'data-parallel' } });
    const measured = { 'val/ens_nll': [0.9, 0.5], 'val/ambiguity': [0, 0] };
    expect(figuresOf(measured, { record: { ...record, config } })).toEqual([
      ['Model NLL', '0.5000', '−0.4 since the last evaluation', true],
      ['Best epoch', '2', 'NLL 0.5000', null],
    ]);
  });

  it('never takes a value that is not finite for a best one, nor an unknown one for a number', () => {
    const figures = figuresOf({ 'val/ens_nll': [NaN, NaN] }, { record: stopping(3) });
    expect(figures).toEqual([
      ['Ensemble NLL', '–', 'not a number (NaN)', null],
      ['Best epoch', '–', 'no finite value yet', null],
      ['Patience', '2 of 3', 'evaluations without an improvement, 67 %', null],
    ]);
    expect(figuresOf({})).toEqual([]);
  });

  it('counts patience like the callback: only changes above the smallest one, and evaluations that were thinned away', () => {
    const small = figuresOf({ 'val/ens_nll': [1, 0.995, 0.99] }, { record: stopping(9, 0.1) });
    expect(small.at(-1)?.slice(0, 2)).toEqual(['Patience', '2 of 9']);
    // Of 31 evaluations 4 were kept, so that 10 steps hold 10 of them.
    const nll = columns('val/ens_nll', [1, 0.5, 0.6, 0.7], 31);
    const view = runView({ ensembleMonitor: 'val/ens_nll', record: stopping(50) });
    expect(summaryFigures(view, (name) => (name === nll.name ? nll : undefined)).at(-1)?.value).toBe('20 of 50');
  });
});

it('a sparkline spans its box, and breaks at values that are not finite', () => {
  expect(sparklinePath([0, 1, 2], 3)).toBe('M2.0 22.0L32.0 12.0L62.0 2.0');
  expect(sparklinePath([0, NaN, 2], 3)).toBe('M2.0 22.0M62.0 2.0');
  expect(sparklinePath([3, 3], 2)).toBe('M2.0 12.0L62.0 12.0');
  expect(sparklinePath([1], 1)).toBe('');
  expect(sparklinePath([NaN, 1], 2)).toBe('');
});

it('the time of training leaves out what lies between attempts', () => {
  const [attempt] = runRecord().attempts;
  const at = (minute: number): string => new Date(Date.UTC(2026, 0, 1, 0, minute)).toISOString();
  const attempts = [
    { ...attempt, startedAt: at(0), endedAt: at(5) },
    { ...attempt, attempt: 2, startedAt: at(50), endedAt: null },
  ];
  expect(trainingTimeMs({ attempts }, Date.UTC(2026, 0, 1, 0, 53))).toBe(8 * 60_000);
});

it('the reason of an end says what patience waited for, and nothing of a run that trains', () => {
  const summary = { attempt: 1, epochs: 3, steps: 30, metrics: {}, best: null, evaluatedSets: [] };
  const record = { ...stopping(20), status: 'finished' as const };
  expect(endReason({ ...record, summary: { ...summary, stopReason: 'early-stopping' } })).toBe(
    'stopped early: no improvement for 20 evaluations',
  );
  expect(endReason({ ...record, status: 'stopped', summary: { ...summary, stopReason: 'requested' } })).toBe(
    'on request',
  );
  expect(endReason({ ...record, summary: { ...summary, stopReason: 'completed' } })).toBeNull();
  expect(endReason({ ...record, status: 'running', summary: null })).toBeNull();
});
