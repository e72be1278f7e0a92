import type { Generator } from '../../random/generator.ts';
import { type ChoiceDomain, holdsValue, type ParameterValue } from '../space/domain.ts';
import { type Assignment, type Space, type SpaceParameter, takesPart } from '../space/space.ts';
import { type Direction, lossesOf, lossOf, type Trial } from '../trial.ts';
import { generatorFor, type Question } from './question.ts';
import { suggestRandom } from './quasi-random.ts';
import { triedBefore, type TriedConfigurations } from './untried.ts';
import { type Kernels, logSumExp, NumericKernels } from './tpe-kernels.ts';
import { chooseFronts } from '../pareto/subset.ts';

/** After this many rounds in which all candidates were tried before, little is left where good trials are dense. */
const mostRounds = 8;

interface TpeSettings {
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
 * The tree-structured Parzen estimator: fits a density l to the best trials and g to the rest, draws candidates from l,
 * and suggests the one with the largest l/g of those that no trial has had. Defaults as in Optuna 5, which also repeats
 * trials.
 *
 * Source: Bergstra et al., "Algorithms for hyper-parameter optimization", 2011; Watanabe, "Tree-structured Parzen
 * estimator: understanding its algorithm components and their roles for better empirical performance", 2023.
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

/**
 * Draws one group after the other; null where all candidates of a group would make up a configuration that was tried.
 */
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

/** A mixture of products over parameters: one component around each observed assignment, and the prior's. */
export class Mixture {
  readonly #parameters: readonly SpaceParameter[];
  readonly #kernels: readonly Kernels<ParameterValue>[];
  readonly #weights: Float64Array;
  /** The logarithm of the weight, and what the kernels add without a value. */
  readonly #constants: Float64Array;
  readonly #logDensities: Float64Array;

