import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { dirname, relative } from 'node:path';
import { unlessMissing } from '../../../core/node/file-error.ts';
import { requireOwnFolder } from '../../../core/node/own-files.ts';
import type { CheckpointList } from '../../../core/protocol/pages/run-data.ts';
import type { CheckpointKey } from '../../../core/protocol/run/checkpoint-tasks.ts';
import { checkpointFiles, readCheckpointRecords } from '../../store/runs/checkpoint-records.ts';
import { isOpen } from '../../store/index/recovery.ts';
import { isHubAlive } from '../../store/runs/hub-lock.ts';
import { readRunRecord } from '../../store/runs/run-folder.ts';
import { isSame, pinCheckpoints as pinInNotes, readNotesIfWhole } from '../../store/runs/run-notes.ts';
import type { HubParts } from '../../hub/run-feed.ts';
import type { Trash } from './trash.ts';

/** Names whose weights a run replaces while it trains. Checkpoints of epochs and requests are written once. */
const replacedNames = ['ensemble-best', 'member-best', 'final'];

/**
 * The checkpoints of a run, by rank and epoch, without those whose records are damaged. If best weights are kept under
 * several names, each of them is marked as best.
 */
export async function listCheckpoints({ hub }: HubParts, id: string): Promise<CheckpointList> {
  const { folder } = await hub.find(id);
  const warnings: string[] = [];
  const records = await readCheckpointRecords(folder, ({ message }) => warnings.push(message));
  const { notes, problem } = await readNotesIfWhole(folder);
  if (problem !== null) warnings.push(problem);
  const stepsOf = (name: string) =>
    new Map(records.filter((record) => record.name === name).map(({ rank, step }) => [rank, step]));
  const [ensembleBest, memberBest] = [stepsOf('ensemble-best'), stepsOf('member-best')];
  const cells = records.map((record) => ({
    record,
    isPinned: notes.pinnedCheckpoints.some((pinned) => isSame(pinned, record)),
    isEnsembleBest: ensembleBest.get(record.rank) === record.step,
    isMemberBest: memberBest.get(record.rank) === record.step,
  }));
  return { cells, warnings };
}

/** @throws Error if a checkpoint to pin does not exist */
export async function pinCheckpoints(
  { hub }: HubParts,
  id: string,
  { checkpoints, isPinned }: { checkpoints: CheckpointKey[]; isPinned: boolean },
): Promise<void> {
  const { folder } = await hub.find(id);
  if (isPinned) for (const key of checkpoints) await presentFiles(folder, key);
  await pinInNotes(folder, checkpoints, isPinned);
}

/** Moves checkpoints to the trash, all or none. @returns the key that restores them */
export async function deleteCheckpoints(
  { hub }: HubParts,
  trash: Trash,
  id: string,
  checkpoints: readonly CheckpointKey[],
): Promise<{ deletion: string }> {
  const { folder } = await hub.find(id);
  await refuseReplaced(folder, checkpoints);
  const deletion = `checkpoints-${randomUUID()}`;
  const paths: string[] = [];
  for (const key of checkpoints) paths.push(...(await presentFiles(folder, key)));
  await trash.put(deletion, paths);
  return { deletion };
}

async function refuseReplaced(folder: string, checkpoints: readonly CheckpointKey[]): Promise<void> {
  const replaced = checkpoints.find(({ name }) => replacedNames.includes(name));
  if (replaced === undefined) return;
  const record = await readRunRecord(folder);
  if (!isOpen(record) || !isHubAlive(folder)) return;
  throw new Error(
    `The run ${record.id} is ${record.status} and may replace "${replaced.name}" of rank ${replaced.rank} at any ` +
      'moment. Delete it once the run has ended. Checkpoints of single epochs can be deleted now.',
  );
}

async function presentFiles(folder: string, key: CheckpointKey): Promise<string[]> {
  const [record, ...weights] = checkpointFiles(folder, key);
  await unlessMissing(requireOwnFolder(folder, relative(folder, dirname(record))));
  if (existsSync(record)) return [record, ...weights.filter((path) => existsSync(path))];
  throw new Error(
    `Rank ${key.rank} has no checkpoint "${key.name}" (${record} is missing). It was deleted, or is being replaced.`,
  );
}
