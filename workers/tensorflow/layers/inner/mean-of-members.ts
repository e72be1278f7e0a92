import * as core from '@tensorflow/tfjs-core';
import type { Tensor } from '@tensorflow/tfjs-core';
import { outputCount, type TaskKind, taskKinds } from '../../../../core/metrics/registry/metric.ts';
import { type CallOptions, InnerLayer, type LayerArgs, type Shape } from './inner-layer.ts';

/**
 * What a network of inner members predicts: in inference the mean of the members' predictions, `[M·B, ...]` to
 * `[B, ...]`, in the form of the task's outputs. In training the members' outputs stay as they are, because each member
 * has its own loss.
 */
export class MeanOfMembers extends InnerLayer {
  static readonly className = 'MeanOfMembers';
  readonly task: TaskKind;

  constructor({ task, ...args }: LayerArgs & { members: number; task: TaskKind }) {
    super(args);
    if (!taskKinds.includes(task)) {
      throw new RangeError(
        `The task of layer "${this.name}" is "${task}": it is that of the project, one of ${taskKinds.join(', ')}.`,
      );
    }
    this.task = task;
    this.supportsMasking = true;
  }

  override build(inputShape: Shape | Shape[]): void {
    const given = Array.isArray(inputShape[0]) ? inputShape.length : 1;
    const expected = outputCount(this.task);
    if (given !== expected) {
      throw new Error(
        `Layer "${this.name}" gets ${given} outputs, but ${this.task} has ${expected}: give it all outputs of ` +
          'the task, as a list.',
      );
    }
    this.built = true;
  }

  override computeOutputShape(inputShape: Shape | Shape[]): Shape | Shape[] {
    return inputShape;
  }

  override computeMask(): Tensor {
    return null as unknown as Tensor;
  }

  override call(inputs: Tensor | Tensor[], { training = false }: CallOptions): Tensor | Tensor[] {
    const outputs = [inputs].flat();
    if (training) return inputs;
    return core.tidy(() => {
      const ofMembers = outputs.map((output) => {
        const [rows, ...shape] = output.shape;
        return core.reshape(output, [this.members, rows / this.members, ...shape]);
      });
      const means = meanPrediction(this.task, ofMembers);
      return Array.isArray(inputs) ? means : means[0];
    });
  }

  override getConfig() {
    return { ...super.getConfig(), task: this.task };
  }
}

/**
 * The outputs of a task that predict the mean of what M members predict:
 *
 * - classes: log mean softmax(z); two states: the logit of mean σ(z)
 * - ordered classes: the logits of P(y > k | y ≥ k) of the mean probabilities of the classes
 * - means and variances: the mean and variance of the mixture of Gaussians, mean μ and mean(σ² + μ²) − (mean μ)²
 * - log rates: the log of the mean rate, which is that of the mixture of Poisson distributions; its variance would be
 *   larger
 * - values, quantiles: their mean
 *
 * @param outputs `[M, B, ..., W]` each @returns `[B, ..., W]` each
 */
export function meanPrediction(task: TaskKind, outputs: readonly Tensor[]): Tensor[] {
  const [z] = outputs;
  switch (task) {
    case 'classification':
      return [logMean(core.logSoftmax(z))];
    case 'binary':
    case 'multi-label':
      return [core.sub(logMean(logSigmoid(z)), logMean(logSigmoid(core.neg(z))))];
    case 'ordinal':
      return [ordinalMean(z)];
    case 'poisson-regression':
      return [logMean(z)];
    case 'heteroscedastic-regression': {
      const [means, variances] = outputs;
      const mean = core.mean(means, 0);
      return [mean, core.mean(core.add(variances, core.square(core.sub(means, mean))), 0)];
    }
    default:
      return outputs.map((values) => core.mean(values, 0));
  }
}

/** With S_k = P(y > k), the product of σ(z_j) for j ≤ k: log mean S_k − log mean (S_(k−1) (1 − σ(z_k))). */
function ordinalMean(z: Tensor): Tensor {
  const onward = logSigmoid(z);
  const reached = core.cumsum(onward, onward.rank - 1, true);
  return core.sub(logMean(core.add(reached, onward)), logMean(core.add(reached, logSigmoid(core.neg(z)))));
}

/** log σ(z) */
function logSigmoid(z: Tensor): Tensor {
  return core.neg(core.softplus(core.neg(z)));
}

/** log mean exp over the members. */
function logMean(logs: Tensor): Tensor {
  return core.sub(core.logSumExp(logs, 0), Math.log(logs.shape[0]));
}
