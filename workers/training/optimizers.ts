import type { OptimizerConfig } from '../../protocol/run-config.ts';
import { tf, type Tensor, type Variable } from '../tf.ts';

/**
 * Optimizers with a learning rate given at each step and a state that can be saved and restored exactly. tfjs's own keep
 * Adam's β^t in float32 and their state out of reach.
 */
export interface Optimizer {
  /** Moves `variables[i]` along `gradients[i]`; the gradients stay the caller's. */
  apply(variables: Variable[], gradients: Tensor[], learningRate: number): void;
  /** The tensors that the next step depends on, by name, in a fixed order. They stay the optimizer's. */
  readonly slots: ReadonlyMap<string, Variable>;
  /** Steps done so far; set on resume. */
  steps: number;
}

/** An optimizer for these variables: its slots start at zero. */
export function createOptimizer(config: OptimizerConfig, variables: Variable[]): Optimizer {
  return config.kind === 'sgd' ? new Sgd(config, variables) : new Adam(config, variables);
}

type SgdConfig = Extract<OptimizerConfig, { kind: 'sgd' }>;
type AdamConfig = Extract<OptimizerConfig, { kind: 'adam' | 'adamw' }>;

/**
 * g ← g + λθ; v ← μv + g; θ ← θ − η·v, or with Nesterov momentum θ ← θ − η·(g + μv): PyTorch's SGD (Sutskever et al., 2013,
 * with the learning rate outside the velocity).
 */
class Sgd implements Optimizer {
  readonly slots: Map<string, Variable>;
  steps = 0;
  private readonly config: SgdConfig;

  constructor(config: SgdConfig, variables: Variable[]) {
    this.config = config;
    this.slots = new Map(config.momentum === 0 ? [] : zeroSlots('velocity', variables));
  }

  apply(variables: Variable[], gradients: Tensor[], learningRate: number): void {
    const { momentum, nesterov, weightDecay } = this.config;
    const velocities = [...this.slots.values()];
    this.steps += 1;
    variables.forEach((variable, i) => {
      tf.tidy(() => {
        const gradient = withDecay(gradients[i], variable, weightDecay);
        if (momentum === 0) return variable.assign(tf.sub(variable, tf.mul(gradient, learningRate)));
        const velocity = tf.add(tf.mul(velocities[i], momentum), gradient);
        const direction = nesterov ? tf.add(gradient, tf.mul(velocity, momentum)) : velocity;
        variable.assign(tf.sub(variable, tf.mul(direction, learningRate)));
        velocities[i].assign(velocity);
      });
    });
  }
}

/**
 * m ← β₁m + (1 − β₁)g; v ← β₂v + (1 − β₂)g²; θ ← θ − η · m̂ / (√v̂ + ε) with m̂ = m / (1 − β₁ᵗ), v̂ = v / (1 − β₂ᵗ) (Kingma and Ba,
 * 2015, algorithm 1). `adam` adds λθ to g; `adamw` shrinks θ by η·λ first (Loshchilov and Hutter, 2019, algorithm 2).
 */
class Adam implements Optimizer {
  readonly slots: Map<string, Variable>;
  steps = 0;
  private readonly config: AdamConfig;
  private readonly means: Variable[];
  private readonly squares: Variable[];

  constructor(config: AdamConfig, variables: Variable[]) {
    this.config = config;
    const means = zeroSlots('mean', variables);
    const squares = zeroSlots('square', variables);
    this.slots = new Map([...means, ...squares]);
    this.means = means.map(([, slot]) => slot);
    this.squares = squares.map(([, slot]) => slot);
  }

  apply(variables: Variable[], gradients: Tensor[], learningRate: number): void {
    this.steps += 1;
    tf.tidy(() => {
      const factors = this.factors(learningRate);
      variables.forEach((variable, i) => this.update(variable, gradients[i], i, factors));
    });
  }

  /** Scalars of this step, made once for all variables: each costs as much as an op on a small tensor. */
  private factors(learningRate: number) {
    const { kind, beta1, beta2, epsilon, weightDecay } = this.config;
    const squareCorrection = Math.sqrt(1 - beta2 ** this.steps);
    return {
      beta1: tf.scalar(beta1),
      rest1: tf.scalar(1 - beta1),
      beta2: tf.scalar(beta2),
      rest2: tf.scalar(1 - beta2),
      rate: tf.scalar((learningRate * squareCorrection) / (1 - beta1 ** this.steps)),
      epsilon: tf.scalar(epsilon * squareCorrection),
      keep: kind === 'adamw' && weightDecay > 0 ? tf.scalar(1 - learningRate * weightDecay) : null,
    };
  }

  private update(variable: Variable, raw: Tensor, i: number, by: ReturnType<Adam['factors']>): void {
    tf.tidy(() => {
      const gradient = this.config.kind === 'adam' ? withDecay(raw, variable, this.config.weightDecay) : raw;
      const mean = tf.add(tf.mul(this.means[i], by.beta1), tf.mul(gradient, by.rest1));
      const square = tf.add(tf.mul(this.squares[i], by.beta2), tf.mul(tf.square(gradient), by.rest2));
      const change = tf.div(tf.mul(mean, by.rate), tf.add(tf.sqrt(square), by.epsilon));
      variable.assign(tf.sub(by.keep === null ? variable : tf.mul(variable, by.keep), change));
      this.means[i].assign(mean);
      this.squares[i].assign(square);
    });
  }
}

function zeroSlots(name: string, variables: Variable[]): [string, Variable][] {
  return variables.map((variable, i) => [`${name}.${i}`, tf.variable(tf.zeros(variable.shape), false)]);
}

function withDecay(gradient: Tensor, variable: Variable, weightDecay: number): Tensor {
  return weightDecay === 0 ? gradient : tf.add(gradient, tf.mul(variable, weightDecay));
}
