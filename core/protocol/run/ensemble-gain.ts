import { modeOfMetric } from '../../metrics/metric-mode.ts';
import { estimate, isBeyondNoise } from '../../numeric/estimate.ts';
import { ensemblesOf, type EvaluatedSet } from './record.ts';
import { formatMetric } from '../../text/numbers.ts';

/** An ensemble's value of a metric beside those of its members. */
interface Gain {
  ensemble: number;
  /** The mean of the members' values. */
  average: number;
  /** The best member's value. */
  best: number;
  /** `unclear`: the members' spread explains the difference. */
  verdict: 'better than all' | 'better' | 'unclear' | 'worse';
}

/** The losses that the first sentence compares: the first one that the set has. */
const losses = [
  { metric: 'nll', title: 'NLL' },
  { metric: 'pinball', title: 'pinball loss' },
  { metric: 'mse', title: 'MSE' },
];

/** The further sentences, which follow the one that compares the losses. */
const further = [
  { metric: 'ece', say: 'The gap between its confidence and its accuracy (ECE) is', show: formatMetric },
  { metric: 'acc', say: 'Its share of right answers is', show: (share: number) => `${(100 * share).toFixed(1)} %` },
  { metric: 'mse', say: 'Its mean squared error is', show: formatMetric },
];

/**
 * What an ensemble gains over its members, in one to three sentences with the scores of a set of checkpoints. One says
 * that the ensemble is better only where the mean of the members' differences from it is beyond noise
 * ({@link isBeyondNoise}): training the members with other seeds would hardly reverse it. Scores that are missing or
 * not finite are left out. None for a single member.
 */
export function describeGain(found: EvaluatedSet): string[] {
  const [{ label, prefix }] = ensemblesOf(found.ensemble);
  const gainOf = (metric: string): Gain | null => compareMembers(found, metric, prefix);
  const [loss] = losses.flatMap(({ metric, title }) => {
    const gain = gainOf(metric);
    return gain === null ? [] : [{ metric, title, ...gain }];
  });
  if (loss === undefined) return [];
  const first =
    `The ${label} (${found.set}) predicts the ${found.split} split ` +
    `${verdicts[loss.verdict](found.members[loss.metric].length)}: its ${loss.title} is ` +
    `${formatMetric(loss.ensemble)}, theirs ${formatMetric(loss.average)} on average and ` +
    `${formatMetric(loss.best)} at best.`;
  const others = further.flatMap(({ metric, say, show }) => {
    const own = metric === loss.metric ? null : gainOf(metric);
    if (own === null) return [];
    return [`${say} ${show(own.ensemble)}, theirs ${show(own.average)} on average${remarks[own.verdict]}.`];
  });
  return [first, ...others];
}

const verdicts: Record<Gain['verdict'], (members: number) => string> = {
  'better than all': (members) => `better than each of its ${members} members`,
  better: (members) => `better than its ${members} members do on average`,
  unclear: (members) => `about as well as its ${members} members, as far as their spread tells`,
  worse: (members) => `worse than its ${members} members do on average`,
};

const remarks: Record<Gain['verdict'], string> = {
  'better than all': '',
  better: '',
  unclear: ', which is no clear difference',
  worse: ', which is better than the ensemble',
};

function compareMembers({ ensemble, members }: EvaluatedSet, metric: string, prefix: string): Gain | null {
  const value = ensemble[`${prefix}${metric}`];
  const values = members[metric] ?? [];
  if (values.length < 2 || ![value, ...values].every((score) => Number.isFinite(score))) return null;
  const sign = modeOfMetric(metric) === 'max' ? -1 : 1;
  const difference = estimate(values.map((score) => sign * (score - value)));
  const best = sign * Math.min(...values.map((score) => sign * score));
  const average = value + sign * difference.mean;
  return { ensemble: value, average, best, verdict: judge(difference, sign * (best - value)) };
}

/** @param mean by how much members are worse than the ensemble @param ofBest the best member's difference */
function judge(difference: ReturnType<typeof estimate>, ofBest: number): Gain['verdict'] {
  if (!isBeyondNoise(difference)) return 'unclear';
  if (difference.mean < 0) return 'worse';
  return ofBest > 0 ? 'better than all' : 'better';
}
