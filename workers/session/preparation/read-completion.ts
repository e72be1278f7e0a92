import type { CheckpointRecord } from '../../../core/protocol/run/record.ts';
import type { Launch } from '../../../core/protocol/run/messages.ts';
import { checkpointsOf } from '../../checkpoints/checkpoint-store.ts';
import { RunFiles } from '../../member/run-files.ts';
import type { Completion } from '../../training/completion.ts';
import { readCommonState } from '../../training/saved-state.ts';

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
