import { eachMember, memberRow } from '../metrics/predictions.ts';
import type { StackedLogits } from '../metrics/stacks.ts';
import { classOutsideScores } from './outside/scores.ts';
import type { PredictionScore } from './schema.ts';
import { asPairs, eachSample, softplus } from './label-answers.ts';

/**
 * Scores that are larger for samples unlike the training data, shape `[N]`. `entropy`, `mutual-information` and
 * `variance` are sums over the labels of those of classes, with each label as two of them. Of the members' mean logits
 * z̄:
 *
 * - `energy`, −sum_l log(1 + exp(z̄_l)) (Wang, Liu, Bocchieri and Li, "Can multi-label classification networks know
 *   what they don't know?", NeurIPS 2021);
 * - `max-logit`, −max_l z̄_l.
 *
 * @param stack a logit for each label, shape `[M, N, L]`
 */
export function labelOutsideScores(score: PredictionScore, stack: StackedLogits): Float64Array {
  const labels = stack.classes;
  if (score !== 'energy' && score !== 'max-logit') {
    const each = classOutsideScores(score, asPairs(stack));
    return eachSample(each, labels, (own) => own.reduce((sum, value) => sum + value, 0));
  }
  const logits = meanLogits(stack);
  if (score === 'energy') return eachSample(logits, labels, (own) => -own.reduce((sum, z) => sum + softplus(z), 0));
  return eachSample(logits, labels, (own) => -own.reduce((most, z) => Math.max(most, z), -Infinity));
}

function meanLogits(stack: StackedLogits): Float64Array {
  const rows = eachMember(stack.members, (member) => memberRow(stack, member));
  return new Float64Array(rows[0].length).map((_, i) => rows.reduce((sum, row) => sum + row[i], 0) / rows.length);
}
