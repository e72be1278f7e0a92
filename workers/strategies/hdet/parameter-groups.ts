import type { LayersModel } from '../../tensorflow/tf.ts';
import { trainedWeightNames } from '../../member/weights.ts';

/** Weights by a pattern of their names; the first group that fits has them. */
export interface ParameterGroup {
  name: string;
  /** A regular expression, tried on names such as `dense_1/kernel`. */
  weights: string;
}

/**
 * The group of each trained variable, in the model's order; null for those in none.
 *
 * @throws when a pattern is no regular expression, or a group has no weights
 */
export function groupsOfVariables(model: LayersModel, groups: readonly ParameterGroup[]): (string | null)[] {
  const patterns = groups.map(({ name, weights: pattern }) => ({ name, pattern: compile(name, pattern) }));
  const trained = trainedWeightNames(model);
  const found = trained.map((weight) => patterns.find(({ pattern }) => pattern.test(weight))?.name ?? null);
  const empty = groups.find(({ name }) => !found.includes(name));
  if (empty === undefined) return found;
  throw new Error(
    `Parameter group "${empty.name}" has no weights: "${empty.weights}" fits none of ${trained.join(', ')} that an earlier group has ` +
      'not. Change the pattern, or leave the group out.',
  );
}

function compile(name: string, pattern: string): RegExp {
  try {
    return new RegExp(pattern);
  } catch (error) {
    throw new Error(`"${pattern}" of parameter group "${name}" is not a regular expression. Correct it.`, {
      cause: error,
    });
  }
}
