import type { Launch } from '../../core/protocol/run/messages.ts';
import type { CheckpointRecord } from '../../core/protocol/run/record.ts';
import type { DecisionsOfOthers } from '../callbacks/follow-others.ts';
import { checkpointsOf } from '../checkpoints/checkpoint-store.ts';
import { RunFiles } from '../member/run-files.ts';
import type { History } from './history.ts';
import { readCommonState } from './saved-state.ts';

/** What a missing member needs to know of the others, up to whose end it trains alone. */
export interface Completion extends DecisionsOfOthers {
  until: NonNullable<Launch['until']>;
  /** Metrics of the others' evaluations. */
  history: History;
}

/** Reads what the others decided from the files of one of them; null for a rank that trains with the others. */
export async function readCompletion({ runFolder, until, finishedRanks }: Launch): Promise<Completion | null> {
  if (until === null) return null;
  const [other] = finishedRanks;
  const common = await readCommonState(runFolder, other, until.round);
  const best = await bestOf(runFolder, finishedRanks);
  const predictions = await new RunFiles(runFolder, other).readPredictions('validation', other, 'best');
  return { ...common, until, best, bestPredictionsEpoch: predictions?.epoch ?? null };
}

/** All ranks saved their best of the ensemble at the same evaluation, so any whole record tells it. */
async function bestOf(runFolder: string, ranks: readonly number[]): Promise<CheckpointRecord | null> {
  for (const rank of ranks) {
    const best = (await checkpointsOf(runFolder, rank)).find(({ name }) => name === 'ensemble-best');
    if (best !== undefined) return best;
  }
  return null;
}

/**
 * Brings a member that has come as far as the others to their round, and gives it their history: they can then resume
 * together.
 */
export function joinOthers(
  { until, history: others }: Completion,
  own: { rank: number; progress: { round: number }; history: History },
): void {
  own.progress.round = until.round;
  own.history.adopt(others, [`val/member_${own.rank}_`]);
}
