import { logitsOf, stackedClasses } from '../metrics/index.ts';
import { isDistanceScore } from '../postprocessing/outside/distances.ts';
import { outsideScoresOf, type ScoredSamples, scoresFor } from '../postprocessing/outside/scores.ts';
import type { Fitted } from '../postprocessing/apply.ts';
import type { OutsideScore } from '../postprocessing/schema.ts';
import type { MemberOutputStack } from './predictions.ts';
import type { EnsembleDescription } from './schema.ts';

/** Each score that suits the predictions, shape `[N]`; larger for samples unlike the training data. */
export type OutsideScores = Partial<Record<OutsideScore, Float64Array>>;

/** All scores of new samples: those of the members' outputs, and the distance that was fitted. */
export function allOutsideScores(
  stack: MemberOutputStack,
  { task }: Pick<EnsembleDescription, 'task'>,
  outside: Fitted['outside'],
): OutsideScores {
  const { distances } = stack;
  const measured =
    outside !== null && isDistanceScore(outside.score) && distances !== undefined
      ? { distances: { [outside.score]: distances } }
      : {};
  const samples = { ...scoredSamples(stack, task), ...measured };
  return Object.fromEntries(scoresFor(samples).map((score) => [score, outsideScoresOf(score, samples)]));
}

function scoredSamples(stack: MemberOutputStack, task: EnsembleDescription['task']): ScoredSamples {
  const { members, samples, width } = stack;
  const [values] = stack.values;
  switch (task) {
    case 'classification':
    case 'binary':
    case 'ordinal': {
      const kind = stack.kind === 'logits' ? 'logits' : 'probabilities';
      return { kind: 'classes', stack: stackedClasses({ ...stack, kind, values }) };
    }
    case 'multi-label': {
      const logits = stack.kind === 'label-logits' ? values : logitsOf(values, 1);
      return { kind: 'labels', stack: { members, samples, classes: width, logits } };
    }
    case 'quantile-regression':
    case 'poisson-regression':
    case 'regression':
    case 'heteroscedastic-regression':
      return { kind: 'values', means: { members, samples: samples * width, values }, columns: width };
  }
}
