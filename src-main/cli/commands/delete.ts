import { rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { DELETED_ENDING, renameOver } from '../../../core/node/atomic-file.ts';
import { explainFileError } from '../../../core/node/file-error.ts';
import type { RunRow } from '../../../core/protocol/pages/run-list.ts';
import { printableLine } from '../../../core/text/printable.ts';
import type { Hub } from '../../hub/hub.ts';
import { isOpen } from '../../store/index/recovery.ts';
import { isHubAlive } from '../../store/runs/hub-lock.ts';
import { readRunRecord } from '../../store/runs/run-folder.ts';
import { askOnTerminal, canAsk } from '../consent.ts';
import { exitCodes, orUsageError, UsageError } from '../errors.ts';
import { withHub } from '../open-hub.ts';

export interface DeleteOptions {
  yes?: boolean;
}

/**
 * `tutti delete <runs...>`: deletes all or, if one of them trains or the user does not agree, none.
 * @returns the exit code
 */
export function deleteRuns(names: readonly string[], { yes = false }: DeleteOptions): Promise<number> {
  return withHub(async (hub) => {
    const found = await Promise.all(names.map((name) => orUsageError(hub.find(name))));
    const runs = [...new Map(found.map((run) => [run.folder, run])).values()];
    for (const run of runs) await refuseLiving(run);
    if (!yes && !(await agrees(runs))) {
      process.stdout.write('Nothing was deleted.\n');
      return exitCodes.finished;
    }
    for (const run of runs) await deleteRun(hub, run);
    return exitCodes.finished;
  });
}

/** @throws UsageError for a run that a process trains */
async function refuseLiving({ id, folder }: RunRow): Promise<void> {
  const record = await readRunRecord(folder);
  if (!isOpen(record) || !isHubAlive(folder)) return;
  throw new UsageError(
    `The run ${id} is ${record.status} under process ${record.hub?.pid}. Stop it first: tutti stop ${id}`,
  );
}

async function agrees(runs: readonly RunRow[]): Promise<boolean> {
  if (!canAsk()) throw new UsageError('Nobody can be asked here: --yes deletes without a question.');
  const listed = runs.map(({ id, name, folder }) => `  ${id}  ${printableLine(name)}  ${printableLine(folder)}`);
  const all = runs.length === 1 ? 'this run' : `these ${runs.length} runs`;
  const question = [`Delete ${all} with all files in the folder? This cannot be undone.`, ...listed, '[y/N] '];
  return askOnTerminal(question.join('\n'));
}

/** The folder disappears under its name at once, so that nobody sees a part of it. */
async function deleteRun(hub: Hub, run: RunRow): Promise<void> {
  // It may have been resumed since the question.
  await refuseLiving(run);
  const aside = join(dirname(run.folder), `.${basename(run.folder)}${DELETED_ENDING}`);
  try {
    await renameOver(run.folder, aside);
    hub.index.remove(run.folder);
    await rm(aside, { recursive: true, force: true });
  } catch (error) {
    throw explainFileError(error, run.folder, 'delete');
  }
  process.stdout.write(`${run.id} is deleted.\n`);
}
