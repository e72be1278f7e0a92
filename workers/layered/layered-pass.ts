import type { Batch } from '../data/dataset.ts';
import type { Gradient, Member, StepPosition } from '../member/member.ts';
import { penaltiesIn, type Penalty } from '../member/penalties.ts';
import { type SymbolicTensor, type Tensor, tf, type Variable } from '../tensorflow/tf.ts';
import { SegmentedTape } from './segmented-tape.ts';
import { callsOf, type LayerCall } from '../exchange/model-calls.ts';

interface Passed {
  training: true;
  /** The last mask that a layer was called with: TensorFlow.js passes it on to layers without one. */
  mask?: Tensor;
}

/**
 * Forward and backward pass of one batch, one layer's call at a time: `forward(0)` to `forward(C − 1)`, `loss`,
 * `backward(C − 1)` to `backward(0)`. A call needs the values of its own weights only, so others may be elsewhere
 * meanwhile.
 */
export class LayeredPass {
  readonly #plan: LayerPlan;
  readonly #member: Member;
  readonly #batch: Batch;
  readonly #position: StepPosition;
  readonly #tape: SegmentedTape;
  readonly #values = new Map<string, Tensor>();
  readonly #masks = new Map<string, Tensor>();
  readonly #penalties = new Map<Penalty, Tensor>();
  /** Calls that still need a value, by its name. */
  readonly #uses = new Map<string, number>();
  readonly #passed: Passed = { training: true };

  constructor(plan: LayerPlan, member: Member, batch: Batch, position: StepPosition) {
    this.#plan = plan;
    this.#member = member;
    this.#batch = batch;
    this.#position = position;
    this.#tape = new SegmentedTape(member.variables);
    const { model } = member;
    const needed = [...plan.calls.flatMap(({ inputs }) => inputs), ...model.outputs];
    for (const { name } of needed) this.#uses.set(name, (this.#uses.get(name) ?? 0) + 1);
    const inputs = tf.tidy(() => [member.open(batch).inputs].flat());
    for (const [i, { name }] of model.inputs.entries()) this.#values.set(name, inputs[i]);
  }

  forward(index: number): void {
    const call = this.#plan.calls[index];
    const inputs = call.inputs.map((input) => this.#valueOf(input));
    const masks = call.inputs.map(({ name }) => this.#masks.get(name) ?? null);
    if (masks.some((mask) => mask !== null)) this.#passed.mask = masks[0] ?? undefined;
    const [mask, ...computed] = this.#tape.record(() => {
      const outputs = [call.layer.apply(inputs, this.#passed)].flat() as Tensor[];
      return [maskAfter(call, inputs, masks), ...outputs, ...call.penalties.map((penalty) => penalty())];
    });
    call.outputs.forEach(({ name }, i) => {
      this.#values.set(name, computed[i]);
      if (mask !== null) this.#masks.set(name, mask);
    });
    call.penalties.forEach((penalty, i) => this.#penalties.set(penalty, computed[call.outputs.length + i]));
    for (const name of new Set([...call.inputs, ...call.outputs].map((value) => value.name)))
      this.#freeUnused(name, call.inputs);
  }

  /** The loss with all penalties, after the last call. Begins the backward pass. */
  async loss(): Promise<number> {
    const outputs = this.#member.model.outputs.map((output) => this.#valueOf(output));
    const penalties = this.#member.penalties.map((penalty) => this.#penalties.get(penalty) ?? unknownPenalty());
    const [loss] = this.#tape.record(() => {
      const own = this.#member.open(this.#batch).lossOf(outputs, this.#position);
      return [penalties.reduce((sum, penalty) => tf.add(sum, penalty), own)];
    });
    tf.dispose([...penalties, ...this.#values.values(), ...new Set(this.#masks.values())]);
    this.#values.clear();
    this.#masks.clear();
    const [value] = await loss.data();
    this.#tape.beginBackward(loss);
    loss.dispose();
    this.#tape.backward(this.#plan.calls.length);
    return value;
  }

  backward(index: number): void {
    this.#tape.backward(index);
  }

  /**
   * A variable's gradient after the backward pass of its first call; null where the loss does not depend on it. The
   * caller disposes of it.
   */
  take(variable: number): Gradient {
    return this.#tape.take(this.#member.variables[variable]);
  }

  /** Frees everything, also where the pass ends early. */
  discard(): void {
    this.#tape.discard();
    tf.dispose([...this.#values.values(), ...new Set(this.#masks.values())]);
  }

  #valueOf({ name }: SymbolicTensor): Tensor {
    const value = this.#values.get(name);
    if (value === undefined) throw new Error(`The model's value ${name} is used before it is computed.`);
    return value;
  }

  /** Disposes of a value that no later call needs: the tape has saved what the backward pass needs. */
  #freeUnused(name: string, inputs: readonly SymbolicTensor[]): void {
    const left = (this.#uses.get(name) ?? 0) - inputs.filter((input) => input.name === name).length;
    this.#uses.set(name, left);
    if (left > 0) return;
    this.#values.get(name)?.dispose();
    this.#values.delete(name);
  }
}

function maskAfter({ layer }: PlannedCall, inputs: Tensor[], masks: (Tensor | null)[]): Tensor | null {
  if (!layer.supportsMasking) return null;
  const mask = layer.computeMask(inputs, masks as Tensor[]) as Tensor | (Tensor | null)[] | null;
  const first = Array.isArray(mask) ? mask[0] : mask;
  // A mask that a layer passes on belongs to the one before.
  return first !== null && masks.includes(first) ? tf.clone(first) : first;
}

function unknownPenalty(): never {
  throw new Error('A penalty belongs to no layer of the model.');
}

/**
 * A layer's call with the trained weights, by their index among the member's variables, and the penalties that it
 * needs.
 */
interface PlannedCall extends LayerCall {
  weights: readonly number[];
  /** Penalties of the layer's weights, at its first call. */
  penalties: readonly Penalty[];
}

/** The calls of a model's forward pass in order: the segments of a layered pass. Nested models count as one layer. */
export class LayerPlan {
  readonly calls: readonly PlannedCall[];
  /** For each variable, the first call that uses it, whose backward pass completes its gradient. */
  readonly firstUse: readonly number[];

  /** @throws Error for a weight that no layer owns, such as one of the model itself */
  constructor({ model, variables, penalties }: Member) {
    const open = new Set(penalties);
    this.calls = callsOf(model).map((call) => {
      const weights = call.layer.trainableWeights.map((weight) => variables.indexOf(weight.read() as Variable));
      const own = penaltiesIn(call.layer).filter((penalty) => open.delete(penalty));
      return { ...call, weights: weights.filter((index) => index >= 0), penalties: own };
    });
    if (open.size > 0) throw new Error(cannotBeLayered('a term of its loss belongs to no layer'));
    this.firstUse = variables.map((variable, i) => {
      const first = this.calls.findIndex(({ weights }) => weights.includes(i));
      if (first < 0) throw new Error(cannotBeLayered(`no layer that it calls owns the weight ${variable.name}`));
      return first;
    });
  }
}

function cannotBeLayered(reason: string): string {
  return (
    `This model cannot be computed layer by layer: ${reason}. Use the strategy data-parallel, or sharded with ` +
    '--strategy.stage 1.'
  );
}
