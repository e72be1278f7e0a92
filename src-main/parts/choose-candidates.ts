import { describeEnsemble } from '../../core/node/describe-ensemble.ts';
import type { CheckpointKey } from '../../core/protocol/run/checkpoint-tasks.ts';
import { memberRanksOf } from '../../core/protocol/run/lost-members.ts';
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
  /**
   * Name of the checkpoints, or `all`; by default all for `greedy` and `snapshots`, those of epochs for `swag`, and
   * else the run's usual set.
   */
  set?: string | undefined;
  /** Only those of this rank; by default of all, and for snapshots of rank 0. */
  rank?: number | undefined;
  /** Only those of this epoch and later ones, from 0; by default of all. */
  fromEpoch?: number | undefined;
}

/** A name of the same weights, and their position. */
export type CandidateRecord = CheckpointKey & Pick<CheckpointRecord, 'epoch' | 'step'>;

type IsNamed = (name: string) => boolean;

/**
 * The checkpoints of a run that an ensemble may be made from, by rank, then by time. Of checkpoints with the same
 * weights it is the first.
 * @throws Error if there is none, or for SWAG less than two of a rank
 */
export async function candidatesOf(run: PartsRun, choice: CandidateChoice): Promise<CandidateRecord[]> {
  const { folder, record } = run;
  const rank = choice.rank ?? (choice.method === 'snapshots' ? 0 : null);
  const isNamed = await namesOf(folder, choice);
  const records = await readCheckpointRecords(folder);
  const named = records.filter(
    (own) => isNamed(own.name) && (rank === null || own.rank === rank) && own.epoch >= (choice.fromEpoch ?? 0),
  );
  const keys = named.map((own) => `${own.rank} ${own.sha256}`);
  const found = named.filter((_, at) => keys.indexOf(keys[at]) === at);
  if (choice.method === 'swag') requireTrajectories(record, found, choice);
  if (found.length > 0) return found.map(({ rank: own, name, epoch, step }) => ({ rank: own, name, epoch, step }));
  const names = [...new Set(records.map(({ name }) => name))].sort();
  throw new Error(
    `The run ${record.id} has no ${describeChoice(choice, rank)}. ` +
      (names.length === 0 ? 'It has none.' : `It has: ${names.join(', ')}.`),
  );
}

async function namesOf(folder: string, { method, set }: CandidateChoice): Promise<IsNamed> {
  if (set === 'all') return () => true;
  if (set === undefined && method === 'swag') return (name) => /^epoch-\d+$/.test(name);
  if (set === undefined && (method === 'greedy' || method === 'snapshots')) return () => true;
  const wanted = set ?? (await describeEnsemble(folder)).set;
  return (name) => name === wanted;
}

function describeChoice({ set, fromEpoch }: CandidateChoice, rank: number | null): string {
  const named = set === undefined || set === 'all' ? '' : ` "${set}"`;
  const ofRank = rank === null ? '' : ` of rank ${rank}`;
  return `checkpoint${named}${ofRank}${fromEpoch === undefined ? '' : ` from epoch ${fromEpoch + 1} on`}`;
}

/** The covariance of weights needs two times or more. */
function requireTrajectories(record: RunRecord, found: readonly CheckpointRecord[], choice: CandidateChoice): void {
  const { id } = record;
  const ranks = choice.rank === undefined ? memberRanksOf(record) : [choice.rank];
  for (const rank of ranks) {
    const count = found.filter((own) => own.rank === rank).length;
    if (count >= 2) continue;
    throw new Error(
      `--method swag needs weights of 2 or more epochs, and rank ${rank} of the run ${id} has ${count} ` +
        `${describeChoice(choice, null)}. Train with --checkpoints.every-epochs 1` +
        (choice.fromEpoch === undefined ? '.' : ', or take an earlier --from-epoch.'),
    );
  }
}
