import { eachMember, meanProbabilities, memberProbabilities } from './predictions.ts';
import type { Probabilities, StackedClasses } from './stacks.ts';

/**
 * Uncertainty of an ensemble's classes and its parts, in nats; NaN for a sample whose probabilities are not all finite.
 *
 * Source: Gal, "Uncertainty in deep learning", PhD thesis, Cambridge 2016, section 3.3.1; for ensembles
 * Lakshminarayanan, Pritzel and Blundell, "Simple and scalable predictive uncertainty estimation using deep ensembles",
 * NeurIPS 2017.
 */

/** Total uncertainty: the entropy of the mean prediction, H[1/M sum_m p_m], shape `[N]`. From 0 to log K. */
export function predictiveEntropy(stack: StackedClasses): Float64Array {
  return entropy(meanProbabilities(stack));
}

/** Aleatoric uncertainty, the data's share: the mean of the members' entropies, 1/M sum_m H[p_m], shape `[N]`. */
export function expectedEntropy(stack: StackedClasses): Float64Array {
  const entropies = eachMember(stack.members, (member) => entropy(memberProbabilities(stack, member)));
  return new Float64Array(stack.samples).map(
    (_, sample) => entropies.reduce((sum, values) => sum + values[sample], 0) / stack.members,
  );
}

/**
 * Epistemic uncertainty, the model's share: the mutual information between label and member, predictive entropy -
 * expected entropy, shape `[N]`. 0 where all members agree, at most log M. Never negative (Jensen), so rounding below 0
 * is clipped.
 */
export function mutualInformation(stack: StackedClasses): Float64Array {
  return mutualInformationOf(predictiveEntropy(stack), expectedEntropy(stack));
}

/** {@link mutualInformation} from the predictive and the expected entropy, both `[N]`. */
export function mutualInformationOf(predictive: Float64Array, expected: Float64Array): Float64Array {
  return predictive.map((total, sample) => Math.max(0, total - expected[sample]));
}

/** Shannon entropy of every sample, -sum_k p log p in nats with 0 log 0 = 0, shape `[N]`. */
export function entropy(probabilities: Probabilities): Float64Array {
  const { samples, classes, values } = probabilities;
  const entropies = new Float64Array(samples);
  for (let sample = 0; sample < samples; sample++) {
    let sum = 0;
    for (let index = sample * classes; index < (sample + 1) * classes; index++) {
      if (values[index] !== 0) sum -= values[index] * Math.log(values[index]);
    }
    entropies[sample] = Number.isFinite(sum) ? sum : NaN;
  }
  return entropies;
}
