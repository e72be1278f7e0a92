import { readFile } from 'node:fs/promises';
import { type BackendWasm, setThreadsCount, setWasmPaths } from '@tensorflow/tfjs-backend-wasm';
import { mayStartThreads } from '../system/own-threads.ts';
import { type Tensor, tf } from '../tensorflow/tf.ts';
import type { Backend, BackendOptions } from './contract.ts';
import { loadBlas } from './blas/system-blas.ts';
import { createBlasProducts, createProducts } from './wasm/gemm.ts';
import { activateInLayers, denseInLayers, isInNestedGradient, normalizeInLayers } from './wasm/fused-layers.ts';
import { registerGradients } from './wasm/gradients.ts';
import { loadKernels } from './wasm/kernel-module.ts';
import { TensorMemory } from './wasm/memory/tensor-memory.ts';
import { registerUpdateKernels } from './wasm/kernels/updates.ts';
import { chooseWideKernels, joinProducts } from './wasm/wide-gemm.ts';
import { KernelThreads } from './wasm/threads/kernel-threads.ts';
import { withSharedMemory } from './wasm/threads/shared-memory.ts';
import { correctVolumes } from './volumes.ts';
import type { KernelFunc, NamedAttrMap, NamedTensorInfoMap, TensorInfo } from '@tensorflow/tfjs-core';
import type { Kernel, WasmRuntime } from './wasm/kernel.ts';
import { elementwiseKernels } from './wasm/kernels/elementwise.ts';
import { batchNormalizationKernels } from './wasm/kernels/batch-normalization.ts';
import { borrowedKernels } from './wasm/memory/borrowed.ts';
import { convolutionKernels } from './wasm/kernels/convolution.ts';
import { depthwiseKernels } from './wasm/kernels/depthwise.ts';
import { gatherKernels } from './wasm/kernels/gather.ts';
import { crossEntropy, crossEntropyGradient, gaussianNll, gaussianNllGradient } from './wasm/kernels/losses.ts';
import { batchMatMul, fusedMatMul } from './wasm/mat-mul.ts';
import { layerNormalizationKernels } from './wasm/kernels/layer-normalization.ts';
import { poolKernels } from './wasm/kernels/pool.ts';
import { kernelNames, recurrentKernels } from './wasm/recurrent/kernels.ts';
import { max, mean, sum } from './wasm/kernels/reductions.ts';
import { slice } from './wasm/kernels/slice.ts';
import { transpose } from './wasm/kernels/transpose.ts';
import { runSequence, type SequenceCall } from './wasm/recurrent/run-sequence.ts';
import { activationCodes, type CellKind } from './wasm/recurrent/sequence.ts';

/**
 * tfjs's WebAssembly backend, with Tutti's kernels in its memory: the default, which needs only npm packages.
 * @throws Error if the processor has no WebAssembly SIMD, or the BLAS cannot be loaded
 */
export async function start({ threads: wanted = 1, ...options }: BackendOptions = {}): Promise<Backend> {
  // tfjs's own threads do not start in Node.
  setThreadsCount(1);
  const threads = mayStartThreads() ? wanted : 1;
  if (threads > 1) await shareMemory();
  if (!(await tf.setBackend('wasm'))) {
    throw new Error('The wasm backend did not start on this processor. Use --backend cpu, which is slow but plain.');
  }
  const memory = new TensorMemory(tf.backend() as BackendWasm);
  const { runtime, bits, library } = await loadRuntime(memory, threads, options);
  registerKernels(runtime);
  correctVolumes('wasm');
  registerGradients();
  denseInLayers();
  activateInLayers();
  normalizeInLayers();
  runSequencesInLayers();
  saveTensorsCheaply(memory);
  registerUpdateKernels(runtime);
  const cores = describeThreads(threads, wanted);
  const own = `wasm (${bits}-bit SIMD, ${runtime.determinism}, ${cores})`;
  return {
    kind: 'wasm',
    description: library === null ? own : `wasm + ${library}, ${cores}`,
    memoryBytes: () => memory.heapBytes,
  };
}

