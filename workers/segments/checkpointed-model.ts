import { balanceStages } from '../../core/pipeline/balance.ts';
import type { RunConfig } from '../../core/protocol/run/config.ts';
import { graphOf } from '../tensorflow/model-graph.ts';
import type { LayersModel, Tensor, Variable } from '../tensorflow/tf.ts';
import { joinUnits, layersOfUnit, trainedOf, type Unit, unitsOf, untrainedOf } from './model-units.ts';
import { recomputed, type Segment } from './recompute.ts';
import { runCalls, type Values } from './run-calls.ts';

export type Checkpointing = RunConfig['activationCheckpointing'];

/** Units of a chain, run one after the other, of which the tape keeps only the inputs of segments. */
export class CheckpointedUnits {
  /** Weights that the last backward pass did not reach: their gradients of zeros stand for none. */
  readonly unreached = new Set<Variable>();
  readonly #model: LayersModel;
  readonly #segments: readonly Unit[];
  readonly #keepsLast: boolean;

  /**
   * @param keepsLast whether the last segment keeps its activations, because its backward pass comes right after its forward pass
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

/** `layers`: each unit; `sqrt`: about √n segments of as many of the n units (Chen et al., 2016); `none`: one segment. */
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
