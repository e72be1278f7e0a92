import type { Launch } from '../../../core/protocol/run/messages.ts';
import { listCheckpoints } from '../../checkpoints/checkpoint-store.ts';
import { RunFiles } from '../../member/run-files.ts';
import type { Completion } from '../../training/completion.ts';
import { readCommonState } from '../../training/state/saved-state.ts';

/** Reads what the others decided from the files of one of them; null for a rank that trains with the others. */
export async function readCompletion({ runFolder, until, finishedRanks }: Launch): Promise<Completion | null> {
  if (until === null) return null;
  const [other] = finishedRanks;
  const common = await readCommonState(runFolder, other, until.round);
  const checkpoints = await listCheckpoints(runFolder);
  const best = checkpoints.find(({ rank, name }) => rank === other && name === 'ensemble-best') ?? null;
  const predictions = await new RunFiles(runFolder, other).readPredictions('validation', other, 'best');
  return { ...common, until, best, bestPredictionsEpoch: predictions?.epoch ?? null };
}