/** Loads what the kernels use: Tutti's modules, in wide instructions where they are faster, or the BLAS. */
async function loadRuntime(
  memory: TensorMemory,
  threads: number,
  { determinism: wanted = 'relaxed', blas = null }: BackendOptions,
): Promise<{ runtime: WasmRuntime; bits: 128 | 256; library: string | null }> {
  const narrow = await loadKernels(memory.wasmMemory, wanted);
  const { determinism } = narrow;
  const system = blas === null ? null : await loadBlas(blas);
  const wide = system === null ? await chooseWideKernels(narrow.exports, memory, determinism) : null;
  const team = threads > 1 ? new KernelThreads(threads, memory, wide === null ? [narrow] : [narrow, wide]) : null;
  const spread = <Exports extends object>(exports: Exports): Exports => team?.spread(exports) ?? exports;
  const kernels = spread(narrow.exports);
  const own = createProducts(kernels, memory);
  const joined = wide === null ? own : joinProducts(own, createProducts(spread(wide.exports), memory));
  const products = system === null ? joined : createBlasProducts(system, memory, own);
  return {
    runtime: { memory, kernels, recurrent: wide?.exports ?? kernels, determinism, ...products },
    bits: wide === null ? 128 : 256,
    library: system?.description ?? null,
  };
}

/** Lets tfjs load its module with a memory that threads can share. It takes the module from an address. */
async function shareMemory(): Promise<void> {
  const file = import.meta.resolve('@tensorflow/tfjs-backend-wasm/wasm-out/tfjs-backend-wasm-simd.wasm');
  const module = withSharedMemory(await readFile(new URL(file)));
  const address = `data:application/wasm;base64,${Buffer.from(module).toString('base64')}`;
  const names = ['tfjs-backend-wasm.wasm', 'tfjs-backend-wasm-simd.wasm', 'tfjs-backend-wasm-threaded-simd.wasm'];
  setWasmPaths(Object.fromEntries(names.map((name) => [name, address])), true);
}

function describeThreads(threads: number, wanted: number): string {
  if (threads > 1) return `${threads} threads`;
  return wanted === 1 ? 'one core' : 'one core, since the kernel cannot limit what threads of a project read';
}

/** Private members of tfjs-core's engine. It calls `clone` only for tensors that a gradient will need. */
interface EngineInternals {
  clone(tensor: Tensor): Tensor;
  makeTensorFromTensorInfo(info: object): Tensor;
  state: { gradientDepth: number };
}

/**
 * Makes the tape save a tensor by sharing its data. The engine would run and record an Identity op for each saved
 * tensor, which only gradients of gradients need: half of the ops of a small step. Nested gradients still use it.
 */
function saveTensorsCheaply(memory: TensorMemory): void {
  const engine = tf.engine() as unknown as EngineInternals;
  const recordedClone = engine.clone.bind(engine);
  engine.clone = (tensor) => {
    const isOwn = tf.getBackend() === 'wasm' && tensor.dtype !== 'string' && tensor.dtype !== 'complex64';
    if (!isOwn || engine.state.gradientDepth > 1 || !memory.holds(tensor)) return recordedClone(tensor);
    return engine.makeTensorFromTensorInfo(memory.share(tensor));
  };
}

/** act(x W + b) `[B, O]` for x `[B, I]`, W `[I, O]` and an optional b `[O]`. */
function dense(
  runtime: WasmRuntime,
  { x: a, kernel: b, ...rest }: NamedTensorInfoMap,
  attributes: NamedAttrMap,
): TensorInfo {
  return fusedMatMul(runtime, { a, b, ...rest }, attributes);
}

const kernels: Record<string, Kernel> = {
  BatchMatMul: batchMatMul,
  CrossEntropy: crossEntropy,
  CrossEntropyGradient: crossEntropyGradient,
  Dense: dense,
  GaussianNll: gaussianNll,
  GaussianNllGradient: gaussianNllGradient,
  Max: max,
  Mean: mean,
  Slice: slice,
  Sum: sum,
  Transpose: transpose,
  _FusedMatMul: fusedMatMul,
  ...batchNormalizationKernels,
  ...convolutionKernels,
  ...depthwiseKernels,
  ...elementwiseKernels,
  ...layerNormalizationKernels,
  ...poolKernels,
  ...gatherKernels,
  ...recurrentKernels,
  ...borrowedKernels,
};

/** Replaces kernels of tfjs's wasm backend with Tutti's, and adds missing ones. */
function registerKernels(runtime: WasmRuntime): void {
  for (const [name, kernel] of Object.entries(kernels)) {
    const stock = tf.getKernel(name, 'wasm');
    if (stock !== undefined) tf.unregisterKernel(name, 'wasm');
    const kernelFunc: KernelFunc = (call) => {
      const output = kernel(runtime, call.inputs, call.attrs ?? {});
      if (output !== null) return output;
      if (stock === undefined) throw new Error(`The wasm backend has no ${name} for these inputs; --backend cpu has.`);
      return stock.kernelFunc(call);
    };
    tf.registerKernel({ kernelName: name, backendName: 'wasm', kernelFunc });
  }
}

