import { type SweepSummary, summarizeSweep } from '../../core/protocol/pages/sweeps/sweep-summary.ts';
import { readRunRecord } from '../store/runs/run-folder.ts';
import type { Hub } from '../hub/hub.ts';
import { runsOfSweep } from './find-sweep.ts';

/** What a sweep has found so far, from the records of its runs. @throws Error if there is no such sweep */
export async function readSweep(hub: Hub, id: string): Promise<SweepSummary> {
  const rows = runsOfSweep(hub, id);
  const runs = await Promise.all(rows.map(async ({ folder }) => ({ folder, record: await readRunRecord(folder) })));
  return summarizeSweep(rows[0].sweep, runs);
}
