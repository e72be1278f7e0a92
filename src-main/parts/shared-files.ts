import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { writeFileAtomic } from '../../core/node/atomic-file.ts';
import { unlessMissing } from '../../core/node/file-error.ts';
import type { Combined } from '../../core/protocol/run/checkpoint-tasks.ts';
import { copyTree } from '../runs/fork/copy-run.ts';
import { copyOwnFile } from '../runs/fork/copy-sealed.ts';
import { formatHeader, formatNumber, formatRow } from '../store/metrics/metrics-csv.ts';
import { readOwnText } from '../store/runs/own-files.ts';
import { runPaths } from '../store/runs/run-folder.ts';
import type { PartsRun } from './choose-candidates.ts';

const preprocessing = 'preprocessing.json';

/**
 * Refuses runs whose members cannot predict together. Whether they have the same targets, the process that predicts tells.
 * @throws Error that names the run
 */
export async function requireSameKind(runs: readonly PartsRun[]): Promise<void> {
  const [first, ...others] = runs;
  const steps = await preprocessingOf(first);
  for (const run of others) {
    const { id, task, outputs } = run.record;
    const differs =
      task !== first.record.task
        ? `has the task ${task}, the run ${first.record.id} ${first.record.task}`
        : JSON.stringify(outputs) !== JSON.stringify(first.record.outputs)
          ? `has other further outputs than the run ${first.record.id}`
          : (await preprocessingOf(run)) === steps
            ? null
            : `prepares its inputs differently from the run ${first.record.id} (${preprocessing})`;
    if (differs === null) continue;
    throw new Error(`The run ${id} ${differs}. Members of one ensemble need the same: leave out one of the two runs.`);
  }
}

/** The same text for the same content; null if nothing was fitted. */
async function preprocessingOf({ folder }: PartsRun): Promise<string | null> {
  const text = await unlessMissing(readOwnText(folder, preprocessing));
  return text === null ? null : JSON.stringify(JSON.parse(text));
}

/** Copies what all members share: the preprocessing, and the code that the first run kept. */
export async function copyShared({ folder, record }: PartsRun, target: string): Promise<void> {
  if (existsSync(join(folder, preprocessing))) await copyOwnFile(folder, preprocessing, join(target, preprocessing));
  const hash = record.attempts.at(-1)?.sourceHash;
  if (hash) await copyTree(folder, join('sources', hash), target, () => Promise.resolve(true));
}

/** Writes the metrics on the validation split as the only row of `metrics.csv`. */
export async function writeMetrics(
  folder: string,
  { validation }: Pick<Combined, 'validation'>,
  { epoch, step }: { epoch: number; step: number },
): Promise<void> {
  const row = formatRow(epoch, step, Object.values(validation).map(formatNumber));
  await writeFileAtomic(runPaths(folder).metrics, `${formatHeader(Object.keys(validation))}${row}`);
}
