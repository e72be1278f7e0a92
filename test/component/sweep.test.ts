import { describe, expect, it } from 'vitest';
import type { RunSummary } from '../../core/protocol/run/record.ts';
import { runConfigSchema } from '../../core/protocol/run/config.ts';
import type { ComparedSubject } from '../../src-renderer/views/compare/compared-subject.ts';
import ResultsTable from '../../src-renderer/views/compare/results/ResultsTable.vue';
import SetsTable from '../../src-renderer/views/compare/results/SetsTable.vue';
import SweepCard from '../../src-renderer/views/compare/results/SweepCard.vue';
import RepeatField from '../../src-renderer/views/configure/RepeatField.vue';
import RunsTableRow from '../../src-renderer/views/runs/table/RunsTableRow.vue';
import { columnOf } from '../../src-renderer/views/runs/table/columns.ts';
import { runRecord, runRow, runView } from '../unit/renderer/run-fixtures.ts';
import { mountPage } from './mount-page.ts';

const sweep = { id: 'blobs-1', name: 'Blobs', of: 4, seed: 42 };

function summaryOf(nll: number): RunSummary {
  const best = { metric: 'val/ens_nll', value: nll, epoch: 1, step: 6 };
  const set = {
    set: 'final' as const,
    split: 'test' as const,
    ranks: [0],
    epochs: [1],
    ensemble: { nll },
    members: { nll: [nll + 1] },
  };
  return { attempt: 1, epochs: 2, steps: 6, stopReason: 'completed', metrics: {}, best, evaluatedSets: [set] };
}

function runOf(index: number, status: 'finished' | 'failed', nll: number) {
  const seed = 42 + 256 * index;
  const [id, name] = [`blobs-1-seed-${index}`, `Blobs, seed ${seed}`];
  const place = { ...sweep, index };
  return runView({
    record: runRecord({
      id,
      name,
      status,
      config: runConfigSchema.parse({ seed }),
      summary: summaryOf(nll),
      sweep: place,
      attempts: [],
    }),
    row: runRow({ id, name, status, sweep: place, best: { metric: 'val/ens_nll', value: nll, epoch: 1 } }),
  });
}

const subject: ComparedSubject = {
  ...sweep,
  sweep,
  runs: [runOf(0, 'finished', 1), runOf(1, 'finished', 3), runOf(2, 'failed', 99)],
};
const textsOf = (cells: { text: () => string }[]): string[] => cells.map((cell) => cell.text().replaceAll(/\s+/g, ' '));

describe('a sweep over seeds', () => {
  it('shows means with standard errors, and every run that does not count', async () => {
    const { wrapper } = await mountPage(SweepCard, { props: { subject } });
    const rows = wrapper.findAll('tbody tr').map((row) => textsOf(row.findAll('td')));
    // The mean of 1 and 3; s = √2, so s / √2 = 1.
    expect(rows[0]).toEqual(['final on test', 'NLL', '2.0 ± 1.0', '3.0 ± 1.0', '2']);
    expect(rows.slice(1).map(([seed, , status]) => [seed, status])).toEqual([
      ['42', 'finished'],
      ['298', 'finished'],
      ['554', 'failed'],
      ['810', ''],
    ]);
    expect(wrapper.text()).toContain('Not in the means: seed 554 (failed)');
    expect(wrapper.get('button').text()).toBe('Train the 2 others');
  });

  it('continues, as the user asks', async () => {
    const { wrapper, calls } = await mountPage(SweepCard, { props: { subject } }, { resumeSweep: () => undefined });
    await wrapper.get('button').trigger('click');
    await expect.poll(() => calls.filter(([method]) => method === 'resumeSweep')).toEqual([['resumeSweep', 'blobs-1']]);
  });

  it('stands beside a run in a comparison', async () => {
    const single = runOf(0, 'finished', 1);
    const alone: ComparedSubject = { id: 'other', name: 'Other', sweep: null, runs: [single] };
    const subjects = [subject, alone];
    const props = { subjects, metrics: [], baseline: null, isSelected: () => true };
    const { wrapper } = await mountPage(ResultsTable, { props });
    const rows = wrapper.findAll('tbody tr').map((row) => textsOf(row.findAll('th, td')));
    expect(rows.map(([name, , best, seeds]) => [name, seeds, best])).toEqual([
      ['Blobs', '2 of 4', '2.0 ± 1.0'],
      ['Other', '1', '1.000 (best)'],
    ]);
    const sets = await mountPage(SetsTable, { props: { subjects, baseline: alone } });
    // The difference of 1 is one standard error, which tells nothing.
    expect(sets.wrapper.findAll('tbody tr').map((row) => textsOf(row.findAll('th, td')))).toEqual([
      ['final on test', 'Blobs', '2.0 ± 1.0 +1.00 unclear'],
      ['Other', '1.000 (best)'],
    ]);
    expect(wrapper.findAll('th a').map((link) => link.attributes('href'))).toEqual([
      '/compare?runs=blobs-1',
      '/runs/other',
    ]);
  });

  it('is one row in the list of runs, which opens the sweep', async () => {
    const best = { metric: 'val/ens_nll', mean: 2, standardError: 1, count: 2 };
    const group = { id: sweep.id, name: sweep.name, of: 4, finished: 2, status: 'failed' as const, best };
    const item = { kind: 'run', row: subject.runs[0].row, sweep: group, values: [] };
    const props = { item, columns: [columnOf('best')], trend: undefined, index: 0, isActive: false, isSelected: false };
    const { wrapper } = await mountPage(RunsTableRow, { props });
    expect(wrapper.get('a').attributes('href')).toBe('/compare?runs=blobs-1');
    const text = wrapper.text().replaceAll(/\s+/g, ' ');
    expect(text).toContain('4 seeds');
    expect(text).toContain('2 of 4 seeds finished');
    expect(text).toContain('2.0 ± 1.0');
  });
});

it('the field of repetitions names the seeds, and takes whole numbers of at least 1', async () => {
  const { wrapper } = await mountPage(RepeatField, { props: { modelValue: 3, seed: 42 } });
  expect(wrapper.text()).toContain('3 runs, one after the other, from seeds 42, 298, ….');
  const field = wrapper.get('input');
  await field.setValue('0');
  expect(wrapper.emitted('update:modelValue')).toEqual([[1]]);
});
