import { describeEnsemble } from '../../core/node/describe-ensemble.ts';
import type { CheckpointKey } from '../../core/protocol/run/checkpoint-tasks.ts';
import type { PartMethod } from '../../core/protocol/run/parts.ts';
import type { CheckpointRecord, RunRecord } from '../../core/protocol/run/record.ts';
import { readCheckpointRecords } from '../store/runs/checkpoint-records.ts';

/** A run whose checkpoints an ensemble is made from. */
export interface PartsRun {
  folder: string;
  record: RunRecord;
}

/** Which checkpoints of a run are candidates. */
export interface CandidateChoice {
  method: PartMethod;
  /** Name of the checkpoints, or `all`; by default all for `greedy` and `snapshots`, and else the run's usual set. */
  set?: string | undefined;
  /** Only those of this rank; by default of all, and for snapshots of rank 0. */
  rank?: number | undefined;
}

/** A name of the same weights, and their position. */
export type CandidateRecord = CheckpointKey & Pick<CheckpointRecord, 'epoch' | 'step'>;

/**
 * The checkpoints of a run that an ensemble may be made from, by rank, then by time. Of checkpoints with the same weights it is the first.
 * @throws Error if there is none
 */
export async function candidatesOf({ folder, record }: PartsRun, choice: CandidateChoice): Promise<CandidateRecord[]> {
  const { method } = choice;
  const takesAll =
    choice.set === 'all' || (choice.set === undefined && (method === 'greedy' || method === 'snapshots'));
  const set = takesAll ? null : (choice.set ?? (await describeEnsemble(folder)).set);
  const rank = choice.rank ?? (method === 'snapshots' ? 0 : null);
  const records = await readCheckpointRecords(folder);
  const named = records.filter((own) => (set === null || own.name === set) && (rank === null || own.rank === rank));
  const keys = named.map((own) => `${own.rank} ${own.sha256}`);
  const found = named.filter((_, at) => keys.indexOf(keys[at]) === at);
  if (found.length > 0) return found.map(({ rank: own, name, epoch, step }) => ({ rank: own, name, epoch, step }));
  const names = [...new Set(records.map(({ name }) => name))].sort();
  throw new Error(
    `The run ${record.id} has no checkpoint${set === null ? '' : ` "${set}"`}${rank === null ? '' : ` of rank ${rank}`}. ` +
      (names.length === 0 ? 'It has none.' : `It has: ${names.join(', ')}.`),
  );
}
