import { classificationMetricsOf, regressionMetricsOf, type MetricsOf } from '../member/tasks.ts';
import { gatherPredictions } from '../member/predict.ts';
import { type MemberOutputs, joinStacks, type Predictions } from '../member/predictions.ts';
import { resolveMonitor, type Callback, type Evaluation, type Training } from './callback.ts';

/** Reads the predictions of members of earlier waves for the same split, at an epoch. */
export type EarlierMembers = (epoch: number) => Promise<MemberOutputs[]>;

interface GatheredOptions {
  earlierMembers?: EarlierMembers | undefined;
  /** Full names of the metrics that the run monitors, in which `{rank}` stands for the rank. */
  monitors?: readonly string[] | undefined;
  /** Whether members of earlier waves should predict otherwise than those of this one. */
  comparesWaves?: boolean | undefined;
}

const nobody: EarlierMembers = async () => [];

/**
 * Gathers all ranks' validation predictions and computes metrics of the ensemble and its members (`val/ens_nll`,
 * `val/member_3_nll`, ...). Every rank computes the same values from the same bits, so decisions that depend on them
 * agree. While members are missing, because they train in a later wave, it reports only members' metrics. An ensemble
 * that has lost members is that of the others; `val/ens_members` then says how many they are. The first rank announces
 * each monitored metric that is NaN, once, with its cause, and members that predict what those of earlier waves do: the
 * weights with which they start are compared within a wave only.
 */
class GatheredMetrics implements Callback {
  readonly name = 'ensemble-metrics';
  private readonly metricsOf: MetricsOf;
  private readonly earlierMembers: EarlierMembers;
  /** Those that were not announced yet. */
  private readonly monitors: Set<string>;
  private comparesWaves: boolean;

  constructor(metricsOf: MetricsOf, { earlierMembers, monitors, comparesWaves }: GatheredOptions) {
    this.metricsOf = metricsOf;
    this.earlierMembers = earlierMembers ?? nobody;
    this.monitors = new Set(monitors);
    this.comparesWaves = comparesWaves ?? false;
  }

  async onEvaluation(training: Training, evaluation: Evaluation): Promise<void> {
    const present = await gatherPredictions(training.group, evaluation.predictions);
    const stack = joinStacks([...(await this.earlierMembers(evaluation.epoch)), present]);
    const complete = stack.ranks.length === training.members;
    for (const [name, value] of this.metricsOf(stack, evaluation.dataset)) {
      if (complete || /(^|\/)member_/.test(name)) evaluation.metrics.set(`val/${name}`, value);
    }
    if (complete && training.lostMembers > 0) evaluation.metrics.set('val/ens_members', stack.ranks.length);
    if (training.rank !== training.group.ranks[0]) return;
    this.announceNaN(training, evaluation, stack);
    if (this.comparesWaves) this.announceEqual(training, evaluation, stack);
  }

  private announceEqual(training: Training, { dataset: { name } }: Evaluation, stack: MemberOutputs): void {
    const members = stack.ranks.map((_, member) => member);
    const { present = [], earlier = [] } = Object.groupBy(members, (member) =>
      training.group.ranks.includes(stack.ranks[member]) ? 'present' : 'earlier',
    );
    const isLike = (member: number, others: readonly number[]): boolean =>
      others.some((other) => other !== member && predictAlike(stack, member, other));
    // An earlier wave has announced those.
    const isKnown = earlier.some((member) => isLike(member, earlier));
    const equal = isKnown
      ? []
      : [...earlier.filter((own) => isLike(own, present)), ...present.filter((own) => isLike(own, earlier))];
    this.comparesWaves = !isKnown && equal.length === 0;
    if (equal.length === 0) return;
    const message =
      `Members ${equal.map((member) => stack.ranks[member]).join(', ')}, of different waves, predict the same for ` +
      `"${name}": they started with the same weights and hardly anything made them differ. Leave out the ` +
      "initializers' seeds, or derive them from the `rank` that model() gets; name another checkpoint for each " +
      'member where they start from one.';
    training.announce('training-note', message);
  }

  private announceNaN(training: Training, { metrics, dataset }: Evaluation, stack: MemberOutputs): void {
    const missing = new Set<string>();
    for (const monitor of this.monitors) {
      const names = stack.ranks.map((rank) => resolveMonitor(monitor, rank));
      const own = names.filter((name) => Number.isNaN(metrics.get(name)));
      if (own.length > 0) this.monitors.delete(monitor);
      for (const name of own) missing.add(name);
    }
    if (missing.size === 0) return;
    const message =
      `The run monitors ${[...missing].join(', ')}, but the value is not a number. ${whyNaN(stack, dataset)} Until ` +
      'then no evaluation is the best one, and early stopping and the schedule plateau do not count it towards ' +
      'their patience.';
    training.announce('training-note', message);
  }
}

/** Why a metric of these predictions is NaN. @param dataset the split that they are for */
function whyNaN(stack: MemberOutputs, { name, length }: Evaluation['dataset']): string {
  const broken = stack.ranks.filter((_, member) => hasNaN(stack, member, stack.ranks.length));
  if (broken.length > 0) {
    return (
      `The predictions of ${broken.length === 1 ? 'member' : 'members'} ${broken.join(', ')} contain NaN: lower ` +
      "the learning rate, limit the gradients' norm (optimizer.clipNorm), or look for values in the features that " +
      'are not finite or very large.'
    );
  }
  return (
    `All predictions are numbers, so the ${length} samples of "${name}" are not such that the metric has a value: ` +
    'it may need samples of each class, different targets, or more samples. Add them to the split, or monitor ' +
    'another metric, such as the NLL.'
  );
}

/** Whether one of M stacked members predicts NaN, in any of its outputs. */
function hasNaN(stack: Predictions, member: number, members: number): boolean {
  return outputsOf(stack, member, members).some((output) => output.some(Number.isNaN));
}

/**
 * Sums over a batch are rounded otherwise where its samples come in another order: this share of the largest value is
 * no difference.
 */
const roundedShare = 1e-5;

/** Whether two of the stacked members predict the same but for rounding, in all their outputs. */
function predictAlike(stack: MemberOutputs, member: number, other: number): boolean {
  const [own, others] = [member, other].map((place) => outputsOf(stack, place, stack.ranks.length));
  return own.every((output, i) => {
    const largest = output.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
    return output.every((value, at) => Math.abs(value - others[i][at]) <= roundedShare * largest);
  });
}

/** What one of M stacked members predicts: its main outputs, then the further ones. */
function outputsOf({ values, further = {} }: Predictions, member: number, members: number): Float32Array[] {
  const own = values.map((output) => {
    const size = output.length / members;
    return output.subarray(member * size, (member + 1) * size);
  });
  return [...own, ...Object.values(further).flatMap((each) => outputsOf(each, member, members))];
}

/**
 * Reports the metrics of `metricsOf`, by default those of classifiers: NLL, accuracy, disagreement and others (see
 * `classificationMetrics`).
 */
export class EnsembleMetrics extends GatheredMetrics {
  constructor({ metricsOf, ...options }: GatheredOptions & { metricsOf?: MetricsOf } = {}) {
    super(metricsOf ?? classificationMetricsOf, options);
  }
}

/**
 * Reports metrics of regressors: MSE, ensemble gain, spread and, with variances, NLL and its decomposition (see
 * `regressionMetrics`).
 */
export class RegressionEnsembleMetrics extends GatheredMetrics {
  constructor(options: GatheredOptions = {}) {
    super(regressionMetricsOf, options);
  }
}
