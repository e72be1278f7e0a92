import type { OptimizerConfig } from '../../protocol/run-config.ts';
import { tf, type Tensor, type Variable } from '../tf.ts';
import { type Optimizer, settingsOf, type UpdateSettings, withPenalty, zeroSlots } from './optimizer.ts';
import { type SgdConstants, type UpdateKernel, updateKernels } from './update-kernels.ts';

type SgdConfig = Extract<OptimizerConfig, { kind: 'sgd' }>;

/**
 * g ← g + λθ; v ← μv + g; θ ← θ − η·v, or with Nesterov momentum θ ← θ − η·(g + μv): PyTorch's SGD (Sutskever et al., 2013,
 * with the learning rate outside the velocity).
 */
export class Sgd implements Optimizer {
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
    const update = updateKernels()?.sgd ?? updateByOps;
    gradients.forEach((gradient, i) => {
      if (gradient === null) return;
      this.steps[i] += 1;
      const slots = this.velocities.length === 0 ? [] : [this.velocities[i]];
      update({ variable: this.variables[i], gradient, slots }, this.constants(settingsOf(settings, i)));
    });
  }

  private constants(settings: UpdateSettings): SgdConstants {
    const { learningRate, momentum = this.config.momentum, weightDecay = this.config.weightDecay } = settings;
    return { rate: learningRate, momentum, penalty: weightDecay, nesterov: this.config.nesterov };
  }
}

const updateByOps: UpdateKernel<SgdConstants> = (
  { variable, gradient, slots },
  { rate, momentum, penalty, nesterov },
) =>
  tf.tidy(() => {
    const slope = withPenalty(gradient, variable, penalty);
    if (slots.length === 0) return variable.assign(tf.sub(variable, tf.mul(slope, rate)));
    const velocity = tf.add(tf.mul(slots[0], momentum), slope);
    const direction = nesterov ? tf.add(slope, tf.mul(velocity, momentum)) : velocity;
    variable.assign(tf.sub(variable, tf.mul(direction, rate)));
    slots[0].assign(velocity);
  });
