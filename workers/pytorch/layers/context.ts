import {
  configOf,
  type Layer,
  type LayerConfig,
  UnsupportedLayerError,
  type Weight,
  weightsOf,
} from '../../exchange/model-calls.ts';
import type { LayerInput } from '../../exchange/walk-model.ts';
import type { PythonCode } from '../code/python-code.ts';

/** A layer's call, to be written as Python. */
export class PythonContext {
  readonly code: PythonCode;
  readonly layer: Layer;
  readonly inputs: readonly LayerInput[];
  readonly config: LayerConfig;
  /** The layer's attribute in the module. */
  readonly name: string;
  readonly #weights: ReadonlyMap<string, Weight>;

  constructor(code: PythonCode, layer: Layer, inputs: readonly LayerInput[], name: string) {
    this.code = code;
    this.layer = layer;
    this.inputs = inputs;
    this.name = name;
    this.config = configOf(layer);
    this.#weights = weightsOf(layer);
  }

  /** The first input's variable. */
  get x(): string {
    return this.inputs[0].name;
  }

  /** Number of axes of the first input, with the batch. */
  get rank(): number {
    return this.inputs[0].shape.length;
  }

  weight(name: string): Weight {
    const found = this.#weights.get(name);
    if (found === undefined) throw new Error(`Layer "${this.layer.name}" has no weight "${name}".`);
    return found;
  }

  weightIfAny(name: string): Weight | null {
    return this.#weights.get(name) ?? null;
  }

  /** The layer's bias as a weight of a module, if there is one. */
  bias(): { bias?: Weight } {
    const bias = this.weightIfAny('bias');
    return bias === null ? {} : { bias };
  }

  get hasBias(): string {
    return this.weightIfAny('bias') === null ? 'False' : 'True';
  }

  refuse(reason?: string): UnsupportedLayerError {
    return new UnsupportedLayerError(this.layer, 'PyTorch', reason);
  }
}

/** Writes a layer's call as Python. @returns the expressions, or variables, of its outputs */
export type ConvertToPython = (context: PythonContext) => string | string[];
