import type { NamedAttrMap, NamedTensorInfoMap, TensorInfo } from '@tensorflow/tfjs-core';
import { required, requireFloats, type WasmRuntime } from '../kernel.ts';
import { Products } from './products.ts';

/** The kinds of cells. */
export type CellKind = 'simpleRNN' | 'gru' | 'lstm';

/**
 * The activations that the kernels know, by tfjs's names, as in `workers/kernels/assembly/recurrent/activations.ts`.
 */
export const activationCodes: ReadonlyMap<string, number> = new Map([
  ['linear', 0],
  ['relu', 1],
  ['sigmoid', 2],
  ['tanh', 3],
  ['hardSigmoid', 4],
]);

/** The arrays that a call fills or reads beside the layer's inputs; see the assembly's `Sequence`. */
interface Arrays {
  gates: TensorInfo;
  hidden: TensorInfo;
  cells?: TensorInfo;
  resets?: TensorInfo;
  dropped?: TensorInfo;
  dGates?: TensorInfo;
  dOutput?: TensorInfo;
  carryH?: TensorInfo;
  carryC?: TensorInfo;
}

/** Kernels of one step, of a sequence at an address. */
type StepWork = (sequence: number, step: number, products: Products) => void;

/** A call of a recurrent layer: B sequences of T steps, of I values each, for U units with G gates. */
export class Sequence {
  readonly #runtime: WasmRuntime;
  readonly #inputs: NamedTensorInfoMap;
  readonly #attributes: NamedAttrMap;
  readonly batch: number;
  readonly length: number;
  readonly units: number;
  /** G · U */
  readonly width: number;
  /**
   * Address of the kernels' `Sequence`; after it lie a state of zeros and one for gradients of r · h'. Written by
   * {@link #runWith}.
   */
  #address = 0;

  constructor(runtime: WasmRuntime, inputs: NamedTensorInfoMap, attributes: NamedAttrMap) {
    const [x, kernel, recurrent] = ['x', 'kernel', 'recurrent'].map((name) => required(inputs, name));
    requireFloats('A recurrent layer', x, kernel, recurrent);
    this.#runtime = runtime;
    this.#inputs = inputs;
    this.#attributes = attributes;
    [this.batch, this.length] = x.shape;
    [this.units, this.width] = recurrent.shape;
  }

  /** A new array `[B, T, U]`. */
  states(): TensorInfo {
    return this.#runtime.memory.output([this.batch, this.length, this.units]);
  }

  /** A new array `[B, T, U]` for the states that dropout leaves, if the call has dropout. */
  droppedStates(): { dropped?: TensorInfo } {
    return this.#inputs.dropout === undefined ? {} : { dropped: this.states() };
  }

  /** A new array `[B, U]` of zeros. */
  zeros(): TensorInfo {
    const { memory } = this.#runtime;
    const tensor = memory.output([this.batch, this.units]);
    memory.floats(memory.address(tensor), this.batch * this.units).fill(0);
    return tensor;
  }

  /** x W + b of all steps, `[B, T, G·U]` in order of time: one product for the whole sequence. */
  sumsOfInputs(): TensorInfo {
    const { memory, kernels, gemm } = this.#runtime;
    const { width, batch, length } = this;
    const { bias } = this.#inputs;
    const sums = memory.output([batch, length, width]);
    const [to, rows, depth] = [memory.address(sums), batch * length, required(this.#inputs, 'kernel').shape[0]];
    const [x, kernel] = [this.#addressOf('x'), this.#addressOf('kernel')];
    gemm(false, false, rows, width, depth, x, depth, kernel, width, 0, to, width);
    if (bias !== undefined) kernels.addBias(to, memory.address(bias), rows, width, 0);
    return sums;
  }

  /** Runs the kernels of each step in their order, with their arrays in place. */
  runForward(arrays: Arrays, step: StepWork): void {
    this.#runWith(arrays, (address, products) => {
      for (let t = 0; t < this.length; t++) {
        this.#runtime.recurrent.dropState(address, t);
        step(address, t, products);
      }
    });
  }

  /** Runs the kernels of each step's gradients from the last to the first, then `finish`. */
  runBackward(arrays: Arrays, step: StepWork, finish: (products: Products) => void): void {
    this.#runWith(arrays, (address, products) => {
      for (let t = this.length - 1; t >= 0; t--) {
        step(address, t, products);
        this.#runtime.recurrent.dropCarry(address, t);
      }
      finish(products);
    });
  }

  #runWith(arrays: Arrays, work: (sequence: number, products: Products) => void): void {
    const { memory, recurrent } = this.#runtime;
    const stateBytes = 4 * this.batch * this.units;
    const sequenceBytes = recurrent.sequenceBytes();
    this.#address = memory.allocate(sequenceBytes + 2 * stateBytes);
    const zeros = this.#address + sequenceBytes;
    try {
      memory.floats(zeros, this.batch * this.units).fill(0);
      const places = this.#placesOf(arrays, zeros, zeros + stateBytes);
      memory.integers(this.#address, places.length).set(places);
      recurrent.beginSequence(this.#address);
      const products = this.#productsWith(arrays, zeros, zeros + stateBytes);
      try {
        work(this.#address, products);
      } finally {
        products.free();
      }
    } finally {
      memory.free(this.#address);
    }
  }

  /** The kernels' `Sequence`, in the order of its fields. */
  #placesOf(arrays: Arrays, zeros: number, dReset: number): number[] {
    const { activation, gateActivation, goBackwards } = this.#attributes;
    const addressOf = (tensor: TensorInfo | undefined): number =>
      tensor === undefined ? 0 : this.#runtime.memory.address(tensor);
    const { mask, initialH, initialC, dropout } = this.#inputs;
    return [
      this.batch,
      this.length,
      this.units,
      this.width,
      Number(activation),
      Number(gateActivation),
      Number(goBackwards),
      addressOf(mask),
      ...[initialH, initialC].map((state) => (state === undefined ? zeros : addressOf(state))),
      ...[arrays.gates, arrays.hidden, arrays.cells, arrays.resets, arrays.dGates, arrays.dOutput].map(addressOf),
      Number(arrays.dOutput?.shape.length === 3),
      ...[arrays.carryH, arrays.carryC].map(addressOf),
      dReset,
      ...[dropout, arrays.dropped].map(addressOf),
    ];
  }

  #productsWith(arrays: Arrays, zeros: number, dReset: number): Products {
    const { memory } = this.#runtime;
    const initial = this.#inputs.initialH === undefined ? zeros : this.#addressOf('initialH');
    const addressOf = (tensor: TensorInfo | undefined): number => (tensor === undefined ? 0 : memory.address(tensor));
    const { gates, hidden, dropped, resets, dGates } = arrays;
    return new Products(this.#runtime, this, {
      recurrent: this.#addressOf('recurrent'),
      isBackwards: this.#attributes.goBackwards === true,
      initial,
      dReset,
      hidden: addressOf(hidden),
      dropped: addressOf(dropped),
      gates: addressOf(gates),
      resets: addressOf(resets),
      dGates: addressOf(dGates),
    });
  }

  #addressOf(name: string): number {
    return this.#runtime.memory.address(required(this.#inputs, name));
  }
}
