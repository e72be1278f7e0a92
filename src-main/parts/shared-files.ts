import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { unlessMissing } from '../../core/node/file-error.ts';
import { type Preprocessing, preprocessingSchema } from '../../core/preprocessing/schema.ts';
import type { Combined } from '../../core/protocol/run/checkpoint-tasks.ts';
import { copyTree } from '../runs/fork/copy-run.ts';
import { formatHeader, formatNumber, formatRow } from '../store/metrics/metrics-csv.ts';
import { readOwnText } from '../../core/node/own-files.ts';
import { copyOwnFile, writeOwnFile } from '../../core/node/own-folders.ts';
import type { PartsRun } from './choose-candidates.ts';

const preprocessing = 'preprocessing.json';

/**
 * Refuses runs whose members cannot predict together. Whether they have the same targets, the process that predicts
 * tells.
 * @throws Error that names the run
 */
export async function requireSameKind(runs: readonly PartsRun[]): Promise<void> {
  const [first, ...others] = runs;
  const common = await preprocessingOf(first);
  for (const run of others) {
    const { id, task, outputs } = run.record;
    const differs =
      task !== first.record.task
        ? `has the task ${task}, the run ${first.record.id} ${first.record.task}`
        : JSON.stringify(outputs) !== JSON.stringify(first.record.outputs)
          ? `has other further outputs than the run ${first.record.id}`
          : differenceBetween(await preprocessingOf(run), common, first.record.id);
    if (differs === null) continue;
    throw new Error(`The run ${id} ${differs}. Members of one ensemble need the same: leave out one of the two runs.`);
  }
}

/** Null if nothing was fitted. */
async function preprocessingOf({ folder }: PartsRun): Promise<Preprocessing | null> {
  const text = await unlessMissing(readOwnText(folder, preprocessing));
  return text === null ? null : preprocessingSchema.parse(JSON.parse(text));
}

function differenceBetween(own: Preprocessing | null, first: Preprocessing | null, id: string): string | null {
  if (JSON.stringify(own) === JSON.stringify(first)) return null;
  const inputsOf = ({ steps, extraInputs }: Preprocessing): string => JSON.stringify([steps, extraInputs]);
  if (own === null || first === null || inputsOf(own) !== inputsOf(first))
    return `prepares its inputs differently from the run ${id} (${preprocessing})`;
  const [classes, others] = [own.target, first.target].map((target) =>
    target?.kind === 'classes' ? target.classNames : [],
  );
  if (JSON.stringify(classes) === JSON.stringify(others)) {
    return `has other targets, or in another unit, than the run ${id} (${preprocessing})`;
  }
  const isOrder = JSON.stringify(classes.toSorted()) === JSON.stringify(others.toSorted());
  const list = `${classes.slice(0, 5).join(', ')} against ${others.slice(0, 5).join(', ')}`;
  return `has ${isOrder ? 'its classes in another order' : 'other classes'} than the run ${id} (${list})`;
}

/** Copies what all members share: the preprocessing, and the code that the first run kept. */
export async function copyShared({ folder, record }: PartsRun, target: string): Promise<void> {
  if (existsSync(join(folder, preprocessing)))
    await copyOwnFile(folder, preprocessing, { folder: target, path: preprocessing });
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
  await writeOwnFile(folder, 'metrics.csv', `${formatHeader(Object.keys(validation))}${row}`);
}
