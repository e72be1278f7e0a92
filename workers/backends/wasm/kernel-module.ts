import { readFile } from 'node:fs/promises';
import type { RunConfig } from '../../../core/protocol/run/config.ts';
import { ownFile } from '../../system/own-copies.ts';
import { withSharedMemory } from './threads/shared-memory.ts';

/**
 * Exports of `workers/kernels/assembly/products/gemm.ts`. Addresses and counts are 32-bit integers; flags are 0 or 1.
 */
export interface GemmModule {
  gemm(
    transposeA: number,
    transposeB: number,
    m: number,
    n: number,
    k: number,
    a: number,
    lda: number,
    b: number,
    ldb: number,
    c: number,
    ldc: number,
    accumulate: number,
    scratch: number,
  ): void;
  gemmScratchBytes(): number;
  packedBytes(n: number, k: number): number;
  packMatrix(transposeB: number, n: number, k: number, b: number, ldb: number, target: number): void;
  multiplyPacked(
    m: number,
    n: number,
    k: number,
    a: number,
    lda: number,
    packed: number,
    c: number,
    ldc: number,
    accumulate: number,
    scratch: number,
  ): void;
}

/** Exports of `workers/kernels/assembly/index.ts`. */
export interface KernelModule extends GemmModule, RecurrentModule {
  copyRows(source: number, sourceRow: number, target: number, targetRow: number, rows: number, columns: number): void;
  addBias(x: number, bias: number, rows: number, columns: number, activation: number): void;
  im2col(images: number, window: number, from: number, to: number, columns: number): void;
  col2im(columns: number, window: number, from: number, to: number, images: number): void;
  depthwise(x: number, filter: number, y: number, window: number, multiplier: number, positions: number): void;
  depthwiseInputGradient(
    dy: number,
    filter: number,
    dx: number,
    window: number,
    multiplier: number,
    positions: number,
  ): void;
  depthwiseFilterGradient(
    x: number,
    dy: number,
    dFilter: number,
    window: number,
    multiplier: number,
    positions: number,
    scratch: number,
  ): void;
  clip(x: number, size: number, lowest: number, highest: number, out: number): void;
  extreme(a: number, stepA: number, b: number, stepB: number, size: number, isMinimum: number, out: number): void;
  maxPool(x: number, y: number, window: number, positions: number): void;
  avgPool(x: number, y: number, window: number, positions: number): void;
  maxPoolGradient(
    x: number,
    y: number,
    dy: number,
    dx: number,
    window: number,
    positions: number,
    unclaimed: number,
  ): void;
  avgPoolGradient(dy: number, dx: number, window: number, positions: number): void;
  tanh(x: number, size: number, y: number): void;
  gelu(x: number, size: number, y: number, slope: number): void;
  swish(x: number, size: number, y: number, slope: number): void;
  gradientOfRelu(x: number, dy: number, size: number, dx: number): void;
  gradientOfSigmoid(y: number, dy: number, size: number, dx: number): void;
  gradientOfTanh(y: number, dy: number, size: number, dx: number): void;
  crossEntropy(logits: number, labels: number, rows: number, classes: number, loss: number): void;
  crossEntropyGradient(
    logits: number,
    labels: number,
    rows: number,
    classes: number,
    slope: number,
    gradient: number,
  ): void;
  gaussianNll(mean: number, variance: number, target: number, size: number, loss: number): void;
  gaussianNllGradient(
    mean: number,
    variance: number,
    target: number,
    size: number,
    slope: number,
    ofVariance: number,
    gradient: number,
  ): void;
  columnMoments(
    x: number,
    rows: number,
    columns: number,
    step: number,
    mean: number,
    variance: number,
    scratch: number,
  ): void;
  scaleColumns(x: number, rows: number, columns: number, factor: number, shift: number, y: number): void;
  columnSlopes(
    x: number,
    dy: number,
    rows: number,
    columns: number,
    step: number,
    center: number,
    sum: number,
    product: number,
    scratch: number,
  ): void;
  combineColumns(
    x: number,
    dy: number,
    rows: number,
    columns: number,
    a: number,
    b: number,
    c: number,
    dx: number,
  ): void;
  normalizeRows(
    x: number,
    rows: number,
    columns: number,
    gamma: number,
    beta: number,
    epsilon: number,
    mean: number,
    inverse: number,
    y: number,
  ): void;
  normalizeRowsGradient(
    x: number,
    dy: number,
    rows: number,
    columns: number,
    gamma: number,
    mean: number,
    inverse: number,
    dx: number,
    dGamma: number,
    dBeta: number,
    scratch: number,
  ): void;
  addTo(sum: number, other: number, size: number): void;
  divideBy(x: number, divisor: number, size: number): void;
  sumAxis(x: number, outer: number, reduced: number, inner: number, scale: number, out: number): void;
  maxAxis(x: number, outer: number, reduced: number, inner: number, out: number): void;
  swapAxes(x: number, batch: number, rows: number, columns: number, run: number, out: number): void;
  packBfloat16(values: number, size: number, key: number, words: number): void;
  unpackBfloat16(words: number, size: number, values: number): void;
  updateAdam(
    theta: number,
    gradient: number,
    mean: number,
    square: number,
    size: number,
    beta1: number,
    rest1: number,
    beta2: number,
    rest2: number,
    rate: number,
    epsilon: number,
    keep: number,
    penalty: number,
    newTheta: number,
    newMean: number,
    newSquare: number,
  ): void;
  updateSgd(
    theta: number,
    gradient: number,
    velocity: number,
    size: number,
    rate: number,
    momentum: number,
    penalty: number,
    nesterov: number,
    newTheta: number,
    newVelocity: number,
  ): void;
  updateRmsprop(
    gradient: number,
    theta: number,
    square: number,
    velocity: number,
    mean: number,
    size: number,
    rho: number,
    rest: number,
    rate: number,
    epsilon: number,
    momentum: number,
    penalty: number,
    newTheta: number,
    newSquare: number,
    newVelocity: number,
    newMean: number,
  ): void;
  updateLion(
    theta: number,
    gradient: number,
    mean: number,
    size: number,
    beta1: number,
    rest1: number,
    beta2: number,
    rest2: number,
    rate: number,
    keep: number,
    newTheta: number,
    newMean: number,
  ): void;
  directLamb(
    theta: number,
    gradient: number,
    mean: number,
    square: number,
    size: number,
    beta1: number,
    rest1: number,
    beta2: number,
    rest2: number,
    scale: number,
    epsilon: number,
    decay: number,
    direction: number,
    newMean: number,
    newSquare: number,
  ): void;
}