  /** @param weights one for each assignment; the prior weighs 1 */
  constructor(parameters: readonly SpaceParameter[], observed: readonly Assignment[], weights: readonly number[]) {
    this.#parameters = parameters;
    this.#kernels = parameters.map((parameter) => kernelsOf(parameter, observed));
    const sum = weights.reduce((total, weight) => total + weight, 1);
    this.#weights = Float64Array.from([...weights, 1], (weight) => weight / sum);
    this.#constants = this.#weights.map(Math.log);
    for (const kernels of this.#kernels) kernels.addConstants(this.#constants);
    this.#logDensities = new Float64Array(this.#constants.length);
  }

  /** Draws a component, then each parameter's value from its kernel. */
  sample(generator: Generator): Assignment {
    let rest = generator.uniform();
    let kernel = 0;
    while (kernel < this.#weights.length - 1 && rest >= this.#weights[kernel]) rest -= this.#weights[kernel++];
    return Object.fromEntries(
      this.#parameters.map(({ path }, index) => [path, this.#kernels[index].sample(kernel, generator.uniform())]),
    );
  }

  /** The logarithm of the mixture's density at an assignment, up to a constant of the space. */
  logDensity(values: Assignment): number {
    this.#logDensities.set(this.#constants);
    for (const [index, { path }] of this.#parameters.entries()) {
      this.#kernels[index].addLogDensities(values[path], this.#logDensities);
    }
    return logSumExp(this.#logDensities);
  }
}

function kernelsOf({ path, domain }: SpaceParameter, observed: readonly Assignment[]): Kernels<ParameterValue> {
  const values = observed.map((assignment) => assignment[path]);
  if (domain.kind === 'choice') return new ChoiceKernels(domain, values);
  return new NumericKernels(domain, values.map(Number));
}

/**
 * One distribution over the choices around each observed choice, and an even one for the prior. A kernel gives its own
 * choice the weight 1 + 1/K and others 1/K, for K kernels, divided by their sum.
 */
class ChoiceKernels implements Kernels<ParameterValue> {
  readonly #choices: readonly ParameterValue[];
  /** The choice of each kernel; -1 for the prior's. */
  readonly #observed: Int32Array;
  readonly #own: number;
  readonly #other: number;

  constructor({ choices }: ChoiceDomain, values: readonly ParameterValue[]) {
    this.#choices = choices;
    this.#observed = Int32Array.from([...values.map((value) => choices.indexOf(value)), -1]);
    const even = 1 / this.#observed.length;
    const sum = 1 + choices.length * even;
    [this.#own, this.#other] = [(1 + even) / sum, even / sum];
  }

  sample(kernel: number, uniform: number): ParameterValue {
    const observed = this.#observed[kernel];
    const last = this.#choices.length - 1;
    if (observed === -1) return this.#choices[Math.min(Math.floor(uniform * this.#choices.length), last)];
    let rest = uniform;
    for (let choice = 0; choice < last; choice++) {
      rest -= choice === observed ? this.#own : this.#other;
      if (rest < 0) return this.#choices[choice];
    }
    return this.#choices[last];
  }

  addConstants(): void {
    // The weights are normalized.
  }

  addLogDensities(value: ParameterValue, logDensities: Float64Array): void {
    const choice = this.#choices.indexOf(value);
    const [own, other] = [Math.log(this.#own), Math.log(this.#other)];
    const prior = logDensities.length - 1;
    for (let kernel = 0; kernel < prior; kernel++)
      logDensities[kernel] += this.#observed[kernel] === choice ? own : other;
    logDensities[prior] -= Math.log(this.#choices.length);
  }
}

interface Split {
  /** The best trials, in the order in which they came. */
  below: Trial[];
  /** All others, in the order in which they came. */
  above: Trial[];
}

/**
 * How many of n finished trials count as good: min(⌈0.1 n⌉, 25), or ⌈0.1 n⌉ with several objectives, where the front
 * may be long.
 */
export function countBelow(finished: number, objectives: number): number {
  const share = Math.ceil(0.1 * finished);
  return objectives === 1 ? Math.min(share, 25) : share;
}

/**
 * Splits trials into good ones and the rest: complete trials by their losses, then pruned ones, the later stopped the
 * better. Running and paused trials count as bad, which keeps the next suggestions away from them (the constant liar).
 * The first of equal trials is the better one.
 */
export function splitTrials(trials: readonly Trial[], directions: readonly Direction[], size: number): Split {
  const complete = trials.filter(({ state }) => state === 'complete');
  const pruned = trials.filter(({ state }) => state === 'pruned');
  const good = new Set(chooseComplete(complete, directions, Math.min(size, complete.length)));
  for (const trial of rankPruned(pruned, directions[0]).slice(0, size - good.size)) good.add(trial);
  return { below: trials.filter((trial) => good.has(trial)), above: trials.filter((trial) => !good.has(trial)) };
}

function chooseComplete(complete: readonly Trial[], directions: readonly Direction[], size: number): Trial[] {
  if (size === 0 || size === complete.length) return complete.slice(0, size);
  const losses = complete.map((trial) => lossesOf(trial, directions));
  if (directions.length === 1) {
    const order = complete
      .map((_, row) => row)
      .toSorted((left, right) => losses[left][0] - losses[right][0] || left - right);
    return order.slice(0, size).map((row) => complete[row]);
  }
  return chooseFronts(losses, size).map((row) => complete[row]);
}

/** The later a trial was stopped the better, then by its last report. Trials without reports come last. */
function rankPruned(pruned: readonly Trial[], direction: Direction): Trial[] {
  const scored = pruned.map((trial) => {
    const last = trial.reports.reduce<{ step: number; value: number } | null>(
      (latest, report) => (latest === null || report.step > latest.step ? report : latest),
      null,
    );
    return { trial, step: last?.step ?? -1, loss: last === null ? 0 : lossOf(last.value, direction) };
  });
  const better = (left: (typeof scored)[number], right: (typeof scored)[number]): number =>
    right.step - left.step ||
    (left.loss === right.loss ? 0 : left.loss - right.loss) ||
    left.trial.number - right.trial.number;
  return scored.toSorted(better).map(({ trial }) => trial);
}
