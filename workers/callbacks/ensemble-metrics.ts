import { classificationMetricsOf, regressionMetricsOf, type MetricsOf } from '../member/tasks.ts';
import { gatherPredictions, type MemberOutputs, joinStacks } from '../member/predict.ts';
import type { Callback, Evaluation, Training } from './callback.ts';

/** Finds predictions of members outside the process group (those of earlier waves) for the same split, at an epoch. */
export type EarlierMembers = (epoch: number) => Promise<MemberOutputs[]>;

const nobody: EarlierMembers = async () => [];

/**
 * Gathers all ranks' validation predictions and computes ensemble and member metrics, `val/ens_nll`, `val/member_3_nll` and so
 * on. Every rank computes the same values from the same bits, so decisions that rest on them agree. As long as members are
 * missing (they train in a later wave) only members' own metrics are given: a part of the ensemble is not the ensemble.
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
      if (complete || name.startsWith('member_')) evaluation.metrics.set(`val/${name}`, value);
    }
  }
}

/** Metrics of classifiers: NLL, accuracy, ECE, Brier score, disagreement and uncertainty (see `metrics/`). */
export class EnsembleMetrics extends GatheredMetrics {
  constructor(options: { metricsOf?: MetricsOf; earlierMembers?: EarlierMembers } = {}) {
    super(options.metricsOf ?? classificationMetricsOf, options.earlierMembers ?? nobody);
  }
}

/** Metrics of regressors: MSE, ensemble gain, spread and, where variances are predicted, NLL and its decomposition. */
export class RegressionEnsembleMetrics extends GatheredMetrics {
  constructor(options: { earlierMembers?: EarlierMembers } = {}) {
    super(regressionMetricsOf, options.earlierMembers ?? nobody);
  }
}
