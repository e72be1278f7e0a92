import { setImmediate } from 'node:timers/promises';
import type { Message } from '../../collectives/direct-messages.ts';
import type { ProcessGroup } from '../../collectives/process-group.ts';
import type { Batch } from '../../data/dataset.ts';
import { ForwardPass } from '../../member/forward-pass.ts';
import { addGradients, type Gradient, type Member, type StepPosition } from '../../member/member.ts';
import { CheckpointedUnits, type Checkpointing } from '../../segments/checkpointed-model.ts';
import { graphOf } from '../../tensorflow/model-graph.ts';
import { tf, type Tensor } from '../../tensorflow/tf.ts';
import type { WeightPlace } from '../../member/weights.ts';
import type { Unit } from '../../segments/model-units.ts';

/** A micro-batch between its forward and its backward pass. */
interface PassInFlight {
  pass: ForwardPass;
  /** Whether the backward pass owes the stage before a gradient. */
  hasInput: boolean;
  inputShape: readonly number[];
}

/**
 * One stage's forward and backward passes of micro-batches. It exchanges activations and their gradients with the
 * neighbouring stages.
 */
export class StagePasses {
  readonly #member: Member;
  readonly #group: ProcessGroup;
  readonly #units: CheckpointedUnits;
  readonly #inputs: readonly number[];
  readonly #previous: number | null;
  readonly #next: number | null;
  /** The passes in flight by micro-batch. */
  readonly #inFlight = new Map<number, PassInFlight>();
  #gradients: Gradient[] | null = null;
  /** Σ share · loss of the step so far; of the last stage. */
  #loss = 0;

  constructor(member: Member, group: ProcessGroup, { stage, ranks, units }: ModelStage, checkpointing: Checkpointing) {
    this.#member = member;
    this.#group = group;
    this.#previous = stage === 0 ? null : ranks[stage - 1];
    this.#next = ranks[stage + 1] ?? null;
    this.#units = new CheckpointedUnits(
      member.model,
      units,
      checkpointing,
      this.#next === null || checkpointing === 'none',
    );
    this.#inputs = graphOf(member.model).inputs;
  }

  get isLast(): boolean {
    return this.#next === null;
  }

  /**
   * Does the forward pass of a micro-batch, and sends its result to the next stage.
   * @param share of the step's samples, by which the micro-batch counts
   */
  async forward(part: number, batch: Batch, share: number, position: StepPosition): Promise<void> {
    const received = this.#previous === null ? null : await this.#group.receiveFrom(this.#previous);
    const input = received === null ? null : tensorOf(received);
    const variables = [...(input === null ? [] : [input]), ...this.#member.variables];
    const pass = new ForwardPass(variables, () => this.#compute(batch, input, share, position));
    input?.dispose();
    this.#inFlight.set(part, { pass, hasInput: input !== null, inputShape: received?.shape ?? [] });
    const values = (await pass.output.data()) as Float32Array;
    if (this.#next === null) this.#loss += values[0];
    else await this.#send(values, this.#next, pass.output.shape);
  }

  /** Does the backward pass of a micro-batch, and sends the gradient of its input to the stage before. */
  async backward(part: number): Promise<void> {
    const inFlight = this.#inFlight.get(part);
    if (inFlight === undefined) throw new Error(`Micro-batch ${part} has no forward pass before its backward pass.`);
    this.#inFlight.delete(part);
    const { pass, hasInput, inputShape } = inFlight;
    const outputGradient = this.#next === null ? tf.scalar(1) : tensorOf(await this.#group.receiveFrom(this.#next));
    if (!hasInput && this.#member.variables.length === 0) pass.discard();
    else {
      const all = pass.backward(outputGradient);
      const ofInput = hasInput ? all.shift() : undefined;
      this.#add(all);
      if (ofInput !== undefined && this.#previous !== null) {
        const values =
          ofInput === null ? new Float32Array(tf.util.sizeFromShape([...inputShape])) : await ofInput.data();
        ofInput?.dispose();
        await this.#send(values as Float32Array, this.#previous, inputShape);
      }
    }
    outputGradient.dispose();
  }

  /**
   * The step's loss without penalties (0 on all stages but the last) and gradients, and begins a new one. The caller
   * disposes of the gradients.
   */
  take(): { loss: number; gradients: Gradient[] } {
    const taken = { loss: this.#loss, gradients: this.#gradients ?? this.#member.variables.map(() => null) };
    this.#loss = 0;
    this.#gradients = null;
    return taken;
  }

  #compute(batch: Batch, input: Tensor | null, share: number, position: StepPosition): Tensor {
    const { inputs, lossOf } = this.#member.open(batch);
    const given = new Map([inputs].flat().map((value, i) => [this.#inputs[i], value]));
    const outputs = this.#units.run(given, input);
    if (this.#next === null) return tf.mul(lossOf(outputs, position), share);
    requireFloats(outputs[0]);
    return outputs[0];
  }

  #add(gradients: Gradient[]): void {
    const { unreached } = this.#units;
    const own = gradients.map((gradient, i) => {
      if (gradient === null || !unreached.has(this.#member.variables[i])) return gradient;
      gradient.dispose();
      return null;
    });
    unreached.clear();
    this.#gradients = this.#gradients === null ? own : addGradients(this.#gradients, own);
  }

  async #send(values: Float32Array, to: number, shape: readonly number[]): Promise<void> {
    this.#group.send(values, to, shape);
    // Lets the message leave before the next pass keeps this process busy.
    await setImmediate();
  }
}

/** The tensor of a message. */
export function tensorOf({ data, shape }: Message): Tensor {
  return tf.tensor(data, [...shape], 'float32');
}

/** @throws Error for a value whose gradient does not exist */
export function requireFloats({ dtype }: Tensor): void {
  if (dtype === 'float32') return;
  throw new Error(
    `The model is cut where a value of type ${dtype} passes, which has no gradient. Name layers elsewhere with ` +
      '--strategy.cuts.',
  );
}

/** A rank's part of a model whose layers are spread over S ranks. */
export interface ModelStage {
  /** Index of this rank's part, from 0. */
  stage: number;
  /** The ranks that hold the parts of this model, shape [S]. */
  ranks: readonly number[];
  /** Its units, a chain. */
  units: readonly Unit[];
  /** The summaries of all stages. */
  all: readonly StageSummary[];
}

/** What all ranks know of a stage. */
export interface StageSummary {
  /** Index of its first unit. */
  start: number;
  /** The first and the last layer that it calls. */
  layers: readonly [first: string, last: string];
  /** The weights that its rank holds, in the model's order. */
  weights: readonly WeightPlace[];
}
