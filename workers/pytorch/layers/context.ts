import { LayerCall } from '../../exchange/layer-call.ts';
import { type Layer, UnsupportedLayerError, type Weight } from '../../exchange/model-calls.ts';
import type { LayerInput } from '../../exchange/walk-model.ts';
import type { PythonCode } from '../code/python-code.ts';

/** A layer's call, to be written as Python. The inputs' names are variables. */
export class PythonContext extends LayerCall {
  readonly code: PythonCode;
  /** The layer's attribute in the module. */
  readonly name: string;

  constructor(code: PythonCode, layer: Layer, inputs: readonly LayerInput[], name: string) {
    super(layer, inputs);
    this.code = code;
    this.name = name;
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
