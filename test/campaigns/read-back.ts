import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { exportRun } from '../../src-main/export/export-run.ts';
import { readEvents, readRunRecord } from '../../src-main/store/runs/run-folder.ts';
import { mergedMetrics, readCheckpointRecord } from '../integration/harness.ts';

/**
 * Reads everything back that a run has written, and compares it with a run of the same configuration that nobody disturbed.
 * @returns what is wrong; empty if nothing was lost
 */
export async function readBack(folder: string, undisturbed: string): Promise<string[]> {
  const wrong: string[] = [];
  const record = await readRunRecord(folder);
  if (record.status !== 'finished') wrong.push(`status ${record.status}: ${record.error?.message ?? 'no error'}`);
  await readEvents(folder);
  if (!isDeepStrictEqual(await mergedMetrics(folder), await mergedMetrics(undisturbed))) wrong.push('metrics differ');
  for (const rank of record.plan.map((placement) => placement.rank)) {
    wrong.push(...checkpointsOf(folder, undisturbed, rank));
  }
  const to = join(folder, '..', `${record.id}-export`);
  await exportRun(folder, { to, zip: false });
  if (!existsSync(to)) wrong.push('the export is missing');
  return wrong;
}

function checkpointsOf(folder: string, undisturbed: string, rank: number): string[] {
  // Ranks that train one model leave its checkpoints to the first.
  const names = (of: string): string[] => {
    const own = join(of, 'checkpoints', `rank-${rank}`);
    return existsSync(own) ? readdirSync(own).sort() : [];
  };
  const missing = names(undisturbed).filter((name) => !names(folder).includes(name));
  const wrong = missing.map((name) => `rank ${rank} lacks ${name}`);
  for (const file of names(folder).filter((name) => name.endsWith('.json'))) {
    const name = file.slice(0, -'.json'.length);
    const { sha256 } = readCheckpointRecord(folder, rank, name);
    const bytes = readFileSync(join(folder, 'checkpoints', `rank-${rank}`, `${name}.safetensors`));
    if (createHash('sha256').update(bytes).digest('hex') !== sha256) wrong.push(`rank ${rank}: ${name} is damaged`);
    else if (sha256 !== readCheckpointRecord(undisturbed, rank, name).sha256)
      wrong.push(`rank ${rank}: ${name} differs`);
  }
  return wrong;
}
