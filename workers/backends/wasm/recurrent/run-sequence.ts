import type { NamedAttrMap, NamedTensorMap } from '@tensorflow/tfjs-core';
import { tf, type Tensor } from '../../../tensorflow/tf.ts';
import { kernelNames } from './kernels.ts';
import type { CellKind } from './sequence.ts';

/**
 * A recurrent layer's call: x `[B, T, I]`, weights `[I, G·U]`, `[U, G·U]` and `[G·U]`, mask `[B, T]`, initial states
 * `[B, U]`.
 */
export interface SequenceCall {
  readonly kind: CellKind;
  readonly x: Tensor;
  readonly kernel: Tensor;
  readonly recurrent: Tensor;
  readonly bias: Tensor | null;
  readonly mask: Tensor | null;
  /** The factors `[B, U]` of dropout on the state before each step. */
  readonly dropout: Tensor | null;
  /** h, and c of an LSTM; empty: zeros. */
  readonly initialState: readonly Tensor[];
  readonly activation: number;
  readonly gateActivation: number;
  readonly goBackwards: boolean;
  readonly returnSequences: boolean;
  readonly returnState: boolean;
}

/**
 * tfjs's engine runs an op with custom gradients by this private method, on which `tf.customGrad` is built. Unlike that
 * function, it asks only for the gradients that are needed.
 */
interface FunctionRunner {
  runKernelFunc(op: {
    inputs: NamedTensorMap;
    attrs: NamedAttrMap;
    forwardFunc: (backend: unknown, save: (tensors: Tensor[]) => void) => Tensor;
    backwardsFunc: (dy: Tensor, saved: Tensor[]) => Record<string, () => Tensor>;
  }): Tensor;
}

/** What the forward kernels return beside h, for the gradients. */
const keptNames: Readonly<Record<CellKind, readonly string[]>> = {
  gru: ['gates', 'resets'],
  lstm: ['gates', 'cells'],
  simpleRNN: ['gates'],
};

/**
 * Runs a layer over whole sequences with its gradients.
 * @returns output: h of all steps `[B, T, U]`, or of the last `[B, U]`; states: the last h, and c of an LSTM
 */
export function runSequence(call: SequenceCall): { output: Tensor; states: Tensor[] } {
  const { kind, returnSequences, returnState, x } = call;
  const [batch, length] = x.shape;
  const units = call.recurrent.shape[0];
  const hasCell = returnState && kind === 'lstm';
  const value = differentiable(call, hasCell);
  if (!returnState) return { output: value, states: [] };
  // With c, `value` has one more row than h has steps.
  const rowOf = (row: number): Tensor => tf.reshape(tf.slice(value, [0, row, 0], [batch, 1, units]), [batch, units]);
  const rows = returnSequences ? length : 1;
  if (!hasCell) return { output: value, states: [returnSequences ? rowOf(length - 1) : value] };
  const hidden = returnSequences ? tf.slice(value, [0, 0, 0], [batch, length, units]) : rowOf(0);
  return { output: hidden, states: [rowOf(rows - 1), rowOf(rows)] };
}

/** h of all steps or of the last one, followed by the last c if it `hasCell`, as one op of the tape. */
function differentiable(call: SequenceCall, hasCell: boolean): Tensor {
  const { kind, x, kernel, recurrent, bias, returnSequences } = call;
  const [initialH, initialC] = call.initialState;
  const inputs = present({ x, kernel, recurrent, bias, initialH, initialC });
  const { activation, gateActivation, goBackwards } = call;
  const attributes = { activation, gateActivation, goBackwards };
  const engine = tf.engine() as unknown as FunctionRunner;
  return engine.runKernelFunc({
    inputs,
    attrs: attributes,
    forwardFunc: (_backend, save) => {
      const mask = call.mask === null ? null : tf.cast(call.mask, 'float32');
      const all = present({ ...inputs, mask, dropout: call.dropout });
      const [hidden, ...kept] = runAll(kernelNames[kind].forward, all, attributes);
      save([hidden, ...kept, ...Object.values(all)]);
      const output = returnSequences ? hidden : lastOf(hidden);
      return hasCell ? withCell(output, lastOf(kept[1])) : output;
    },
    backwardsFunc: (dy: Tensor, saved: Tensor[]) => {
      const { mask, dropout } = call;
      const kept = ['hidden', ...keptNames[kind], ...(dropout === null ? [] : ['dropped'])];
      const names = [...kept, ...Object.keys(present({ ...inputs, mask, dropout }))];
      const tensors = Object.fromEntries(names.map((name, i) => [name, saved[i]]));
      return gradients(kind, { ...tensors, ...splitGradient(dy, returnSequences, hasCell) }, attributes);
    },
  });
}

/**
 * The gradients of all inputs. The one call runs back through the steps; what only some models need is computed when
 * requested.
 */
function gradients(kind: CellKind, inputs: NamedTensorMap, attributes: NamedAttrMap): Record<string, () => Tensor> {
  const { x, kernel } = inputs;
  const [inputSize, width] = kernel.shape;
  const outputs = runAll(kernelNames[kind].backward, inputs, attributes);
  const [dSums, dRecurrent, dInitialH, dInitialC] = outputs;
  const rows = tf.reshape(dSums, [-1, width]);
  return {
    x: () => tf.reshape(tf.matMul(rows, kernel, false, true), x.shape),
    kernel: () => tf.matMul(tf.reshape(x, [-1, inputSize]), rows, true, false),
    recurrent: () => dRecurrent,
    bias: () => tf.sum(rows, 0),
    initialH: () => dInitialH,
    initialC: () => dInitialC,
  };
}

function runAll(name: string, inputs: NamedTensorMap, attributes: NamedAttrMap): Tensor[] {
  return tf.engine().runKernel(name, inputs, attributes) as unknown as Tensor[];
}

/** The gradients of h and of the last c from that of {@link differentiable}'s value. */
function splitGradient(dy: Tensor, returnSequences: boolean, hasCell: boolean): NamedTensorMap {
  if (!hasCell) return { dy };
  const [batch, rows, units] = dy.shape;
  const dHidden = tf.slice(dy, [0, 0, 0], [batch, rows - 1, units]);
  const dCell = tf.reshape(tf.slice(dy, [0, rows - 1, 0], [batch, 1, units]), [batch, units]);
  return { dy: returnSequences ? dHidden : tf.reshape(dHidden, [batch, units]), dCell };
}

function lastOf(states: Tensor): Tensor {
  const [batch, length, units] = states.shape;
  return tf.reshape(tf.slice(states, [0, length - 1, 0], [batch, 1, units]), [batch, units]);
}

function withCell(output: Tensor, cell: Tensor): Tensor {
  const [batch, units] = cell.shape;
  const rows = output.rank === 3 ? output : tf.reshape(output, [batch, 1, units]);
  return tf.concat([rows, tf.reshape(cell, [batch, 1, units])], 1);
}

function present(tensors: Record<string, Tensor | null | undefined>): NamedTensorMap {
  const entries = Object.entries(tensors).filter((entry): entry is [string, Tensor] => Boolean(entry[1]));
  return Object.fromEntries(entries);
}