interface Weight {
  read(): Tensor;
}

/** Private members of tfjs-layers' recurrent layers. */
interface RecurrentLayer {
  cell: Cell;
  goBackwards: boolean;
  returnSequences: boolean;
  returnState: boolean;
  stateful: boolean;
  call: (this: RecurrentLayer, inputs: Tensor | Tensor[], options: CallOptions) => Tensor | Tensor[];
}

interface Cell {
  kernel: Weight;
  recurrentKernel: Weight;
  bias: Weight | null;
  activation: Activation | null;
  recurrentActivation?: Activation;
  dropout: number;
  recurrentDropout: number;
  /** A project's own function, of ones and the rate. */
  dropoutFunc?: object | null;
}

interface Activation {
  getClassName(): string;
}

interface CallOptions {
  mask?: Tensor | Tensor[] | null;
  training?: boolean | null;
  initialState?: Tensor[] | null;
}

/**
 * Makes recurrent layers compute with the kernels of `kernels.ts`, if the backend has them. tfjs composes each step of
 * about twenty ops, and as many for the gradients: an LSTM of 16 units took 107 ms for a batch whose arithmetic takes
 * one. tfjs still computes layers with state across batches, with a function of their own for dropout, and with
 * activations that have no kernel.
 */
function runSequencesInLayers(): void {
  for (const kind of ['simpleRNN', 'gru', 'lstm'] as const) {
    // An explicit name: automatic names count all layers that were ever created.
    const methods = Object.getPrototypeOf(tf.layers[kind]({ units: 1, name: `${kind}-sequences` })) as RecurrentLayer;
    const { call } = methods;
    methods.call = function runOrCall(this: RecurrentLayer, inputs, options) {
      const x = Array.isArray(inputs) ? inputs[0] : inputs;
      return tf.tidy(() => {
        const sequence = describeCall(this, kind, x, options);
        return sequence === null ? call.call(this, inputs, options) : outputsOf(this, runSequence(sequence));
      });
    };
  }
}

/** The call of the kernels, or null if they cannot compute it. */
function describeCall(layer: RecurrentLayer, kind: CellKind, x: Tensor, options: CallOptions): SequenceCall | null {
  const { cell } = layer;
  const mask = [options.mask ?? null].flat()[0] ?? null;
  const activation = codeOf(cell.activation);
  const gateActivation = kind === 'simpleRNN' ? activation : codeOf(cell.recurrentActivation ?? null);
  const hasKernel = tf.getKernel(kernelNames[kind].forward, tf.getBackend()) !== undefined && !isInNestedGradient();
  if (!hasKernel || layer.stateful || activation === undefined || gateActivation === undefined) return null;
  if (cell.dropoutFunc !== null && cell.dropoutFunc !== undefined) return null;
  if (x.dtype !== 'float32' || x.rank !== 3 || x.size === 0 || (mask !== null && mask.rank !== 2)) return null;
  const recurrent = cell.recurrentKernel.read();
  const [batch, , inputs] = x.shape;
  const ofInputs = dropoutFactors([batch, 1, inputs], cell.dropout, options);
  return {
    kind,
    x: ofInputs === null ? x : tf.mul(x, ofInputs),
    kernel: cell.kernel.read(),
    recurrent,
    dropout: dropoutFactors([batch, recurrent.shape[0]], cell.recurrentDropout, options),
    bias: cell.bias?.read() ?? null,
    mask,
    initialState: options.initialState ?? [],
    activation,
    gateActivation,
    goBackwards: layer.goBackwards,
    returnSequences: layer.returnSequences,
    returnState: layer.returnState,
  };
}

/** Factors that are the same in all steps: 0 with probability `rate`, else 1 / (1 − rate). Null without dropout. */
function dropoutFactors(shape: number[], rate: number, { training }: CallOptions): Tensor | null {
  return training === true && rate > 0 && rate < 1 ? tf.dropout(tf.ones(shape), rate) : null;
}

function codeOf(activation: Activation | null): number | undefined {
  return activationCodes.get(activation?.getClassName() ?? 'linear');
}

function outputsOf({ returnState }: RecurrentLayer, { output, states }: ReturnType<typeof runSequence>) {
  return returnState ? [output, ...states] : output;
}
