import type { OptimizerConfig } from '../../protocol/run-config.ts';
import { tf, type Scalar, type Tensor, type Variable } from '../tf.ts';

/** What one update is made with. */
export interface UpdateSettings {
  learningRate: number;
  /** SGD's momentum or Adam's β₁; absent: as configured. An optimizer without momentum stays without. */
  momentum?: number;
  /** Absent: as configured. */
  weightDecay?: number;
}

/**
 * Optimizers with settings given at each step and a state that can be saved and restored exactly. tfjs's own keep
 * Adam's β^t in float32 and their state out of reach.
 */
export interface Optimizer {
  /**
   * Moves `variables[i]` along `gradients[i]`, and leaves it alone where that is null: the loss did not depend on it. The
   * gradients stay the caller's. `settings` are those of all variables, or one for each.
   */
  apply(gradients: readonly (Tensor | null)[], settings: UpdateSettings | readonly UpdateSettings[]): void;
  /** The tensors that the next step depends on, by name, in a fixed order. They stay the optimizer's. */
  readonly slots: ReadonlyMap<string, Variable>;
  /** Updates of each variable so far; set on resume. */
  steps: number[];
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
  steps: number[];
  private readonly config: SgdConfig;
  private readonly variables: Variable[];
  private readonly velocities: Variable[];

  constructor(config: SgdConfig, variables: Variable[]) {
    this.config = config;
    this.variables = variables;
    this.steps = variables.map(() => 0);
    this.slots = new Map(config.momentum === 0 ? [] : zeroSlots('velocity', variables));
    this.velocities = [...this.slots.values()];
  }

  apply(gradients: readonly (Tensor | null)[], settings: UpdateSettings | readonly UpdateSettings[]): void {
    gradients.forEach((gradient, i) => {
      if (gradient === null) return;
      this.steps[i] += 1;
      tf.tidy(() => this.update(i, gradient, settingsOf(settings, i)));
    });
  }

  private update(i: number, raw: Tensor, settings: UpdateSettings): void {
    const { nesterov } = this.config;
    const { learningRate, momentum = this.config.momentum, weightDecay = this.config.weightDecay } = settings;
    const variable = this.variables[i];
    const gradient = withDecay(raw, variable, weightDecay);
    if (this.velocities.length === 0) {
      variable.assign(tf.sub(variable, tf.mul(gradient, learningRate)));
      return;
    }
    const velocity = tf.add(tf.mul(this.velocities[i], momentum), gradient);
    const direction = nesterov ? tf.add(gradient, tf.mul(velocity, momentum)) : velocity;
    variable.assign(tf.sub(variable, tf.mul(direction, learningRate)));
    this.velocities[i].assign(velocity);
  }
}

/**
 * m ← β₁m + (1 − β₁)g; v ← β₂v + (1 − β₂)g²; θ ← θ − η · m̂ / (√v̂ + ε) with m̂ = m / (1 − β₁ᵗ), v̂ = v / (1 − β₂ᵗ) (Kingma and Ba,
 * 2015, algorithm 1). `adam` adds λθ to g; `adamw` shrinks θ by η·λ first (Loshchilov and Hutter, 2019, algorithm 2).
 */
class Adam implements Optimizer {
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
    tf.tidy(() => {
      // Scalars are made once for all variables that are as old and share settings: each costs as much as an op on a small tensor.
      const made: { step: number; own: UpdateSettings; scalars: AdamScalars }[] = [];
      gradients.forEach((gradient, i) => {
        if (gradient === null) return;
        const step = (this.steps[i] += 1);
        const own = settingsOf(settings, i);
        const earlier = made.find((other) => other.step === step && other.own === own);
        const scalars = earlier?.scalars ?? this.scalars(step, own);
        if (earlier === undefined) made.push({ step, own, scalars });
        tf.tidy(() => this.update(i, gradient, scalars));
      });
    });
  }

  private scalars(step: number, settings: UpdateSettings): AdamScalars {
    const { kind, beta2, epsilon } = this.config;
    const { learningRate, momentum: beta1 = this.config.beta1, weightDecay = this.config.weightDecay } = settings;
    const squareCorrection = Math.sqrt(1 - beta2 ** step);
    return {
      beta1: tf.scalar(beta1),
      rest1: tf.scalar(1 - beta1),
      beta2: tf.scalar(beta2),
      rest2: tf.scalar(1 - beta2),
      rate: tf.scalar((learningRate * squareCorrection) / (1 - beta1 ** step)),
      epsilon: tf.scalar(epsilon * squareCorrection),
      keep: kind === 'adamw' && weightDecay > 0 ? tf.scalar(1 - learningRate * weightDecay) : null,
      penalty: kind === 'adam' ? weightDecay : 0,
    };
  }

  private update(i: number, raw: Tensor, by: AdamScalars): void {
    const variable = this.variables[i];
    const gradient = withDecay(raw, variable, by.penalty);
    const mean = tf.add(tf.mul(this.means[i], by.beta1), tf.mul(gradient, by.rest1));
    const square = tf.add(tf.mul(this.squares[i], by.beta2), tf.mul(tf.square(gradient), by.rest2));
    const change = tf.div(tf.mul(mean, by.rate), tf.add(tf.sqrt(square), by.epsilon));
    variable.assign(tf.sub(by.keep === null ? variable : tf.mul(variable, by.keep), change));
    this.means[i].assign(mean);
    this.squares[i].assign(square);
  }
}

/** Constants of Adam's update at one step. */
interface AdamScalars {
  beta1: Scalar;
  rest1: Scalar;
  beta2: Scalar;
  rest2: Scalar;
  /** η √(1 − β₂ᵗ) / (1 − β₁ᵗ): both bias corrections in the rate, as algorithm 1's note has it. */
  rate: Scalar;
  /** ε √(1 − β₂ᵗ), which keeps that exact. */
  epsilon: Scalar;
  /** 1 − η λ where weights decay apart from the gradient. */
  keep: Scalar | null;
  /** λ where it is added to the gradient. */
  penalty: number;
}

function settingsOf(settings: UpdateSettings | readonly UpdateSettings[], i: number): UpdateSettings {
  return 'learningRate' in settings ? settings : settings[i];
}

function zeroSlots(name: string, variables: Variable[]): [string, Variable][] {
  return variables.map((variable, i) => [`${name}.${i}`, tf.variable(tf.zeros(variable.shape), false)]);
}

function withDecay(gradient: Tensor, variable: Variable, weightDecay: number): Tensor {
  return weightDecay === 0 ? gradient : tf.add(gradient, tf.mul(variable, weightDecay));
}
