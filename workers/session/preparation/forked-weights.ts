import { join } from 'node:path';
import type { Launch } from '../../../core/protocol/run/messages.ts';
import { checkpointRecordSchema } from '../../../core/protocol/run/record.ts';
import { settingsOf } from '../../../core/protocol/run/settings.ts';
import { memberOfRank } from '../../../core/protocol/run/strategies/ranks-and-members.ts';
import { decodeSafetensors } from '../../../core/safetensors/safetensors.ts';
import { readSealed } from '../../checkpoints/sealed-file.ts';
import type { Member } from '../../member/member.ts';
import { writeWeights } from '../../member/weights.ts';
import { History } from '../../training/history.ts';
import type { ResumedTraining } from '../../training/state/saved-state.ts';

/**
 * Gives a rank of a forked run the weights of its checkpoint, which lie in `<run>/origin/`. Training continues with the next epoch and step;
 * optimizer, callbacks and strategy start anew.
 * @throws with file and remedy when the weights are missing, damaged, or those of another architecture
 */
export async function loadForkedWeights(
  { runFolder, placement, config }: Launch,
  member: Member,
  { epoch, step }: { epoch: number; step: number },
): Promise<ResumedTraining> {
  const rank = memberOfRank(config, placement.rank);
  const { record, content } = await readSealed(join(runFolder, 'origin', `rank-${rank}`), checkpointRecordSchema);
  writeWeights(member.model, decodeSafetensors(content).tensors, `The checkpoint "${record.name}" of the forked run`);
  return {
    progress: { epoch, batch: 0, step, round: 0, rendezvous: epoch, standingBy: false, stoppedAlone: false },
    settings: settingsOf(config),
    history: new History(),
    losses: { interval: { loss: 0, steps: 0 }, round: { loss: 0, steps: 0, samples: 0, elapsedMs: 0 } },
    strategy: null,
    points: [],
    model: record.model,
  };
}
