import type { SweepSummary } from '../../../../core/protocol/pages/sweep-summary.ts';
import { printableLine } from '../../../../core/text/printable.ts';
import { type Look, plainLook } from '../../look.ts';
import { renderTable } from '../../table.ts';
import { describeSweep } from './describe-sweep.ts';

/** A sweep: its means with standard errors, and its runs. */
export function describeSweepRuns(summary: SweepSummary, look: Look = plainLook): string[] {
  const columns = [
    { title: 'seed', right: true },
    { title: 'status' },
    { title: 'run' },
    { title: 'folder', dispensable: 1 },
  ];
  const rows = summary.runs.map(({ seed, status, id, folder }) => [String(seed), status, id, printableLine(folder)]);
  return [...describeSweep(summary, look), '', ...renderTable(columns, rows, look)];
}
