import type { NamedAttrMap, NamedTensorInfoMap, TensorInfo } from '@tensorflow/tfjs-core';
import { required, requireFloats, type WasmRuntime } from '../kernel.ts';

/** The kinds of cells, with the number of gates in their weights. */
export const gateCounts = { simpleRNN: 1, gru: 3, lstm: 4 } as const;

export type CellKind = keyof typeof gateCounts;

/** The activations that the kernels know, by tfjs's names, as in `workers/kernels/assembly/recurrent/activations.ts`. */
export const activationCodes: ReadonlyMap<string, number> = new Map([
  ['linear', 0],
  ['relu', 1],
  ['sigmoid', 2],
  ['tanh', 3],
  ['hardSigmoid', 4],
]);

/** A call of a recurrent layer: B sequences of T steps, of I values each, for U units with G gates. */
export interface Sequence {
  readonly batch: number;
  readonly length: number;
  readonly inputs: number;
  readonly units: number;
  /** G · U */
  readonly width: number;
  readonly activation: number;
  readonly gateActivation: number;
  /** Address of the weights of the state, `[U, G·U]`. */
  readonly recurrent: number;
  /** Address of the mask `[B, T]`, in order of time; 0: every step counts. */
  readonly mask: number;
  /** The place in time that is read in each step: backwards, the last one first. */
  readonly timeOf: (step: number) => number;
}

export function sequenceOf({ memory }: WasmRuntime, inputs: NamedTensorInfoMap, attributes: NamedAttrMap): Sequence {
  const [x, kernel, recurrent] = ['x', 'kernel', 'recurrent'].map((name) => required(inputs, name));
  requireFloats('A recurrent layer', x, kernel, recurrent);
  const [batch, length, inputSize] = x.shape;
  const [units, width] = recurrent.shape;
  const { mask } = inputs;
  return {
    batch,
    length,
    inputs: inputSize,
    units,
    width,
    activation: Number(attributes.activation),
    gateActivation: Number(attributes.gateActivation),
    recurrent: memory.address(recurrent),
    mask: mask === undefined ? 0 : memory.address(mask),
    timeOf: attributes.goBackwards === true ? (step) => length - 1 - step : (step) => step,
  };
}

/** Where a state lies: its address and the distance between the rows of two sequences, in values. */
export interface State {
  readonly address: number;
  readonly row: number;
}

/** The states `[B, T, U]` of all steps in `states`, as seen from a step: of the step before, or the initial ones. */
export function stateBefore({ length, units }: Sequence, states: number, initial: number, step: number): State {
  if (step === 0) return { address: initial, row: units };
  return { address: states + 4 * (step - 1) * units, row: length * units };
}

/** Runs `use` with the address of a state `[B, U]`: the given one, or zeros. */
export function withInitial<T>(
  { memory }: WasmRuntime,
  { batch, units }: Sequence,
  initial: TensorInfo | undefined,
  use: (address: number) => T,
): T {
  if (initial !== undefined) return use(memory.address(initial));
  const zeros = memory.allocate(4 * batch * units);
  memory.floats(zeros, batch * units).fill(0);
  try {
    return use(zeros);
  } finally {
    memory.free(zeros);
  }
}

/** x W + b of all steps, `[B, T, G·U]`: one product for the whole sequence. */
export function sumsOfInputs(runtime: WasmRuntime, sequence: Sequence, inputs: NamedTensorInfoMap): TensorInfo {
  const { memory, kernels, gemm } = runtime;
  const { batch, length, width, inputs: depth } = sequence;
  const sums = memory.output([batch, length, width]);
  const [to, rows] = [memory.address(sums), batch * length];
  const [x, kernel] = ['x', 'kernel'].map((name) => memory.address(required(inputs, name)));
  gemm(false, false, rows, width, depth, x, depth, kernel, width, 0, to, width);
  if (inputs.bias !== undefined) kernels.addBias(to, memory.address(inputs.bias), rows, width, 0);
  return sums;
}

/** A tensor of zeros. */
export function zeros({ memory }: WasmRuntime, shape: number[]): TensorInfo {
  const tensor = memory.output(shape);
  memory
    .floats(
      memory.address(tensor),
      shape.reduce((product, size) => product * size, 1),
    )
    .fill(0);
  return tensor;
}
