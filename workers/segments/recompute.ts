import { recordDraws } from '../random/index.ts';
import { holdTensors, releaseTensors } from '../tensorflow/held-tensors.ts';
import { tf, type Tensor, type Variable } from '../tensorflow/tf.ts';

/** A part of a forward pass whose activations are not kept. */
export interface Segment {
  /**
   * Computes the output.
   * @param input the value that enters the segment; null for the first one of a model
   * @param constants the segment's `constants`, or tensors with their values
   */
  run(input: Tensor | null, constants: readonly Tensor[]): Tensor;
  /** Values that get no gradients: the model's inputs. */
  constants: readonly Tensor[];
  /** Weights that get gradients. */
  trained: readonly Variable[];
  /** Weights that the pass itself may change: running statistics. */
  untrained: readonly Variable[];
  /** Called in the backward pass with weights that the output does not depend on. */
  onUnreached(variable: Variable): void;
}

/**
 * A segment's output, of which the tape keeps only the input: the backward pass computes the segment again (Chen et al., 2016, "Training deep nets
 * with sublinear memory cost"). The second pass draws the same random numbers, and uses the weights and running statistics of the first, also if they
 * were updated in between. It does not update the statistics again. Gradients thus have the bits of a pass that keeps its activations.
 *
 * @param input the value that enters the segment, which gets a gradient; null for the first one of a model
 */
export function recomputed(segment: Segment, input: Tensor | null): Tensor {
  const { trained, untrained, constants } = segment;
  const differentiated = [...(input === null ? [] : [input]), ...trained];
  // Without weights or input, nothing needs a gradient.
  if (differentiated.length === 0) return segment.run(input, constants);
  const statistics = untrained.map((variable) => tf.clone(variable));
  const { result: value, draws } = recordDraws(() => untaped(() => segment.run(input, constants)), null);
  const compute = (...operands: unknown[]) => {
    const save = operands.at(-1) as (tensors: Tensor[]) => void;
    // What is saved lives as long as the tape.
    save([...constants, ...statistics, ...trained, ...(input === null ? [] : [input])]);
    return {
      value,
      gradFunc: (dy: Tensor, saved: Tensor[]): Tensor[] => {
        const variables = [...untrained, ...trained];
        const earlier = saved.slice(constants.length, constants.length + variables.length);
        const own = input === null ? null : saved[saved.length - 1];
        const again = { ...segment, constants: saved.slice(0, constants.length) };
        return withValues(variables, earlier, () => gradientsOf(again, own, dy, draws));
      },
    };
  };
  return tf.customGrad(compute)(...differentiated);
}

/** Computes without recording on the tape, and keeps nothing but the result. */
function untaped(compute: () => Tensor): Tensor {
  const { state } = tf.engine();
  const { gradientDepth, activeTape } = state;
  state.gradientDepth = 0;
  try {
    return tf.tidy(compute);
  } finally {
    Object.assign(state, { gradientDepth, activeTape });
  }
}

/** The gradients of the input, if there is one, and of the trained weights. */
function gradientsOf(segment: Segment, input: Tensor | null, dy: Tensor, draws: readonly number[]): Tensor[] {
  const engine = tf.engine();
  const { state } = engine;
  const wanted = [...(input === null ? [] : [input]), ...segment.trained];
  // The engine ends the tape of an inner gradient as if it were the only one.
  const outerTape = state.activeTape;
  try {
    const { result } = recordDraws(
      () => engine.gradients(() => segment.run(input, segment.constants), wanted, dy, true),
      draws,
    );
    result.value.dispose();
    return (result.grads as (Tensor | undefined)[]).map((gradient, i) => {
      if (gradient !== undefined) return gradient;
      if (wanted[i] !== input) segment.onUnreached(wanted[i] as Variable);
      return tf.zerosLike(wanted[i]);
    });
  } finally {
    state.activeTape = outerTape;
  }
}

/** Calls `use` with earlier values of variables that have changed since, and puts the present ones back. */
function withValues<T>(variables: readonly Variable[], earlier: readonly Tensor[], use: () => T): T {
  const changed = variables.flatMap((variable, i) => (variable.dataId === earlier[i].dataId ? [] : [i]));
  if (changed.length === 0) return use();
  const present = holdTensors(new Map(changed.map((i) => [String(i), variables[i]])));
  for (const i of changed) variables[i].assign(earlier[i]);
  try {
    return use();
  } finally {
    for (const i of changed) variables[i].assign(present.get(String(i)) ?? variables[i]);
    releaseTensors(present);
  }
}
