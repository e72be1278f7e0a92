import { classificationMetricsOf, regressionMetricsOf, type MetricsOf } from '../member/tasks.ts';
import { gatherPredictions } from '../member/predict.ts';
import { type MemberOutputs, joinStacks } from '../member/predictions.ts';
import type { Callback, Evaluation, Training } from './callback.ts';

/** Reads the predictions of members of earlier waves for the same split, at an epoch. */
export type EarlierMembers = (epoch: number) => Promise<MemberOutputs[]>;

const nobody: EarlierMembers = async () => [];

/**
 * Gathers all ranks' validation predictions and computes metrics of the ensemble and its members (`val/ens_nll`,
 * `val/member_3_nll`, ...). Every rank computes the same values from the same bits, so decisions that depend on them agree. While
 * members are missing, because they train in a later wave, it reports only members' metrics. An ensemble that has lost members is that
 * of the others; `val/ens_members` then says how many they are.
 */
class GatheredMetrics implements Callback {
  readonly name = 'ensemble-metrics';
  private readonly metricsOf: MetricsOf;
  private readonly earlierMembers: EarlierMembers;

  constructor(metricsOf: MetricsOf, earlierMembers: EarlierMembers) {
    this.metricsOf = metricsOf;
    this.earlierMembers = earlierMembers;
  }

  async onEvaluation(training: Training, evaluation: Evaluation): Promise<void> {
    const present = await gatherPredictions(training.group, evaluation.predictions);
    const stack = joinStacks([...(await this.earlierMembers(evaluation.epoch)), present]);
    const complete = stack.ranks.length === training.members;
    for (const [name, value] of this.metricsOf(stack, evaluation.dataset)) {
      if (complete || /(^|\/)member_/.test(name)) evaluation.metrics.set(`val/${name}`, value);
    }
    if (complete && training.lostMembers > 0) evaluation.metrics.set('val/ens_members', stack.ranks.length);
  }
}

/** Reports the metrics of `metricsOf`, by default those of classifiers: NLL, accuracy, disagreement and others (see `classificationMetrics`). */
export class EnsembleMetrics extends GatheredMetrics {
  constructor(options: { metricsOf?: MetricsOf; earlierMembers?: EarlierMembers } = {}) {
    super(options.metricsOf ?? classificationMetricsOf, options.earlierMembers ?? nobody);
  }
}

/** Reports metrics of regressors: MSE, ensemble gain, spread and, with variances, NLL and its decomposition (see `regressionMetrics`). */
export class RegressionEnsembleMetrics extends GatheredMetrics {
  constructor(options: { earlierMembers?: EarlierMembers } = {}) {
    super(regressionMetricsOf, options.earlierMembers ?? nobody);
  }
}
