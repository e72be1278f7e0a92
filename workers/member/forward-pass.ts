import { tf, type Tensor } from '../tensorflow/tf.ts';

type Tape = ReturnType<typeof tf.engine>['state']['activeTape'];

/**
 * A forward pass whose backward pass comes later: between the two, members exchange the values that the output's
 * gradient depends on. Other passes may come in between. Call either `backward` or `discard` to end it.
 *
 * `tf.variableGrads` computes both passes at once. This class takes the tape of the forward pass out of the engine, and
 * replays it before the backward pass. Saved tensors, also copies of weights, live until then.
 */
export class ForwardPass {
  /** Disposed of with the pass. */
  readonly output: Tensor;
  private readonly tape: Tape;
  private readonly variables: readonly Tensor[];

  /**
   * @param variables what gets gradients: weights, or a tensor that the pass starts from and that may be disposed of
   * before its end
   * @param forward returns the output; its other tensors are disposed of
   */
  constructor(variables: readonly Tensor[], forward: () => Tensor) {
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
   * @returns one gradient for each variable, null where the output does not depend on it; the caller disposes of them
   */
  backward(outputGradient: Tensor): (Tensor | null)[] {
    const engine = tf.engine();
    const replay = (): Tensor => {
      engine.state.activeTape.push(...this.tape);
      return tf.clone(this.output);
    };
    // This disposes of the tape's saved tensors. Its return type omits that gradients may be absent.
    const { value, grads } = engine.gradients(replay, [...this.variables], outputGradient, true);
    tf.dispose([value, this.output]);
    return (grads as (Tensor | undefined)[]).map((gradient) => gradient ?? null);
  }

  /**
   * Bytes that the pass holds until its end, beside those of the given tensors. Tensors that share their data count
   * once.
   */
  keptBytes(except: readonly Tensor[]): number {
    const seen = new Set(except.map(({ dataId }) => dataId));
    let bytes = 0;
    for (const { dataId, size, dtype } of [this.output, ...this.tape.flatMap(({ saved }) => saved ?? [])]) {
      if (!seen.has(dataId)) bytes += size * tf.util.bytesPerElement(dtype);
      seen.add(dataId);
    }
    return bytes;
  }

  /** Ends a pass that has no backward pass. */
  discard(): void {
    for (const { saved } of this.tape) tf.dispose(saved);
    this.output.dispose();
  }
}
