import type { Combined, CombineTask } from '../../core/protocol/run/checkpoint-tasks.ts';
import type { Criterion } from './criterion.ts';

/** The members of an ensemble from parts: for each the positions of its candidates. */
export type Choice = Pick<Combined, 'members' | 'path'>;

export type ChoiceRequest = Pick<CombineTask, 'method' | 'rounds' | 'tolerance' | 'samples'> & {
  /** Number of candidates, C. */
  count: number;
  /** Positions of the candidates of the same member, in order of time. */
  trajectories: readonly (readonly number[])[];
  /** Of each candidate the number of inner members, where these become members; else empty. */
  innerMembers: readonly number[];
};

/** What a choice knows of the candidates on held-out samples. */
export interface ChoiceSamples {
  criterion: Pick<Criterion, 'lossOf' | 'greedily' | 'smallest'>;
  /** Of each candidate, as the criterion takes them. */
  rows: readonly Float64Array[];
  /** The same of the model with the mean of some candidates' weights. */
  ofMean: (candidates: readonly number[]) => Promise<Float64Array>;
}

/** Chooses the members without looking at samples; null where the method needs them. */
export function chooseWithoutSamples({
  method,
  count,
  trajectories,
  innerMembers,
  samples,
}: ChoiceRequest): Choice | null {
  const all = Array.from({ length: count }, (_, candidate) => candidate);
  switch (method) {
    case 'soup':
      return { members: [all], path: [] };
    case 'snapshots':
      return { members: all.map((candidate) => [candidate]), path: [] };
    case 'swag':
      return { members: trajectories.flatMap((own) => repeated(own, samples)), path: [] };
    case 'mc-dropout':
      return { members: all.flatMap((candidate) => repeated([candidate], samples)), path: [] };
    case 'unroll':
      return { members: all.flatMap((candidate) => repeated([candidate], innerMembers[candidate])), path: [] };
    default:
      return null;
  }
}

function repeated(parts: readonly number[], times: number): number[][] {
  return Array.from({ length: times }, () => [...parts]);
}

/** Chooses the members by their loss on held-out samples. */
export async function chooseMembers(request: ChoiceRequest, samples: ChoiceSamples): Promise<Choice> {
  const { criterion, rows } = samples;
  if (request.method === 'greedy-soup') return chooseSoup(samples);
  if (request.method === 'smallest') {
    const kept = criterion.smallest(rows, request.tolerance);
    return { members: kept.map((candidate) => [candidate]), path: [] };
  }
  if (request.method === 'top-k')
    return {
      members: bestAlone(samples)
        .slice(0, request.rounds)
        .map((best) => [best]),
      path: [],
    };
  const { chosen, losses } = criterion.greedily(rows, request.rounds);
  const members = withoutCommonFactor(chosen).map((candidate) => [candidate]);
  return { members, path: chosen.map((candidate, i) => ({ candidate, loss: losses[i] })) };
}

/**
 * Weights 2 : 4 are 1 : 2. Members that repeat are predicted each time, so the fewest repetitions with the same weights
 * are kept, in the order of the first choices.
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

/** The candidates by their own loss, the best first. */
function bestAlone({ criterion, rows }: ChoiceSamples): number[] {
  const alone = rows.map((row) => criterion.lossOf([row]));
  return alone.map((_, candidate) => candidate).sort((a, b) => alone[a] - alone[b] || a - b);
}

/**
 * Adds candidates to the mean of the weights, the best alone first, and keeps each with which the loss is no higher
 * than before.
 *
 * Source: the greedy soup of Wortsman et al., "Model soups", ICML 2022, with the NLL (of quantiles the pinball loss) in
 * place of the accuracy.
 */
async function chooseSoup({ criterion, rows, ofMean }: ChoiceSamples): Promise<Choice> {
  const alone = rows.map((row) => criterion.lossOf([row]));
  const [first, ...others] = alone.map((_, candidate) => candidate).sort((a, b) => alone[a] - alone[b]);
  const path = [{ candidate: first, loss: alone[first] }];
  for (const candidate of others) {
    const loss = criterion.lossOf([await ofMean([...path.map((kept) => kept.candidate), candidate])]);
    if (loss <= path[path.length - 1].loss) path.push({ candidate, loss });
  }
  return { members: [path.map(({ candidate }) => candidate)], path };
}
