import { mixtureNll } from '../../core/metrics/likelihood.ts';
import { selectGreedily, smallestSubset } from '../../core/postprocessing/selection.ts';
import type { Combined, CombineTask } from '../../core/protocol/run/checkpoint-tasks.ts';

/** The members of an ensemble from parts: for each the positions of its candidates. */
export type Choice = Pick<Combined, 'members' | 'path'>;

export type ChoiceRequest = Pick<CombineTask, 'method' | 'rounds' | 'tolerance'> & {
  /** Number of candidates, C. */
  count: number;
};

/** What a choice knows of the candidates on held-out samples. */
export interface ChoiceSamples {
  /** log p(y_n) of each candidate, C arrays of shape `[N]`, in nats. */
  logLikelihoods: readonly Float64Array[];
  /** The same of the model with the mean of some candidates' weights. */
  ofMean: (candidates: readonly number[]) => Promise<Float64Array>;
}

/** Chooses the members without looking at samples; null where the method needs them. */
export function chooseWithoutSamples({ method, count }: ChoiceRequest): Choice | null {
  const all = Array.from({ length: count }, (_, candidate) => candidate);
  if (method === 'soup') return { members: [all], path: [] };
  return method === 'snapshots' ? { members: all.map((candidate) => [candidate]), path: [] } : null;
}

/** Chooses the members by the NLL of held-out samples. */
export async function chooseMembers(request: ChoiceRequest, samples: ChoiceSamples): Promise<Choice> {
  const { logLikelihoods } = samples;
  if (request.method === 'greedy-soup') return chooseSoup(samples);
  if (request.method === 'smallest') {
    const kept = smallestSubset(logLikelihoods, request.tolerance);
    return { members: kept.map((candidate) => [candidate]), path: [] };
  }
  const { chosen, nlls } = selectGreedily(logLikelihoods, request.rounds);
  const members = withoutCommonFactor(chosen).map((candidate) => [candidate]);
  return { members, path: chosen.map((candidate, i) => ({ candidate, nll: nlls[i] })) };
}

/**
 * Weights 2 : 4 are 1 : 2. Members that repeat are predicted each time, so the fewest repetitions with the same weights are kept, in the order of
 * the first choices.
 */
export function withoutCommonFactor(chosen: readonly number[]): number[] {
  const counts = new Map<number, number>();
  for (const candidate of chosen) counts.set(candidate, (counts.get(candidate) ?? 0) + 1);
  const factor = [...counts.values()].reduce(greatestCommonDivisor);
  return [...counts].flatMap(([candidate, count]) => Array<number>(count / factor).fill(candidate));
}

function greatestCommonDivisor(a: number, b: number): number {
  return b === 0 ? a : greatestCommonDivisor(b, a % b);
}

/**
 * Adds candidates to the mean of the weights, the best alone first, and keeps each with which the NLL is no higher than before.
 *
 * Source: the greedy soup of Wortsman et al., "Model soups", ICML 2022, with the NLL in place of the accuracy.
 */
async function chooseSoup({ logLikelihoods, ofMean }: ChoiceSamples): Promise<Choice> {
  const alone = logLikelihoods.map((row) => mixtureNll([row]));
  const [first, ...others] = alone.map((_, candidate) => candidate).sort((a, b) => alone[a] - alone[b]);
  const path = [{ candidate: first, nll: alone[first] }];
  for (const candidate of others) {
    const nll = mixtureNll([await ofMean([...path.map((kept) => kept.candidate), candidate])]);
    if (nll <= path[path.length - 1].nll) path.push({ candidate, nll });
  }
  return { members: [path.map(({ candidate }) => candidate)], path };
}
