import { tf, type Tensor, type Variable } from '../tensorflow/tf.ts';

type Tape = ReturnType<typeof tf.engine>['state']['activeTape'];

/**
 * A forward pass whose backward pass comes later, with a gradient that was not known yet: between the two, members exchange what the
 * gradient depends on. Other passes may come in between. Either `backward` or `discard` ends it.
 *
 * `tf.variableGrads` computes both passes in one go. Here the tape of the forward pass is taken out of the engine, and put before
 * the backward pass as if its operations had just been recorded; what they saved (also weights, as they were) lives until then.
 */
export class ForwardPass {
  /** The caller's to read; disposed of with the pass. */
  readonly output: Tensor;
  private readonly tape: Tape;
  private readonly variables: Variable[];

  /** Runs `forward`, which gives the output and whose other tensors are disposed of. */
  constructor(variables: Variable[], forward: () => Tensor) {
    const { state } = tf.engine();
    if (state.gradientDepth > 0) throw new Error('A forward pass cannot begin while another gradient is computed.');
    this.variables = variables;
    // What the engine's private startTape and endTape do.
    this.tape = state.activeTape = [];
    state.gradientDepth += 1;
    try {
      this.output = tf.keep(tf.tidy(forward));
    } finally {
      state.gradientDepth -= 1;
    }
  }

  /**
   * @param outputGradient ∂loss/∂output, of the output's shape
   * @returns the caller's to dispose of: one for each variable, null where the output does not depend on it
   */
  backward(outputGradient: Tensor): (Tensor | null)[] {
    const engine = tf.engine();
    const replay = (): Tensor => {
      engine.state.activeTape.push(...this.tape);
      return tf.clone(this.output);
    };
    // This disposes of what the tape saved. Its type knows no gradients that are absent.
    const { value, grads } = engine.gradients(replay, this.variables, outputGradient, true);
    tf.dispose([value, this.output]);
    return (grads as (Tensor | undefined)[]).map((gradient) => gradient ?? null);
  }

  /** Ends a pass that has no backward pass. */
  discard(): void {
    for (const { saved } of this.tape) tf.dispose(saved);
    this.output.dispose();
  }
}
