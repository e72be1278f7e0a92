import type { TensorInfo } from '@tensorflow/tfjs-core';
import type { WasmRuntime } from '../kernel.ts';
import type { PreparedProduct } from '../gemm.ts';

/** Sizes of a call: B, T, U and G · U. */
interface Sizes {
  readonly batch: number;
  readonly length: number;
  readonly units: number;
  readonly width: number;
}

/** Addresses of a call's arrays; 0 for those that it does not have. */
interface Addresses {
  readonly recurrent: number;
  readonly isBackwards: boolean;
  readonly initial: number;
  readonly hidden: number;
  readonly dropped: number;
  readonly gates: number;
  readonly resets: number;
  readonly dGates: number;
  readonly dReset: number;
}

/** Columns `from` to `from + count` of the arrays of gates and of the state's weights. */
interface Columns {
  readonly from: number;
  readonly count: number;
}

/** The matrix products of a recurrent layer with the weights of its state, `[U, G·U]`. */
export class Products {
  readonly #runtime: WasmRuntime;
  readonly #sizes: Sizes;
  readonly #addresses: Addresses;
  /** By {@link #prepared}'s arguments. */
  readonly #ofSteps = new Map<string, PreparedProduct>();

  constructor(runtime: WasmRuntime, sizes: Sizes, addresses: Addresses) {
    this.#runtime = runtime;
    this.#sizes = sizes;
    this.#addresses = addresses;
  }

  free(): void {
    for (const product of this.#ofSteps.values()) product.free();
    this.#ofSteps.clear();
  }

  /** Adds h' U to the sums of a step's gates. */
  addState(step: number, columns: Columns): void {
    const { address, row } = this.#stateBefore(step);
    this.#addTo(step, address, row, columns);
  }

  /** Adds (r · h') U to the sums of a step's gates. */
  addReset(step: number, columns: Columns): void {
    const { length, units } = this.#sizes;
    this.#addTo(step, this.#addresses.resets + 4 * this.#timeOf(step) * units, length * units, columns);
  }

  /** Adds the sums' gradients of a step, times Uᵀ, to a state's gradient `[B, U]`. */
  pullState(step: number, columns: Columns, carry: TensorInfo): void {
    this.#pull(step, columns, 1, this.#runtime.memory.address(carry));
  }

  /** The gradient of a step's r · h', from those of the sums. */
  pullReset(step: number, columns: Columns): void {
    this.#pull(step, columns, 0, this.#addresses.dReset);
  }

  /** The gradient of the state's weights: Σ over batch and time of h'ᵀ and the sums' gradients. */
  weightGradient(target: TensorInfo, columns: Columns): void {
    if (this.#addresses.dropped !== 0) return this.#sumOuter(this.#addresses.dropped, target, columns);
    const { memory } = this.#runtime;
    const states = this.#allStatesBefore();
    this.#sumOuter(memory.address(states), target, columns);
    memory.dispose(states);
  }

  /** The same with r · h' in place of h'. */
  resetWeightGradient(target: TensorInfo, columns: Columns): void {
    this.#sumOuter(this.#addresses.resets, target, columns);
  }

  #addTo(step: number, state: number, row: number, columns: Columns): void {
    const { length, width } = this.#sizes;
    const sums = this.#addresses.gates + 4 * (this.#timeOf(step) * width + columns.from);
    this.#prepared(columns, false).multiply(state, row, 1, sums, length * width);
  }

  #pull(step: number, columns: Columns, beta: 0 | 1, target: number): void {
    const { length, units, width } = this.#sizes;
    const sums = this.#addresses.dGates + 4 * (this.#timeOf(step) * width + columns.from);
    this.#prepared(columns, true).multiply(sums, length * width, beta, target, units);
  }

  /** The product of a step with columns of the state's weights, which are prepared once for all steps. */
  #prepared({ from, count }: Columns, transposed: boolean): PreparedProduct {
    const key = `${from} ${transposed}`;
    const known = this.#ofSteps.get(key);
    if (known !== undefined) return known;
    const { batch, units, width } = this.#sizes;
    const [n, k] = transposed ? [units, count] : [count, units];
    const product = this.#runtime.prepare(transposed, batch, n, k, this.#addresses.recurrent + 4 * from, width);
    this.#ofSteps.set(key, product);
    return product;
  }

  #sumOuter(states: number, target: TensorInfo, { from, count }: Columns): void {
    const { batch, length, units, width } = this.#sizes;
    const to = this.#runtime.memory.address(target) + 4 * from;
    const sums = this.#addresses.dGates + 4 * from;
    this.#runtime.gemm(true, false, units, count, batch * length, states, units, sums, width, 0, to, width);
  }

  /** The states before all steps as one matrix, `[B, T, U]` in order of time. */
  #allStatesBefore(): TensorInfo {
    const { memory, kernels } = this.#runtime;
    const { batch, length, units } = this.#sizes;
    const states = memory.output([batch, length, units]);
    const to = memory.address(states);
    for (let step = 0; step < length; step++) {
      const { address, row } = this.#stateBefore(step);
      kernels.copyRows(address, row, to + 4 * this.#timeOf(step) * units, length * units, batch, units);
    }
    return states;
  }

  /** Address and distance between rows, in values. */
  #stateBefore(step: number): { address: number; row: number } {
    const { length, units } = this.#sizes;
    const { dropped } = this.#addresses;
    if (dropped !== 0) return { address: dropped + 4 * this.#timeOf(step) * units, row: length * units };
    if (step === 0) return { address: this.#addresses.initial, row: units };
    return { address: this.#addresses.hidden + 4 * (step - 1) * units, row: length * units };
  }

  #timeOf(step: number): number {
    return this.#addresses.isBackwards ? this.#sizes.length - 1 - step : step;
  }
}
