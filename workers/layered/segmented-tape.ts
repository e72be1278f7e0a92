import { tf, type Tensor, type Variable } from '../tensorflow/tf.ts';

type Tape = NonNullable<ReturnType<typeof tf.engine>['state']['activeTape']>;
type TapeNode = Tape[number];

/**
 * A forward pass in segments and its backward pass, segment by segment in reverse: between two of them other ops may
 * run, and ranks may exchange. It adds the gradients in the order in which `tf.variableGrads` does, and so gives the
 * same bits, but frees what the forward pass saved, and the gradients of intermediate values, as soon as a segment
 * needs them no more.
 */
export class SegmentedTape {
  readonly #variables: readonly Variable[];
  readonly #segments: Tape[] = [];
  /** Gradients that later segments' backward passes need, by the tensor's id. */
  readonly #gradients = new Map<number, Tensor>();
  readonly #taken = new Set<number>();

  constructor(variables: readonly Variable[]) {
    this.#variables = variables;
  }

  /** Runs the next segment of the forward pass. @returns its tensors, which the caller disposes of */
  record<T extends (Tensor | null)[]>(compute: () => T): T {
    const { state } = tf.engine();
    if (state.gradientDepth > 0) throw new Error('A segment cannot begin while another gradient is computed.');
    const tape: Tape = [];
    this.#segments.push(tape);
    // What the engine's private startTape and endTape do.
    state.activeTape = tape;
    state.gradientDepth += 1;
    try {
      return tf.tidy(compute as () => T & Tensor[]);
    } finally {
      state.gradientDepth -= 1;
    }
  }

  /** Ends the forward pass: keeps the ops that lead from the variables to the loss, and sets its gradient to 1. */
  beginBackward(loss: Tensor): void {
    const fromVariables = new Set(this.#variables.map(({ id }) => id));
    const nodes = this.#segments.flat();
    const reached = nodes.filter(({ inputs, outputs }) => {
      const depends = Object.values(inputs).some(({ id }) => fromVariables.has(id));
      if (depends) for (const { id } of outputs) fromVariables.add(id);
      return depends;
    });
    const toLoss = new Set([loss.id]);
    const kept = new Set<TapeNode>();
    for (const node of reached.toReversed()) {
      if (!node.outputs.some(({ id }) => toLoss.has(id))) continue;
      kept.add(node);
      for (const { id } of Object.values(node.inputs)) toLoss.add(id);
    }
    for (const [i, tape] of this.#segments.entries()) {
      for (const node of tape) if (!kept.has(node)) tf.dispose(node.saved ?? []);
      this.#segments[i] = tape
        .filter((node) => kept.has(node))
        .map((node) => ({
          ...node,
          inputs: Object.fromEntries(Object.entries(node.inputs).filter(([, { id }]) => fromVariables.has(id))),
        }));
    }
    if (kept.size > 0) this.#gradients.set(loss.id, tf.ones(loss.shape));
  }

  /** The backward pass of a segment, after those of all later ones. */
  backward(segment: number): void {
    for (const node of this.#segments[segment].toReversed()) {
      this.#backpropagate(node);
      tf.dispose(node.saved ?? []);
      for (const { id } of node.outputs) this.#dispose(id);
    }
    this.#segments[segment] = [];
  }

  /**
   * A variable's gradient once no op before uses it; null where the loss does not depend on it. The caller disposes of
   * it.
   */
  take(variable: Variable): Tensor | null {
    const gradient = this.#gradients.get(variable.id) ?? null;
    this.#gradients.delete(variable.id);
    this.#taken.add(variable.id);
    return gradient;
  }

  /** Frees what is left, also of a pass that ends early. */
  discard(): void {
    for (const tape of this.#segments.splice(0)) for (const { saved } of tape) tf.dispose(saved ?? []);
    tf.dispose([...this.#gradients.values()]);
    this.#gradients.clear();
  }

  #backpropagate(node: TapeNode): void {
    const names = Object.keys(node.inputs);
    const given = node.outputs.map(({ id }) => this.#gradients.get(id) ?? null);
    const own = new Set<Tensor | null>([...given, ...(node.saved ?? [])]);
    const computed = tf.tidy(() => {
      if (node.gradient === undefined) throw new Error(`Op ${node.kernelName} has no gradient.`);
      const ofInputs = node.gradient(given as Tensor[]);
      return names.map((name) => {
        const gradient = ofInputs[name]();
        // A gradient function may return what it was given, which is freed below.
        return own.has(gradient) ? tf.clone(gradient) : gradient;
      });
    });
    for (const [i, name] of names.entries()) this.#add(node.inputs[name], computed[i]);
  }

  #add({ id }: Tensor, gradient: Tensor): void {
    if (this.#taken.has(id)) {
      const { name } = this.#variables.find((variable) => variable.id === id) ?? { name: '' };
      throw new Error(
        `The weight ${name} is also used by a layer that does not own it, so its gradient was not complete when ` +
          "its layer's backward pass had ended. Use the strategy data-parallel, or sharded with --strategy.stage 1.",
      );
    }
    const earlier = this.#gradients.get(id);
    this.#gradients.set(id, earlier === undefined ? gradient : tf.add(earlier, gradient));
    if (earlier !== undefined) tf.dispose([earlier, gradient]);
  }

  #dispose(id: number): void {
    this.#gradients.get(id)?.dispose();
    this.#gradients.delete(id);
  }
}
