import type { Generator } from '../../../random/generator.ts';
import { holdsValue } from '../../space/domain.ts';
import { takesPart, type Assignment, type Space, type SpaceParameter } from '../../space/space.ts';
import type { Trial } from '../../trial.ts';
import { generatorFor, type Question } from '../question.ts';
import { suggestRandom } from '../random.ts';
import { triedBefore, type TriedConfigurations } from '../untried.ts';
import { Mixture } from './mixture.ts';
import { countBelow, splitTrials, type Split } from './split.ts';

/** With so many rounds of candidates that were all tried, nearly nothing is left where the density of the good trials is. */
const mostRounds = 8;

export interface TpeSettings {
  /** Trials that are drawn at random first. */
  startupTrials: number;
  /** Draws from the density of the good trials, of which the best is suggested. */
  candidates: number;
  /** Parameters of one condition are drawn together, otherwise each by itself. Null: together with one objective. */
  multivariate: boolean | null;
  /** Running trials count as bad ones, so that trials in parallel differ. */
  constantLiar: boolean;
}

/**
 * The tree-structured Parzen estimator: fits a density l to the best trials and g to the rest, draws candidates from l, and suggests the one with the
 * largest l/g of those that no trial has had. Defaults as in Optuna 5, which also repeats trials.
 *
 * Source: Bergstra et al., "Algorithms for hyper-parameter optimization", 2011; Watanabe, "Tree-structured Parzen estimator: understanding its
 * algorithm components and their roles for better empirical performance", 2023.
 */
export function suggestTpe(settings: TpeSettings, question: Question): Assignment {
  const { directions, space } = question;
  const trials = question.trials.toSorted((left, right) => left.number - right.number);
  const finished = trials.filter(({ state }) => state === 'complete' || state === 'pruned').length;
  if (finished < settings.startupTrials) return suggestRandom(question);
  const known = trials.filter(
    ({ state, number }) =>
      state !== 'failed' && number !== question.number && (settings.constantLiar || !isOpen(state)),
  );
  const split = splitTrials(known, directions, countBelow(finished, directions.length));
  const generator = generatorFor(question, 'tpe');
  const tried = triedBefore(question);
  const groups = groupsOf(space, settings.multivariate ?? directions.length === 1).map((group) => ({
    group,
    ...mixturesOf(group, split),
  }));
  for (let round = 0; round < mostRounds; round++) {
    const values = drawGroups(groups, settings.candidates, generator, tried);
    if (values !== null) return values;
  }
  return suggestRandom(question);
}

interface Group {
  group: readonly SpaceParameter[];
  good: Mixture;
  bad: Mixture;
}

/** Draws one group after the other; null where all candidates of a group would make up a configuration that was tried. */
function drawGroups(
  groups: readonly Group[],
  candidates: number,
  generator: Generator,
  tried: TriedConfigurations,
): Assignment | null {
  let values: Assignment = {};
  for (const { group, good, bad } of groups) {
    if (!takesPart(group[0], values)) continue;
    let [best, most]: [Assignment | null, number] = [null, -Infinity];
    for (let draw = 0; draw < candidates; draw++) {
      const candidate = good.sample(generator);
      const whole = { ...values, ...candidate };
      const improvement = good.logDensity(candidate) - bad.logDensity(candidate);
      if ((best === null || improvement > most) && !tried.has(whole)) [best, most] = [whole, improvement];
    }
    if (best === null) return null;
    values = best;
  }
  return values;
}

const isOpen = (state: Trial['state']): boolean => state === 'running' || state === 'paused';

/** Parameters that are drawn together: those that take part under the same condition. Parents come first. */
function groupsOf(space: Space, multivariate: boolean): SpaceParameter[][] {
  if (!multivariate) return space.map((parameter) => [parameter]);
  const groups = new Map<string, SpaceParameter[]>();
  for (const parameter of space) {
    const key = JSON.stringify(parameter.when);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [parameter]);
    else group.push(parameter);
  }
  return [...groups.values()];
}

function mixturesOf(group: readonly SpaceParameter[], { below, above }: Split): { good: Mixture; bad: Mixture } {
  const has = ({ values }: Trial): boolean => group.every(({ path, domain }) => holdsValue(domain, values[path]));
  const [good, bad] = [below, above].map((trials) => trials.filter(has).map(({ values }) => values));
  return {
    good: new Mixture(
      group,
      good,
      good.map(() => 1),
    ),
    bad: new Mixture(group, bad, rampOf(bad.length)),
  };
}

/** The newest 25 trials weigh 1, older ones less, down to 1/n for the oldest. */
export function rampOf(count: number): number[] {
  const rising = count - 25;
  return Array.from({ length: count }, (_, index) => {
    if (index >= rising) return 1;
    return rising === 1 ? 1 / count : 1 / count + ((1 - 1 / count) * index) / (rising - 1);
  });
}
