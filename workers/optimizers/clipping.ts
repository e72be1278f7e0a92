import type { OptimizerConfig } from '../../core/protocol/run/config.ts';
import { tf, type Scalar, type Tensor } from '../tensorflow/tf.ts';

/** Limits of gradients; 0: none. */
export type GradientLimits = Pick<OptimizerConfig, 'clipNorm' | 'clipValue'>;

/**
 * The gradients of one model within limits: first each element is limited to ±`clipValue`, then all gradients together
 * to a norm of `clipNorm`: g ← g · min(1, clipNorm/(‖g‖ + 10⁻⁶)), as PyTorch's `clip_grad_value_` and `clip_grad_norm_`
 * do. Gradients that are null add nothing. Call it inside `tidy`.
 */
export function limitGradients(gradients: readonly (Tensor | null)[], limits: GradientLimits): (Tensor | null)[] {
  const bounded = boundValues(gradients, limits);
  const squares = bounded.flatMap((gradient) => (gradient === null ? [] : [tf.sum(tf.square(gradient))]));
  if (limits.clipNorm === 0 || squares.length === 0) return bounded;
  const factor = factorOf(tf.addN(squares), limits.clipNorm) as Scalar;
  return bounded.map((gradient) => gradient && tf.mul(gradient, factor));
}

/** Gradients of M stacked members. */
export interface StackedGradients {
  /** `[M, ...]` each, or null. */
  stacked: readonly (Tensor | null)[];
  /** Each member's other gradients. */
  others: readonly (readonly (Tensor | null)[])[];
}

/** Like {@link limitGradients}, with a norm for each member. Call it inside `tidy`. */
export function limitByMember(gradients: StackedGradients, limits: GradientLimits): StackedGradients {
  const stacked = boundValues(gradients.stacked, limits);
  const others = gradients.others.map((own) => boundValues(own, limits));
  if (limits.clipNorm === 0) return { stacked, others };
  const ofOthers = others.map((own) => sumOfSquares(own));
  const ofStacked = stacked.flatMap((gradient) => (gradient === null ? [] : [squaresByMember(gradient)]));
  const factors = factorOf(tf.addN([tf.stack(ofOthers), ...ofStacked]), limits.clipNorm);
  const byMember = tf.unstack(factors);
  return {
    stacked: stacked.map(
      (gradient) => gradient && tf.mul(gradient, tf.reshape(factors, [-1, ...gradient.shape.slice(1).map(() => 1)])),
    ),
    others: others.map((own, m) => own.map((gradient) => gradient && tf.mul(gradient, byMember[m]))),
  };
}

/** Each element limited to ±`clipValue`; the gradients themselves where there is no limit. Call it inside `tidy`. */
export function boundValues(
  gradients: readonly (Tensor | null)[],
  { clipValue }: Pick<GradientLimits, 'clipValue'>,
): (Tensor | null)[] {
  if (clipValue === 0) return [...gradients];
  return gradients.map((gradient) => gradient && tf.clipByValue(gradient, -clipValue, clipValue));
}

/** min(1, maximum/(√squares + 10⁻⁶)) */
export function factorOf(squares: Tensor, maximum: number): Tensor {
  return tf.minimum(tf.div(maximum, tf.add(tf.sqrt(squares), 1e-6)), 1);
}

/** Σ g² over all gradients. */
export function sumOfSquares(gradients: readonly (Tensor | null)[]): Tensor {
  const squares = gradients.flatMap((gradient) => (gradient === null ? [] : [tf.sum(tf.square(gradient))]));
  return squares.length === 0 ? tf.scalar(0) : tf.addN(squares);
}

/** Σ g² of each member, `[M]`. */
function squaresByMember(gradient: Tensor): Tensor {
  return tf.sum(tf.reshape(tf.square(gradient), [gradient.shape[0], -1]), 1);
}
