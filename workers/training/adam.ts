import type { OptimizerConfig } from '../../protocol/run-config.ts';
import { tf, type Tensor, type Variable } from '../tf.ts';
import { type Optimizer, settingsOf, type UpdateSettings, withPenalty, zeroSlots } from './optimizer.ts';
import { type AdamConstants, type UpdateKernel, updateKernels } from './update-kernels.ts';

type AdamConfig = Extract<OptimizerConfig, { kind: 'adam' | 'adamw' }>;

/**
 * m ← β₁m + (1 − β₁)g; v ← β₂v + (1 − β₂)g²; θ ← θ − η · m̂ / (√v̂ + ε) with m̂ = m / (1 − β₁ᵗ), v̂ = v / (1 − β₂ᵗ) (Kingma and Ba,
 * 2015, algorithm 1). `adam` adds λθ to g; `adamw` shrinks θ by η·λ first (Loshchilov and Hutter, 2019, algorithm 2).
 */
export class Adam implements Optimizer {
  readonly slots: Map<string, Variable>;
  steps: number[];
  private readonly config: AdamConfig;
  private readonly variables: Variable[];
  private readonly means: Variable[];
  private readonly squares: Variable[];

  constructor(config: AdamConfig, variables: Variable[]) {
    this.config = config;
    this.variables = variables;
    this.steps = variables.map(() => 0);
    const means = zeroSlots('mean', variables);
    const squares = zeroSlots('square', variables);
    this.slots = new Map([...means, ...squares]);
    this.means = means.map(([, slot]) => slot);
    this.squares = squares.map(([, slot]) => slot);
  }

  apply(gradients: readonly (Tensor | null)[], settings: UpdateSettings | readonly UpdateSettings[]): void {
    const update = updateKernels()?.adam ?? updateByOps;
    gradients.forEach((gradient, i) => {
      if (gradient === null) return;
      const step = (this.steps[i] += 1);
      const slots = [this.means[i], this.squares[i]];
      update({ variable: this.variables[i], gradient, slots }, this.constants(step, settingsOf(settings, i)));
    });
  }

  private constants(step: number, settings: UpdateSettings): AdamConstants {
    const { kind, beta2, epsilon } = this.config;
    const { learningRate, momentum: beta1 = this.config.beta1, weightDecay = this.config.weightDecay } = settings;
    const squareCorrection = Math.sqrt(1 - beta2 ** step);
    return {
      beta1,
      beta2,
      rate: (learningRate * squareCorrection) / (1 - beta1 ** step),
      epsilon: epsilon * squareCorrection,
      keep: kind === 'adamw' ? 1 - learningRate * weightDecay : 1,
      penalty: kind === 'adam' ? weightDecay : 0,
    };
  }
}

const updateByOps: UpdateKernel<AdamConstants> = ({ variable, gradient, slots: [mean, square] }, constants) =>
  tf.tidy(() => {
    const { beta1, beta2, rate, epsilon, keep, penalty } = constants;
    const slope = withPenalty(gradient, variable, penalty);
    const newMean = tf.add(tf.mul(mean, beta1), tf.mul(slope, 1 - beta1));
    const newSquare = tf.add(tf.mul(square, beta2), tf.mul(tf.square(slope), 1 - beta2));
    const change = tf.div(tf.mul(newMean, rate), tf.add(tf.sqrt(newSquare), epsilon));
    variable.assign(tf.sub(keep === 1 ? variable : tf.mul(variable, keep), change));
    mean.assign(newMean);
    square.assign(newSquare);
  });
