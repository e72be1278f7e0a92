import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { predictedLabel } from '../../../core/discovery/calibration.ts';
import { chosenBy } from '../../../core/discovery/progress.ts';
import { sampleOfPool } from '../../../core/discovery/belief.ts';
import { armsOf, type SearchGoal } from '../../../core/discovery/search.ts';
import { rangeOf } from '../../../core/series/extremes.ts';
import type { RoundPrediction } from '../../../core/protocol/pages/discovery-views.ts';
import { searchPaths } from '../../discovery/search-folder.ts';
import { readTensors } from '../../store/runs/safetensors-reader.ts';
import type { KeptSearch } from './kept-search.ts';

const binCount = 40;

/** What the first acquisition's ensemble predicted in a round. @throws Error if that was not kept */
export async function readRound({ folder, search, progress }: KeptSearch, round: number): Promise<RoundPrediction> {
  const path = join('beliefs', `${round}.safetensors`);
  const [first] = armsOf(search);
  if (!existsSync(join(folder, path))) {
    throw new Error(
      first === 'random'
        ? 'Choices at random need no ensemble, so nothing was predicted.'
        : `${searchPaths(folder).beliefs} has no predictions of round ${round}. The search keeps them when the ` +
            'round ends.',
    );
  }
  const { tensors } = await readTensors(folder, path);
  const read = (name: string): Float32Array => Float32Array.from(tensors.get(name)?.data ?? []);
  const [means, deviations] = [labelled(search.goal, read('mean')), read('deviation')];
  const indices = shownCandidates({ search, progress }, means.length);
  return {
    round,
    indices,
    means: Float32Array.from(indices, (index) => means[index]),
    deviations: Float32Array.from(indices, (index) => deviations[index]),
    histogram: histogramOf(means, search.goal),
  };
}

/** Candidates that charts show, ascending: a sample of the pool and all that the first acquisition has chosen. */
export function shownCandidates(
  { search, progress }: Pick<KeptSearch, 'search' | 'progress'>,
  candidates: number,
): Int32Array {
  const [first] = armsOf(search);
  return Int32Array.from(new Set([...sampleOfPool(candidates, search.seed), ...chosenBy(progress, first)])).sort();
}

function labelled(goal: SearchGoal, means: Float32Array): Float32Array {
  return means.map((mean) => predictedLabel(goal, mean));
}

/** Probabilities have the same bins in all rounds. */
function histogramOf(means: Float32Array, goal: SearchGoal): RoundPrediction['histogram'] {
  const { from, to } = goal.kind === 'class' ? { from: 0, to: 1 } : (rangeOf([means]) ?? { from: 0, to: 1 });
  const counts = new Float64Array(binCount);
  const scale = binCount / (to - from || 1);
  for (const mean of means) {
    if (Number.isFinite(mean)) counts[Math.min(binCount - 1, Math.max(0, Math.floor((mean - from) * scale)))] += 1;
  }
  return { from, to, counts };
}
