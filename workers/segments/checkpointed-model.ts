import { balanceStages } from '../../core/pipeline/schedule.ts';
import type { RunConfig } from '../../core/protocol/run/config.ts';
import { graphOf } from '../tensorflow/model-graph.ts';
import { type LayersModel, type Tensor, tf, type Variable } from '../tensorflow/tf.ts';
import { joinUnits, layersOfUnit, trainedOf, type Unit, unitsOf, untrainedOf } from './model-units.ts';
import { runCalls, type Values } from './run-calls.ts';
import { recordDraws } from '../random/index.ts';
import { holdTensors, releaseTensors } from '../tensorflow/tensor-values.ts';

export type Checkpointing = RunConfig['activationCheckpointing'];

/** Units of a chain, run one after the other, of which the tape keeps only the inputs of segments. */
export class CheckpointedUnits {
  /** Weights that the last backward pass did not reach: their gradients of zeros stand for none. */
  readonly unreached = new Set<Variable>();
  readonly #model: LayersModel;
  readonly #segments: readonly Unit[];
  readonly #keepsLast: boolean;

  /**
   * @param keepsLast whether the last segment keeps its activations, because its backward pass comes right after its
   * forward pass
   */
  constructor(model: LayersModel, units: readonly Unit[], mode: Checkpointing, keepsLast: boolean) {
    this.#model = model;
    this.#segments = segmentsOf(units, mode);
    this.#keepsLast = keepsLast;
  }

  /**
   * The values that leave the last unit, in training mode.
   * @param inputs the model's inputs by number
   * @param input the value that enters the first unit, if it is not the model's first
   */
  run(inputs: Values, input: Tensor | null): Tensor[] {
    let current = input;
    for (const [i, segment] of this.#segments.entries()) {
      const isKept = this.#keepsLast && i === this.#segments.length - 1;
      const outputs = isKept ? this.#outputsOf(segment, inputs, current) : [this.#recomputed(segment, inputs, current)];
      if (i === this.#segments.length - 1) return outputs;
      [current] = outputs;
    }
    throw new Error('A chain of layers has at least one segment.');
  }

  #outputsOf(segment: Unit, inputs: Values, input: Tensor | null): Tensor[] {
    const given = new Map(inputs);
    if (segment.input !== null && input !== null) given.set(segment.input, input);
    const values = runCalls(this.#model, segment.calls, given, true);
    return segment.outputs.map((output) => values.get(output) ?? missing(output));
  }

  #recomputed(unit: Unit, inputs: Values, input: Tensor | null): Tensor {
    const layers = layersOfUnit(this.#model, unit);
    const called = new Set(unit.calls.flatMap((call) => call.inputs));
    const numbers = [...inputs.keys()].filter((number) => called.has(number));
    const segment: Segment = {
      run: (own, constants) =>
        this.#outputsOf(unit, new Map(numbers.map((number, i) => [number, constants[i]])), own)[0],
      constants: numbers.map((number) => inputs.get(number) ?? missing(number)),
      trained: trainedOf(layers),
      untrained: untrainedOf(layers),
      onUnreached: (variable) => this.unreached.add(variable),
    };
    return recomputed(segment, input);
  }
}

/**
 * `layers`: each unit; `sqrt`: about √n segments of as many of the n units (Chen et al., 2016); `none`: one segment.
 */
function segmentsOf(units: readonly Unit[], mode: Checkpointing): Unit[] {
  if (mode === 'layers') return [...units];
  const count = mode === 'none' ? 1 : Math.round(Math.sqrt(units.length));
  const starts = balanceStages(units.length, count, (start, end) => end - start);
  return starts.map((start, i) => joinUnits(units.slice(start, starts[i + 1] ?? units.length)));
}

/** A whole model whose forward pass keeps only the inputs of segments. */
export class CheckpointedModel {
  readonly #inputs: readonly number[];
  readonly #units: CheckpointedUnits;

  constructor(model: LayersModel, mode: Checkpointing) {
    this.#inputs = graphOf(model).inputs;
    this.#units = new CheckpointedUnits(model, unitsOf(model), mode, true);
  }

  /** Weights that the last backward pass did not reach, and which forgets them. */
  takeUnreached(): ReadonlySet<Variable> {
    const { unreached } = this.#units;
    const taken = new Set(unreached);
    unreached.clear();
    return taken;
  }

  /** The model's outputs in training mode. */
  outputs(inputs: Tensor | Tensor[]): Tensor[] {
    const values = [inputs].flat();
    return this.#units.run(new Map(this.#inputs.map((number, i) => [number, values[i]])), null);
  }
}

function missing(value: number): never {
  throw new Error(`A segment does not compute its value ${value}.`);
}

/** A part of a forward pass whose activations are not kept. */
interface Segment {
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
 * A segment's output, of which the tape keeps only the input: the backward pass computes the segment again (Chen et
 * al., 2016, "Training deep nets with sublinear memory cost"). The second pass draws the same random numbers, and uses
 * the weights and running statistics of the first, also if they were updated in between. It does not update the
 * statistics again. Gradients thus have the bits of a pass that keeps its activations.
 *
 * @param input the value that enters the segment, which gets a gradient; null for the first one of a model
 */
function recomputed(segment: Segment, input: Tensor | null): Tensor {
  const { trained, untrained, constants } = segment;
  const differentiated = [...(input === null ? [] : [input]), ...trained];
  // Nothing needs a gradient if there are no weights and no input.
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