/**
 * How sums of products are rounded: `deterministic` in the same way on every processor, `relaxed` by the processor's
 * fused multiply-add, which takes about two thirds of the time.
 */
export type Determinism = RunConfig['determinism'];

/** A module of `workers/kernels`, and its instance in this thread. */
export interface LoadedModule<Exports> {
  readonly module: WebAssembly.Module;
  readonly exports: Exports;
}

export interface LoadedKernels extends LoadedModule<KernelModule> {
  /** The mode in use: `deterministic` if this processor or Node has no relaxed SIMD. */
  readonly determinism: Determinism;
}

/** Loads Tutti's kernels into a memory. In the memory of TensorFlow.js's own module, they need no copies of tensors. */
export async function loadKernels(memory: WebAssembly.Memory, wanted: Determinism): Promise<LoadedKernels> {
  const relaxed = wanted === 'relaxed' ? await readModule('relaxed', memory) : null;
  const determinism = relaxed !== null && WebAssembly.validate(relaxed) ? 'relaxed' : 'deterministic';
  const bytes = relaxed !== null && determinism === 'relaxed' ? relaxed : await readModule('deterministic', memory);
  const { instance, module } = await WebAssembly.instantiate(bytes, { env: { memory } });
  return { exports: instance.exports as unknown as KernelModule, module, determinism };
}

/** One of the modules in `workers/kernels`, for a memory. */
export async function readModule(
  name: Determinism | `${Determinism}-wide`,
  memory: WebAssembly.Memory,
): Promise<Uint8Array<ArrayBuffer>> {
  const bytes = await readFile(ownFile(`kernels/${name}.wasm`));
  return memory.buffer instanceof SharedArrayBuffer ? withSharedMemory(bytes) : bytes;
}

/** A kernel of `workers/kernels/assembly/recurrent/`, with the address of a `Sequence`. */
type StepKernel = (sequence: number, step: number) => void;

/** Exports of that folder. */
export interface RecurrentModule {
  /** Bytes that a `Sequence` takes. */
  sequenceBytes(): number;
  /** Completes a `Sequence` before the first step. */
  beginSequence(sequence: number): void;
  dropState: StepKernel;
  dropCarry: StepKernel;
  lstmStep: StepKernel;
  lstmStepGradient: StepKernel;
  gruGates: StepKernel;
  gruStep: StepKernel;
  gruStepGradient: StepKernel;
  gruGatesGradient: StepKernel;
  simpleStep: StepKernel;
  simpleStepGradient: StepKernel;
}
